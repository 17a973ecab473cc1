// Python files beside our code are modules that export their text: `import { source } from "./program.py"`.
import { readFileSync } from "node:fs";

/** The JavaScript of such a module. */
export const moduleOfPython = (file) =>
  `export const source = ${JSON.stringify(readFileSync(file, "utf8"))};\n`;

/** For esbuild. */
export const pythonInEsbuild = {
  name: "python-source",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.py$/ }, ({ path }) => ({ contents: moduleOfPython(path), loader: "js" })),
};

/** For rolldown. */
export const pythonInRolldown = {
  name: "python-source",
  load: (id) => (id.endsWith(".py") ? { code: moduleOfPython(id), moduleType: "js" } : null),
};
