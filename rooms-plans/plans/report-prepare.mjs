// node report-prepare.mjs REPO: small edits before report.plan is applied. Commit them first.
// 1. Markdown of GPU activity and of the static analysis moves from conclusions/ to markdown/ (conclusions hold data, no markup).
// 2. report-options.ts goes: each table of option checks stands with the function that it checks, so that nothing imports back.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { posix, join } from "node:path";
const repo = process.argv[2];
const read = (f) => readFileSync(join(repo, f), "utf8");
const write = (f, t) => writeFileSync(join(repo, f), t);
const files = execFileSync("git", ["ls-files", "src", "tests", "bench", "scripts"], { cwd: repo, encoding: "utf8" })
  .split("\n").filter((f) => /\.(ts|mts)$/.test(f) && !f.startsWith("tests/fixtures/"));
const changed = new Set();
const spec = (from, to) => {
  const r = posix.relative(posix.dirname(from), to);
  return r.startsWith(".") ? r : `./${r}`;
};
/** Rewrites named imports and exports of one file. */
function redirect(target, homeOf) {
  for (const file of files) {
    if (file === target) continue;
    const text = read(file);
    const after = text.replace(/^(import|export)( type)? \{([^}]*)\} from "(\.[^"]+)";\n/gm, (all, kw, type, names, from) => {
      if (posix.join(posix.dirname(file), from) !== target) return all;
      const by = new Map();
      for (const one of names.split(",").map((n) => n.trim()).filter(Boolean)) {
        const name = one.replace(/^type /, "").split(" as ")[0].trim();
        const home = homeOf(name) ?? target;
        by.set(home, [...(by.get(home) ?? []), one]);
      }
      return [...by].filter(([home]) => home !== file).map(([home, list]) => `${kw}${type ?? ""} { ${list.join(", ")} } from "${spec(file, home)}";\n`).join("");
    });
    if (after !== text) { write(file, after); changed.add(file); }
  }
}
const swap = (text, from, to) => { if (!text.includes(from)) throw new Error(`not found: ${from}`); return text.replace(from, () => to); };
/** Edits one file: pairs of text and replacement. */
function edit(file, ...pairs) {
  let t = read(file);
  for (const [from, to] of pairs) t = swap(t, from, to);
  write(file, t);
  changed.add(file);
}
/** Adds import lines below the last import; biome sorts them. */
function imports(file, ...lines) {
  let t = read(file);
  const all = [...t.matchAll(/^(?:import|export)[^;]*? from "[^"]+";\n/gm)].filter((m) => m[0].startsWith("import"));
  const last = all.at(-1);
  const at = last === undefined ? 0 : last.index + last[0].length;
  write(file, t.slice(0, at) + lines.map((l) => `${l}\n`).join("") + t.slice(at));
  changed.add(file);
}
const R = "src/report/";

// 1a. GPU activity
{
  const from = `${R}conclusions/gpu-activity.ts`;
  const to = `${R}markdown/markdown-parts.ts`;
  let t = read(from);
  const start = t.indexOf("/** What ran when, region by region");
  if (start < 0) throw new Error("gpuActivityTable");
  const block = t.slice(start).replace("({ gpu_activity, wall_ms }: Region)", '({ gpu_activity, wall_ms }: NCUProfileRegion)');
  t = t.slice(0, start).trimEnd() + "\n";
  t = swap(t, 'import { BUSY_HEADING } from "../gpu-words.ts";\n', "");
  t = swap(t, 'import { escapeMarkdown, markdownIndent, markdownTablePieces } from "../markdown/markdown.ts";\n', "");
  t = swap(t, 'import { formatMs, formatShare, NOT_MEASURED } from "../numbers.ts";', 'import { formatShare } from "../numbers.ts";');
  t = swap(t, 'import { treeRows } from "../tree-rows.ts";\n', "");
  write(from, t);
  changed.add(from);
  edit(to, ["/** How regions varied over repeated runs", `${block.trimEnd()}\n\n/** How regions varied over repeated runs`]);
  redirect(from, (name) => (name === "gpuActivityTable" ? to : undefined));
}
// 1b. static analysis
{
  const from = `${R}conclusions/static-analysis.ts`;
  const to = `${R}markdown/run-markdown.ts`;
  let t = read(from);
  const start = t.indexOf("/** The section of `report.md`: the numbers in words");
  if (start < 0) throw new Error("staticAnalysisBlocks");
  const block = t.slice(start);
  t = t.slice(0, start).trimEnd() + "\n";
  t = swap(t, 'import { plural } from "../../text/plural.ts";\nimport { escapeMarkdown, markdownTable } from "../markdown/markdown.ts";\nimport { formatDuration } from "../numbers.ts";\n\n', "");
  write(from, t);
  changed.add(from);
  redirect(from, (name) => (name === "staticAnalysisBlocks" ? to : undefined));
  edit(to, ["const fileList =", `${block.replace("work: Work,", 'work: Pick<LayerWork, "flops" | "bytes">,').trimEnd()}\n\nconst fileList =`],
    ['import { firstFewOf } from "../../text/plural.ts";', 'import { firstFewOf, plural } from "../../text/plural.ts";']);
  imports(to,
    'import { type DevicePeaks, type LayerWork, passBoundMs, peakContradiction, rooflineBound, type StaticAnalysis } from "../conclusions/static-analysis.ts";',
    'import { formatDuration } from "../numbers.ts";');
}
// 2. option checks
{
  const from = `${R}report-options.ts`;
  const t = read(from);
  const block = (start) => {
    const at = t.indexOf(start);
    if (at < 0) throw new Error(start);
    const end = t.indexOf("\n};\n", at);
    return t.slice(at, end + 4).replace(/^export /, "");
  };
  const endOf = (start) => {
    const at = t.indexOf(start);
    if (at < 0) throw new Error(start);
    return t.slice(at, t.indexOf(";\n", at) + 2);
  };
  const kinds = (names, up) => `import { ${names} } from "${up}values/option-kinds.ts";`;
  redirect(from, (name) =>
    name === "checkRun" ? `${R}run-summary.ts`
    : name === "MARKDOWN_OPTIONS" ? `${R}markdown/region-markdown.ts`
    : name === "TABLE_OPTIONS" ? `${R}terminal/region-table.ts`
    : name === "WRITE_OPTIONS" ? `${R}write-reports.ts`
    : name === "COMMAND_IO" ? `${R}validation/validate-command.ts` : undefined);
  const checks = (file, up, also = "") => edit(file, [`import { checkOptions } from "${up}values/check-options.ts";`, `import { checkOptions, type OptionChecks } from "${up}values/check-options.ts";${also}`]);
  checks(`${R}markdown/region-markdown.ts`, "../../", `\n${kinds("count, optional, text", "../../")}`);
  edit(`${R}markdown/region-markdown.ts`, ["const EXAMPLE =", `${block("export const MARKDOWN_OPTIONS")}\nconst EXAMPLE =`]);
  checks(`${R}terminal/region-table.ts`, "../../", `\n${kinds("count, optional, trueOrFalse", "../../")}`);
  edit(`${R}terminal/region-table.ts`, ["/** Lines end with newlines, without trailing", `${block("export const TABLE_OPTIONS")}\n/** Lines end with newlines, without trailing`]);
  checks(`${R}validation/validate-command.ts`, "../../", `\n${kinds("fn, trueOrFalse", "../../")}`);
  edit(`${R}validation/validate-command.ts`, ["const EXIT_VALID = 0;", `${block("export const COMMAND_IO")}\nconst EXIT_VALID = 0;`]);
  checks(`${R}write-reports.ts`, "../", `\n${kinds("count, listOf, optional, shape, text, withMethods", "../")}`);
  edit(`${R}write-reports.ts`,
    ["/** What was written, and what was not. */", `const CONFIG_LINE = shape<ConfigLine>({ key: text, value: text, origin: text });\n\n${block("export const WRITE_OPTIONS").replace("texts('[", "listOf(\"strings\", text, '[")}\n/** What was written, and what was not. */`],
    ['import { type HtmlReportOptions, renderHtmlReport }', 'import { type ConfigLine, type HtmlReportOptions, renderHtmlReport }']);
  imports(`${R}run-summary.ts`, 'import { checkOptions, type OptionChecks } from "../values/check-options.ts";', kinds("anything, count, listOf, optional, shape, text, trueOrFalse, withMethods", "../"));
  const run = `${endOf("const RUN_SECTION")}\n${block("const RUN_SUMMARY").replaceAll("texts('[", "listOf(\"strings\", text, '[")}\n/**\n * @param by the function that was called\n * @throws ConfigError \`value.wrong_type\`\n */\n${endOf("export const checkRun")}\n`;
  edit(`${R}run-summary.ts`, ["/** The report that represents a bundle", `${run}/** The report that represents a bundle`]);
  rmSync(join(repo, from));
  changed.delete(from);
}
execFileSync("npx", ["biome", "check", "--write", ...changed], { cwd: repo, stdio: "inherit" });
console.log([...changed].join("\n"));
