/** Python files beside the code are bundled as modules that export their text (scripts/python-source.mjs). */
declare module "*.py" {
  export const source: string;
}
