import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { listFiles } from "./files.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** Folders of one wing; a folder may use those that it names. `.` stands for the files directly in the wing. */
type Folders = Readonly<Record<string, readonly string[]>>;

interface Wing {
  /** The wings it may use, whole; or a folder of one, `app/command-line`. */
  readonly uses: readonly string[];
  /** The folders in it. Without them, the files of the wing may import each other. */
  readonly folders: Folders;
  readonly inside?: Readonly<Record<string, readonly string[]>>;
}

/** What may import what (docs/internals.md). `bin` joins all wings; files directly in src/ are the faces of the engine's package. */
const WINGS: Readonly<Record<string, Wing>> = {
  foundation: { uses: [], folders: { system: [], text: [] } },
  engine: {
    uses: ["foundation"],
    folders: {
      values: [],
      overrides: ["values"],
      compose: ["values", "overrides"],
      schema: ["values"],
      instantiate: ["values"],
    },
  },
  pages: { uses: ["foundation"], folders: { ".": [], client: ["."] } },
  app: {
    uses: ["foundation", "engine", "pages"],
    folders: {
      "command-line": [],
      job: [],
      record: ["job"],
      launch: ["job", "record"],
      sweep: ["job", "record", "launch"],
      plugins: ["job", "record", "launch", "sweep"],
      cli: ["command-line", "job", "record", "launch", "sweep", "plugins"],
    },
    inside: {
      job: ["process", "logging"],
      launch: [".", "local"],
      sweep: ["sweepers", "page", "client"],
      plugins: ["contract", "python", "submitit", "slurm", "optuna"],
      cli: ["arguments", "completion", "tree-schema"],
    },
  },
  python: {
    uses: ["foundation", "engine", "app"],
    // Programs in Python, which the bundles hold as texts.
    folders: { ".": ["sources"], sources: [] },
  },
  language: {
    uses: ["foundation", "engine", "app", "python"],
    folders: { ".": [], migrate: ["."] },
  },
  playground: {
    // Its page is a program with `hydraconf/engine`.
    uses: ["foundation", "engine", "pages", "app", "python", "."],
    folders: {
      ".": ["server"],
      model: ["."],
      server: ["."],
      client: [".", "model"],
    },
  },
  report: {
    uses: ["foundation", "engine", "pages"],
    folders: {
      model: [],
      selection: ["model"],
      view: ["model", "selection"],
      render: ["model", "selection", "view"],
      compare: ["model", "selection", "view", "render"],
      sweep: ["model", "selection", "view", "render", "compare"],
      validation: ["model", "selection", "view", "render", "compare", "sweep"],
      client: ["model", "selection", "view", "render", "compare", "sweep", "validation"],
      ".": ["model", "selection", "view", "render", "compare", "sweep", "validation"],
    },
  },
  profiler: {
    // Its subcommands are declared as those of the engine's command are.
    uses: ["foundation", "engine", "pages", "report", "app/command-line"],
    folders: {
      model: [],
      machine: ["model"],
      analysis: ["model", "machine"],
      tools: ["model", "machine", "analysis"],
      run: ["model", "machine", "analysis", "tools"],
      cli: ["model", "machine", "analysis", "tools", "run"],
      ".": ["model", "machine", "analysis", "tools", "run", "cli"],
    },
  },
};

/** The one look outside src/: types of the builder that ships beside the native sources. */
const outside = new Set(["profiler/machine/native.ts -> ../native/build.d.mts"]);
/** The faces of the engine's package may not know the profiler. */
const FACES = new Set(["foundation", "engine", "pages", "app", "python"]);

/** The folder of `parent` that a file is in; `.` for files directly in it. */
function folderIn(parent: string, file: string): string {
  const [first = "", ...rest] = relative(parent, file).split(sep);
  return rest.length === 0 ? "." : first;
}

const wingOf = (file: string): string => folderIn(source, file);
const inWing = (wing: string) => (file: string) => folderIn(join(source, wing), file);
const inSource = (...path: string[]) => join(source, ...path);

/** Every relative module specifier: static, type-only, re-exported and dynamic. */
function importsIn(text: string): string[] {
  const info = ts.preProcessFile(text, true, true);
  return info.importedFiles.map((entry) => entry.fileName).filter((name) => name.startsWith("."));
}

const importsOf = (file: string): readonly string[] =>
  importsIn(readFileSync(file, "utf8")).map((name) => resolve(dirname(file), name));

/** Whether the design lets a module in `file` import `target`. */
function isAllowed(file: string, target: string): boolean {
  const from = wingOf(file);
  const to = wingOf(target);
  if (to === "..") return outside.has(`${relative(source, file)} -> ${relative(source, target)}`);
  if (from === "bin") return true;
  if (from === ".") return to === "." || FACES.has(to);
  if (from === to) return isAllowedInside(from, file, target);
  const uses = WINGS[from]?.uses ?? [];
  return uses.includes(to) || uses.includes(`${to}/${inWing(to)(target)}`);
}

function isAllowedInside(wing: string, file: string, target: string): boolean {
  const { folders = {}, inside = {} } = WINGS[wing] ?? {};
  const [from, to] = [inWing(wing)(file), inWing(wing)(target)];
  if (from !== to) return folders[from]?.includes(to) === true;
  const order = inside[from];
  const [lower, upper] = [target, file].map((path) => folderIn(join(source, wing, from), path));
  if (order === undefined || lower === upper) return true;
  if (upper === "." && !order.includes(".")) return true;
  return lower !== undefined && order.slice(0, order.indexOf(upper ?? "")).includes(lower);
}

describe("import arrows", () => {
  const files = listFiles(source, ".ts");

  it("covers every wing", () => {
    const wings = new Set(files.map(wingOf));
    expect([...wings].sort()).toEqual([".", "bin", ...Object.keys(WINGS)].sort());
  });

  it.each(Object.entries(WINGS))("covers every folder of %s", (wing, { folders, inside = {} }) => {
    const own = files.filter((file) => wingOf(file) === wing);
    const texts = listFiles(join(source, wing), ".py");
    expect([...new Set([...own, ...texts].map(inWing(wing)))].sort()).toEqual(
      Object.keys(folders).sort(),
    );
    for (const [folder, order] of Object.entries(inside)) {
      const found = own
        .filter((file) => inWing(wing)(file) === folder)
        .map((file) => folderIn(join(source, wing, folder), file));
      expect([...new Set(found)].sort()).toEqual([...new Set([".", ...order])].sort());
    }
  });

  it.each(Object.keys(WINGS))("%s has a README of one screen", (wing) => {
    const file = join(source, wing, "README.md");
    expect(existsSync(file), file).toBe(true);
    expect(readFileSync(file, "utf8").split("\n").length).toBeLessThanOrEqual(50);
  });

  it("point one way", () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !isAllowed(file, target))
        .map((target) => `${relative(source, file)} imports ${relative(source, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  it("the engine asks the disk only where it reads sources, and about our own package", () => {
    const asks = /from "(?:node:fs|node:child_process|execa)"|import\("execa"\)/;
    const engine = `${join(source, "engine")}${sep}`;
    const found = files
      .filter((file) => file.startsWith(engine) && asks.test(readFileSync(file, "utf8")))
      .map((file) => file.slice(engine.length).split(sep).join("/"));
    expect(found.sort()).toEqual(["compose/sources/file-source.ts", "values/package-info.ts"]);
  });

  it.each([
    ["engine/values/node.ts", "engine/overrides/parser.ts"],
    ["engine/compose/compose.ts", "app/cli/arguments/parse-argv.ts"],
    ["report/model/document.ts", "profiler/model/timeline.ts"],
    ["profiler/run/run.ts", "app/job/run-job.ts"],
    ["app/plugins/load-settings.ts", "python/project.ts"],
    ["python/project.ts", "language/tree-index.ts"],
    ["language/tree-index.ts", "language/migrate/rules.ts"],
    ["language/migrate/rules.ts", "profiler/run/run.ts"],
    ["report/index.ts", "app/command-line/parse.ts"],
    ["pages/html.ts", "engine/values/node.ts"],
    ["pages/html.ts", "report/view/answer.ts"],
    ["index.ts", "profiler/run/run.ts"],
    ["foundation/system/package-root.ts", "engine/values/node.ts"],
    ["foundation/text/csv-records.ts", "foundation/system/atomic-write.ts"],
    ["engine/values/node.ts", "../native/build.d.mts"],
    ["profiler/tools/ncu/run/verdict.ts", "profiler/run/collectors.ts"],
    ["profiler/run/run.ts", "profiler/cli/profile-task.ts"],
  ])("refuses %s importing %s", (file, target) => {
    expect(isAllowed(inSource(file), inSource(target))).toBe(false);
  });

  it("reads static, type-only and dynamic imports", () => {
    const text = 'import type { A } from "./a.ts"; export * from "./b.ts"; await import("./c.ts");';
    expect(importsIn(text)).toEqual(["./a.ts", "./b.ts", "./c.ts"]);
  });
});
