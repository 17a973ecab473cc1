import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** The design's arrows: which other stages a stage may import. Files directly in src/ are the public face. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  values: [],
  overrides: ["values"],
  compose: ["values", "overrides"],
  schema: ["values"],
  instantiate: ["values"],
  app: ["values", "overrides", "compose", "schema", "instantiate"],
  report: ["values", "schema"],
  profile: ["values", "overrides", "schema", "report"],
};

/** Leaves that any stage may use: they import nothing of ours but each other. */
const leaves = new Set([
  "atomic-write.ts",
  "csv.ts",
  "drafts.ts",
  "file-problem.ts",
  "glob.ts",
  "import-file.ts",
  "long-timer.ts",
  "make-directory.ts",
  "name-numbers.ts",
  "other-namespace.ts",
  "package-root.ts",
  "plural.ts",
  "printable.ts",
  "process-claim.ts",
  "process-groups.ts",
  "process-identity.ts",
  "readable-path.ts",
  "repeated-signal.ts",
  "require-file.ts",
  "shape.ts",
  "shell-quote.ts",
  "suspension.ts",
  "system-error.ts",
  "terminal-width.ts",
  "text-width.ts",
]);
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
  if (from === "bin" || from === to || leaves.has(relative(source, target))) return true;
  if (from === ".") return !profiler.has(to) && !leaves.has(relative(source, file));
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
    ["package-root.ts", "values/node.ts"],
    ["values/node.ts", "../native/build.d.mts"],
  ])("refuses %s importing %s", (file, target) => {
    expect(isAllowed(inSource(file), inSource(target))).toBe(false);
  });

  it("reads static, type-only and dynamic imports", () => {
    const text = 'import type { A } from "./a.ts"; export * from "./b.ts"; await import("./c.ts");';
    expect(importsIn(text)).toEqual(["./a.ts", "./b.ts", "./c.ts"]);
  });
});
