/** Programs in other languages stand beside the code that starts or installs them: modules whose default export is their text. */
const ENDINGS = [".py", ".bash", ".zsh", ".fish"];

/** @param {string} path */
export const isTextFile = (path) => ENDINGS.some((ending) => path.endsWith(ending));

/** For bundlers: what a file of each ending is. */
export const TEXT_LOADERS = Object.fromEntries(
  ENDINGS.map((ending) => [ending, /** @type {const} */ ("text")]),
);

/** @param {string} text */
export const textModule = (text) => `export default ${JSON.stringify(text)};`;
