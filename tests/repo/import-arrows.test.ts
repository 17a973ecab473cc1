import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** The design's arrows: which other stages a stage may import. Files directly in src/ are the public face. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  system: [],
  text: [],
  values: [],
  "command-line": ["values"],
  overrides: ["values"],
  compose: ["values", "overrides"],
  schema: ["values"],
  instantiate: ["values"],
  app: ["values", "command-line", "overrides", "compose", "schema", "instantiate"],
  report: ["values", "command-line", "schema"],
  profile: ["values", "command-line", "overrides", "schema", "report"],
};

/** What every stage may use: files, processes and terminals, and texts. They import nothing else of ours. */
const foundations = new Set(["system", "text"]);
/** The one look outside src/: types of the builder that ships beside the native sources. */
const outside = new Set(["profile/native.ts -> ../native/build.d.mts"]);
/** The engine may not know the profiler; the face of the package is part of the engine. */
const profiler = new Set(["profile", "report"]);

function stageOf(file: string): string {
  const [first = "", ...rest] = relative(source, file).split(sep);
  return rest.length === 0 ? "." : first;
}

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
  if (from === "bin" || from === to) return true;
  if (foundations.has(to)) return !foundations.has(from);
  if (from === ".") return !profiler.has(to);
  return (allowed[from] ?? []).includes(to);
}

const inSource = (...path: string[]) => join(source, ...path);

describe("import arrows", () => {
  const files = listFiles(source, ".ts");

  it("covers every stage of the design", () => {
    const stages = new Set(files.map(stageOf));
    for (const stage of Object.keys(allowed)) expect(stages).toContain(stage);
    for (const stage of stages) expect([".", "bin", ...Object.keys(allowed)]).toContain(stage);
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
    ["values/node.ts", "overrides/parser.ts"],
    ["compose/compose.ts", "app/flags.ts"],
    ["report/document.ts", "profile/timeline.ts"],
    ["profile/run.ts", "app/main.ts"],
    ["index.ts", "profile/run.ts"],
    ["system/package-root.ts", "values/node.ts"],
    ["text/csv.ts", "system/drafts.ts"],
    ["values/node.ts", "../native/build.d.mts"],
  ])("refuses %s importing %s", (file, target) => {
    expect(isAllowed(inSource(file), inSource(target))).toBe(false);
  });

  it("reads static, type-only and dynamic imports", () => {
    const text = 'import type { A } from "./a.ts"; export * from "./b.ts"; await import("./c.ts");';
    expect(importsIn(text)).toEqual(["./a.ts", "./b.ts", "./c.ts"]);
  });
});
