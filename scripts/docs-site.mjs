// `npm run docs:site`: the documentation as pages in site/ (or `--out DIR`), and a config tree to try in the browser. `--logLevel` is
// TypeDoc's (Warn, Error, ...). Build first: npm run build:ts.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sitePage } from "../dist/playground/index.js";
import { scriptArguments } from "./script-arguments.mjs";
import { root, run, tool } from "./setup.mjs";

const { values } = scriptArguments(import.meta.url, {
  options: { out: { type: "string" }, logLevel: { type: "string" } },
});
run([
  ...tool("typedoc", "typedoc"),
  ...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]),
]);
const { out } = values;
const site = out === undefined ? join(root, "site") : resolve(out);
const page = sitePage({
  place: join(root, "docs", "examples", "train", "conf"),
  title: "A sample tree",
  directory: "conf",
  configName: "config",
  dialect: "1.3",
  program: { words: ["node", "train.mjs"], configName: "config", jobName: "train" },
});
writeFileSync(join(site, "playground.html"), page);
link(join(site, "documents", "docs_playground.html"), "the page with a sample tree");

/** TypeDoc knows no page but its own. */
function link(file, words) {
  const text = readFileSync(file, "utf8");
  if (!text.includes(words)) throw new Error(`'${words}' is not in ${file}`);
  writeFileSync(file, text.replace(words, `<a href="../playground.html">${words}</a>`));
}
