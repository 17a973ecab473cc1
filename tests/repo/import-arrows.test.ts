import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** What composes a config, and what runs with one. */
const engine = ["values", "overrides", "compose", "schema", "instantiate"];

/** The design's arrows: which other stages a stage may import. Files directly in src/ are the public face. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  system: [],
  text: [],
  values: [],
  "command-line": ["values", "schema"],
  overrides: ["values"],
  compose: ["values", "overrides"],
  schema: ["values"],
  instantiate: ["values"],
  job: [...engine],
  record: [...engine, "job"],
  launch: [...engine, "job", "record"],
  sweep: [...engine, "job", "record", "launch"],
  plugins: [...engine, "job", "record", "launch", "sweep"],
  cli: [...engine, "command-line", "job", "record", "launch", "sweep", "plugins"],
  programs: [...engine, "command-line", "job", "record", "launch", "sweep", "plugins", "cli"],
  report: ["values", "command-line", "schema"],
  profile: ["values", "command-line", "overrides", "schema", "report"],
};

/** A stage of many folders: each may use those before it. Files directly in it (`.`) come last unless their place is named. */
const inside: Readonly<Record<string, readonly string[]>> = {
  report: ["model", "selection", "view", "render", "compare", "sweep", "validation", "client"],
  job: ["process", "logging"],
  launch: [".", "local"],
  sweep: ["sweepers"],
  plugins: ["contract", "submitit", "slurm", "optuna"],
  cli: ["arguments", "completion", "tree-schema"],
  profile: ["model", "machine", "analysis", "tools", "run", "cli"],
};

/** What every stage may use: files, processes and terminals, and texts. They import nothing else of ours. */
const foundations = new Set(["system", "text"]);
/** The one look outside src/: types of the builder that ships beside the native sources. */
const outside = new Set(["profiler/machine/native.ts -> ../native/build.d.mts"]);
/** The engine may not know the profiler; the face of the package is part of the engine. */
const profiler = new Set(["profile", "report"]);

/** The folder of `parent` that a file is in; `.` for files directly in it. */
function folderIn(parent: string, file: string): string {
  const [first = "", ...rest] = relative(parent, file).split(sep);
  return rest.length === 0 ? "." : first;
}

const stageOf = (file: string): string => folderIn(source, file);

/** Every relative module specifier: static, type-only, re-exported and dynamic. */
function importsIn(text: string): string[] {
  const info = ts.preProcessFile(text, true, true);
  return info.importedFiles.map((entry) => entry.fileName).filter((name) => name.startsWith("."));
}

const importsOf = (file: string) => importsIn(readFileSync(file, "utf8"));

/** Whether the design lets a module in `file` import `target`. */
function isAllowed(file: string, target: string): boolean {
  const from = stageOf(file);
  const to = stageOf(target);
  if (to === "..") return outside.has(`${relative(source, file)} -> ${relative(source, target)}`);
  if (from === "bin") return true;
  if (from === to) return isAllowedInside(from, file, target);
  if (foundations.has(to)) return !foundations.has(from);
  if (from === ".") return !profiler.has(to);
  return (allowed[from] ?? []).includes(to);
}

function isAllowedInside(stage: string, file: string, target: string): boolean {
  const order = inside[stage];
  const [from, to] = [file, target].map((path) => folderIn(join(source, stage), path));
  if (order === undefined || from === to) return true;
  if (from === "." && !order.includes(".")) return true;
  return to !== undefined && order.slice(0, order.indexOf(from ?? "")).includes(to);
}

const inStage = (stage: string) => (file: string) => folderIn(join(source, stage), file);
const inSource = (...path: string[]) => join(source, ...path);

describe("import arrows", () => {
  const files = listFiles(source, ".ts");

  it("covers every stage of the design", () => {
    const stages = new Set(files.map(stageOf));
    for (const stage of Object.keys(allowed)) expect(stages).toContain(stage);
    for (const stage of stages) expect([".", "bin", ...Object.keys(allowed)]).toContain(stage);
  });

  it.each(Object.entries(inside))("covers every folder of %s", (stage, order) => {
    const folders = new Set(files.filter((file) => stageOf(file) === stage).map(inStage(stage)));
    expect([...folders].sort()).toEqual([...new Set([".", ...order])].sort());
  });

  it("point one way", () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .map((name) => resolve(dirname(file), name))
        .filter((target) => !isAllowed(file, target))
        .map((target) => `${relative(source, file)} imports ${relative(source, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ["engine/values/node.ts", "engine/overrides/parser.ts"],
    ["engine/compose/compose.ts", "app/cli/arguments/parse-argv.ts"],
    ["report/model/document.ts", "profiler/model/timeline.ts"],
    ["profiler/run/run.ts", "app/job/run-job.ts"],
    ["index.ts", "profiler/run/run.ts"],
    ["foundation/system/package-root.ts", "engine/values/node.ts"],
    ["foundation/text/csv.ts", "foundation/system/atomic-write.ts"],
    ["engine/values/node.ts", "../native/build.d.mts"],
    ["profiler/tools/ncu/run/verdict.ts", "profiler/run/collectors.ts"],
    ["profiler/run/run.ts", "profiler/cli/main.ts"],
  ])("refuses %s importing %s", (file, target) => {
    expect(isAllowed(inSource(file), inSource(target))).toBe(false);
  });

  it("reads static, type-only and dynamic imports", () => {
    const text = 'import type { A } from "./a.ts"; export * from "./b.ts"; await import("./c.ts");';
    expect(importsIn(text)).toEqual(["./a.ts", "./b.ts", "./c.ts"]);
  });
});
