/** Python files beside the code are modules whose default export is their text. */
declare module "*.py" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what bundlers make of a text
  export default text;
}
