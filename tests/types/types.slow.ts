import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { runSchema } from "../../src/app/cli/tree-schema/schema-command.ts";
import { capturedConsole } from "../captured-console.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const project = join(root, "tests/types/project");
const compiles = join(project, "compiles.ts");
const refused = join(project, "refused.ts");
const edited = join(project, "edited.ts");
const declarations = join(project, "hydraconf.d.ts");

const TREE = {
  "config.yaml": `defaults: [db: mysql, db@backup: pg, model/arch: large, _self_]
lr: 0.1
layers: [{size: 1}]
name: null
open: ???
`,
  "eval.yaml": "checkpoint: last\n",
  "broken.yaml": "defaults: [nothing]\n",
  "db/mysql.yaml": "host: h\nport: 3306\ntags: [a]\nuser: null\n",
  "db/pg.yaml": "host: h\nport: ${oc.decode:'5432'}\nssl: true\nuser: me\n",
  "model/arch/small.yaml": "depth: 1\n",
  "model/arch/large.yaml": "depth: 2\n",
};

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2023.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  types: ["node"],
  allowImportingTsExtensions: true,
  paths: { hydraconf: [join(root, "src/index.ts")] },
};

/** One program and one language service for all: reading the sources takes most of the time. */
let service: ts.LanguageService;
/** The texts that stand for files, with their versions. */
const texts = new Map<string, { readonly text: string; readonly version: number }>();
const write = (file: string, text: string) =>
  texts.set(file, { text, version: (texts.get(file)?.version ?? 0) + 1 });

beforeAll(async () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-types-"));
  for (const [name, text] of Object.entries(TREE)) {
    mkdirSync(dirname(join(cwd, "conf", name)), { recursive: true });
    writeFileSync(join(cwd, "conf", name), text);
  }
  const { console, out } = capturedConsole();
  const args = ["--types"];
  expect(await runSchema(args, { argv: args, env: {}, cwd, console, now: new Date(0) })).toBe(0);
  expect(out.stdout).toBe("hydraconf.d.ts\n");
  write(edited, "");
  write(declarations, readFileSync(join(cwd, "hydraconf.d.ts"), "utf8"));
  const read = (file: string) => texts.get(file)?.text ?? ts.sys.readFile(file);
  service = ts.createLanguageService({
    getCompilationSettings: () => OPTIONS,
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [compiles, refused, declarations, edited],
    getScriptVersion: (file) => String(texts.get(file)?.version ?? 0),
    getScriptSnapshot: (file) => {
      const text = read(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    fileExists: (file) => texts.has(file) || ts.sys.fileExists(file),
    readFile: read,
    directoryExists: ts.sys.directoryExists,
  });
}, 120_000);

/** The line from 1 and the message of each error. */
function errorsIn(file: string): readonly { readonly line: number; readonly message: string }[] {
  const source = service.getProgram()?.getSourceFile(file);
  const all = [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)];
  return all.map(({ messageText, start = 0 }) => ({
    line: (source?.getLineAndCharacterOfPosition(start).line ?? -1) + 1,
    message: ts.flattenDiagnosticMessageText(messageText, "\n"),
  }));
}

describe("types of configs", () => {
  it("follow the declared tree, validators, JSON Schemas and TypeBox", () => {
    expect(errorsIn(declarations)).toEqual([]);
    expect(errorsIn(compiles)).toEqual([]);
  }, 120_000);

  it("refuse wrong keys, options, overrides and changes", () => {
    const lines = readFileSync(refused, "utf8").split("\n");
    const marks = lines.flatMap((text, index) => {
      const [, wanted] = /^\/\/ refused: (.*)$/.exec(text) ?? [];
      return wanted === undefined ? [] : [{ line: index + 1, wanted }];
    });
    const errors = errorsIn(refused);
    const found = marks.map(({ line, wanted }, index) => {
      const end = marks[index + 1]?.line ?? lines.length + 1;
      const there = errors.filter((error) => error.line > line && error.line < end);
      return there.length === 1 && there[0]?.message.includes(wanted)
        ? wanted
        : { line, wanted, there };
    });
    expect(found).toEqual(marks.map(({ wanted }) => wanted));
    expect(errors).toHaveLength(marks.length);
  }, 120_000);

  it.each([
    ['config.get("db.|");', ["db.host", "db.port", "db.ssl", "db.tags"]],
    ['compose({ ...tree, overrides: ["db=|"] });', ["db=mysql", "db=pg"]],
    [
      'compose({ ...tree, overrides: ["lr=1", "+model/arch=|"] });',
      ["+model/arch=large", "+model/arch=small"],
    ],
  ])("are completed by an editor: %s", (line, wanted) => {
    const [head = ""] = readFileSync(refused, "utf8").split("\n// refused");
    const [before = "", after = ""] = line.split("|");
    write(edited, `${head}\n${before}${after}`);
    const found = service.getCompletionsAtPosition(edited, head.length + 1 + before.length, {});
    const names = found?.entries.map(({ name }) => name) ?? [];
    expect(names).toEqual(expect.arrayContaining(wanted));
  });
});
