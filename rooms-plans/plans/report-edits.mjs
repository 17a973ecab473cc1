// node report-edits.mjs REPO: small edits after report.plan is applied.
// 1. Second heads that repeat the first go; parts keep a one-line comment.  2. Docs and the test of arrows name the new folders.
// 3. `plural` is imported from text/, not passed on by view/numbers.ts.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
const repo = process.argv[2];
const changed = [];
function edit(file, ...pairs) {
  let t = readFileSync(join(repo, file), "utf8");
  for (const [from, to] of pairs) {
    if (from instanceof RegExp ? !from.test(t) : !t.includes(from)) { console.error(`${file}: not found: ${from}`); process.exitCode = 1; continue; }
    t = t.replace(from, typeof to === "string" ? () => to : to);
  }
  writeFileSync(join(repo, file), t);
  if (/\.(ts|mts)$/.test(file)) changed.push(file);
}
const R = "src/report/";
const drop = (text) => [`${text}\n\n`, ""];

edit(`${R}client/chart.ts`, drop("// Charts as wide as the space available, so that their text has the same size on every screen."));
edit(`${R}client/plot.ts`, drop("// Which ticks of an axis get a label."));
edit(`${R}client/state.ts`, drop("// A report of the page with its text looked up and its tree linked."), drop("// The reader's choices, with listeners for changes."));
edit(`${R}compare/change.ts`, drop("// One number in two reports: how much it changed, and whether that means anything."),
  drop("// A change as text, the same in every form of a comparison; shared with the page's script."));
edit(`${R}compare/gates.ts`, drop("// Gates for CI: checks the differences of two reports against the limits of `--fail-on`."));
edit(`${R}compare/kernel-changes.ts`, ["and what both reports know of the GPU beside times of\n * kernels.", "the largest difference first; and what both\n * reports know of the GPU beside times of kernels."],
  drop("// Kernels in two reports, matched by their names and kinds; the largest difference first."),
  ["// What two reports tell of the GPU beside times of kernels: how busy it was in a region, and counters of a kernel.", "// GPU activity of a region, and counters of a kernel, in two reports."]);
edit(`${R}render/markdown-tables.ts`, drop("// The parts that Markdown reports are put together from."));
edit(`${R}render/page-columns.ts`, drop("// Regions and kernels in the columns that the page's script reads."));
edit(`${R}render/terminal.ts`, drop("// Tables for a terminal: aligned columns without boxes, fitted to the terminal's width."),
  ["// The region tree for a terminal: aligned columns without boxes, never wider than the terminal.", "// The region tree: the table is never wider than the terminal."],
  ["// The longest kernels for a terminal: where no region was named, they are all there is to tell.", "// The longest kernels: without named regions they are the whole report."]);
edit(`${R}sweep/document.ts`, drop("// A sweep as one report: jobs side by side, regions by path. Times are milliseconds."),
  ["// Time against a numeric parameter, shared with the page's script: no Node here.", "// Time against a numeric parameter. The page's script uses it: no Node here."]);
edit(`${R}sweep/writers.ts`, drop("// A sweep's report as Markdown, JSON and CSV."));
edit(`${R}validation/json-text.ts`, drop("// The text of a JSON file, which may be longer than a string can be (512 MB)."));
edit(`${R}view/gpu-utilization.ts`, [/\/\/ What limits a region or a kernel: how close[\s\S]*?otherwise the larger share decides\.\n\n/, ""],
  ["// How busy GPUs were while ranges were open, as shown in reports.", "// GPU activity while a range was open."],
  drop("// How tables name GPU activity; a leaf module, since the page's script imports it, too."));
edit(`${R}view/numbers.ts`, ['\nexport { plural } from "../../text/plural.ts";\n', ""],
  ["// Numbers as the page writes them: those of the Markdown reports, and what charts need besides.", "// Numbers of the page only."]);
edit(`${R}view/notes.ts`, ["Notes whose words more than one place knows: written here, and recognised.", "Notes of reports that other code recognises or that several writers share."],
  ["// The note that a report's labels are not the program's own: written and parsed here.", "// Labels that were unified by rules."],
  ["// The note that a report's numbers are those of one of several runs: written and recognised here.", "// Numbers of the median run of several."]);
edit(`${R}view/page-data.ts`, [/\/\*\*\n \* What the scripts of the report page[^\n]*\n \*\/\n\n\/\/ What the page's script reads: a leaf module[\s\S]*?Times are milliseconds\.\n/,
  "/**\n * What the scripts of the report page and of the comparison page read: types only, shared with the browser. Numbers stand in\n * columns and text once in a table, since a report of 1,000 regions and 10,000 kernels must stay under 1 MB. Times are\n * milliseconds.\n */\n"]);

// `plural` from its own home.
for (const file of execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src", "tests"], { cwd: repo, encoding: "utf8" }).split("\n").filter((f) => f.endsWith(".ts"))) {
  let t;
  try { t = readFileSync(join(repo, file), "utf8"); } catch { continue; }
  const after = t.replace(/^import \{([^}]*)\} from "((?:\.\.?\/)[^"]*view\/numbers\.ts)";\n/gm, (all, names, from) => {
    const list = names.split(",").map((n) => n.trim()).filter(Boolean);
    if (!list.includes("plural")) return all;
    const text = `import { plural } from "${from.replace(/^((?:\.\.\/)*)(?:\.\/)?(?:src\/report\/)?view\/numbers\.ts$/, (_, up) => (file.startsWith("src/") ? `${up}../text/plural.ts` : `${up}src/text/plural.ts`))}";\n`;
    const rest = list.filter((n) => n !== "plural");
    return (rest.length === 0 ? "" : `import { ${rest.join(", ")} } from "${from}";\n`) + text;
  });
  if (after === t) continue;
  // Two imports of plural.ts in one file become one.
  const merged = after.replace(/import \{ capitalized \} from "\.\.\/\.\.\/text\/plural\.ts";\n([\s\S]*?)import \{ plural \} from "\.\.\/\.\.\/text\/plural\.ts";\n/, 'import { capitalized, plural } from "../../text/plural.ts";\n$1');
  writeFileSync(join(repo, file), merged);
  changed.push(file);
}

edit("docs/internals.md",
  ["`report/conclusions/` and `report/kernels/` say\nwhat its numbers mean; `terminal/`, `markdown/`, `html/`, `json/` and `csv.ts` write it.", "`report/view/` says\nwhat its numbers mean, as data; `report/render/` writes it for terminals, as Markdown, HTML, JSON and CSV."],
  ["(`report/html/` writes it,", "(`report/render/` writes it,"]);
edit("CONTRIBUTING.md", ["It is a function in its own file (copy `src/report/view/gpu-utilization.ts`), which the writers\ncall:", "It is data in a file of `src/report/view/` (copy `gpu-utilization.ts`), which the writers of `src/report/` show:"]);
// With the plans of all rooms, the longest match of other edits to this table may differ: add the line by hand then.
edit("tests/repo/import-arrows.test.ts", ["const inside: Readonly<Record<string, readonly string[]>> = {\n", `const inside: Readonly<Record<string, readonly string[]>> = {\n  report: ["model", "selection", "view", "render", "compare", "sweep", "validation", "client"],\n`]);
execFileSync("npx", ["biome", "check", "--write", ...new Set([...changed, "tests/repo/import-arrows.test.ts"])], { cwd: repo, stdio: "inherit" });
