/** Programs in other languages beside the code are modules whose default export is their text. */
declare module "*.py" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what bundlers make of a text
  export default text;
}
declare module "*.bash" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what bundlers make of a text
  export default text;
}
declare module "*.zsh" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what bundlers make of a text
  export default text;
}
declare module "*.fish" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: what bundlers make of a text
  export default text;
}
