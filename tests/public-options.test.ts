import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import * as engine from "../src/index.ts";
import * as profile from "../src/profiler/index.ts";
import * as report from "../src/report/index.ts";
import * as sources from "../src/sources.ts";
import { capturedConsole } from "./captured-console.ts";

// Every public function that takes options, called with one that is misspelt: ignored without a word, it would leave
// its user with a default. A new function, or a new type of a parameter, has to be added to one of the tables.

/** As JavaScript may give them: no type would let them pass. */
const MISSPELT = { mispelt: true } as never;

/** Options are looked at first. */
const DATA = {} as never;

const AN_ERROR = new engine.ConfigError({ code: "app.job", message: "failed" });

const CALLS: Readonly<Record<string, () => unknown>> = {
  asyncResolver: () => engine.asyncResolver("f", async () => 1, MISSPELT),
  compose: () => engine.compose(MISSPELT),
  composeAsync: () => engine.composeAsync(MISSPELT),
  createEngine: () => engine.createEngine(MISSPELT),
  createTargets: () => engine.createTargets({}, MISSPELT),
  exitCode: () => engine.exitCode(3, MISSPELT),
  fromDotlist: () => engine.fromDotlist([], MISSPELT),
  hydraMain: () => toldByMain(MISSPELT),
  instantiate: () => engine.instantiate({}, MISSPELT),
  instantiateAsync: () => engine.instantiateAsync({}, MISSPELT),
  loadYaml: () => engine.loadYaml("a: 1", MISSPELT),
  memorySource: () => engine.memorySource(MISSPELT, new Map()),
  mergeAll: () => engine.mergeAll([{}], MISSPELT),
  mergeDotlist: () => engine.mergeDotlist({}, [], MISSPELT),
  missingKeys: () => engine.missingKeys({}, MISSPELT),
  parseOverride: () => engine.parseOverride("a=1", MISSPELT),
  parseOverrides: () => engine.parseOverrides([], MISSPELT),
  renderError: () => engine.renderError(AN_ERROR, MISSPELT),
  resolve: () => engine.resolve({}, MISSPELT),
  resolver: () => engine.resolver("f", () => 1, MISSPELT),
  select: () => engine.select({}, "a", MISSPELT),
  setFlags: () => engine.setFlags({}, MISSPELT),
  target: () => engine.target(() => 1, MISSPELT),
  toYaml: () => engine.toYaml({}, MISSPELT),
  update: () => engine.update({}, "a", 1, MISSPELT),

  watchConfig: () => engine.watchConfig(MISSPELT, { onChange: () => {}, onError: () => {} }),

  dotenv: () => sources.dotenv(MISSPELT),
  environment: () => sources.environment(MISSPELT),
  secretFiles: () => sources.secretFiles(MISSPELT),

  buildRegionModel: () => profile.buildRegionModel(DATA, MISSPELT),
  createRecorder: () => profile.createRecorder(MISSPELT),
  profile: () => profile.profile(MISSPELT),
  runValidateCommand: () => profile.runValidateCommand([], MISSPELT),
  toReportBundle: () => profile.toReportBundle(DATA, MISSPELT),
  watchRecording: () => profile.watchRecording(".", MISSPELT),

  renderKernelsMarkdown: () => report.renderKernelsMarkdown(MISSPELT),
  renderRegionMarkdown: () => report.renderRegionMarkdown(DATA, MISSPELT),
  renderRegionTable: () => report.renderRegionTable(DATA, MISSPELT),
  renderRunMarkdown: () => report.renderRunMarkdown(MISSPELT),
  renderStakeholderSummary: () => report.renderStakeholderSummary(MISSPELT),
  writeReports: () => report.writeReports(DATA, "nowhere", MISSPELT),
  writeRunReports: () => report.writeRunReports("nowhere", MISSPELT),
};

test.each(Object.entries(CALLS))("%s refuses an option that there is not", async (_, call) => {
  const refused = expect.objectContaining({ code: "value.wrong_type" });
  await expect((async () => call())()).rejects.toEqual(refused);
  await expect((async () => call())()).rejects.toThrow(/: there is no option 'mispelt'/);
});

/** It tells its user, and throws nothing. */
async function toldByMain(options: never): Promise<void> {
  const { console, out } = capturedConsole();
  await engine.hydraMain(options, () => {}, {
    argv: [],
    env: {},
    cwd: "/",
    now: new Date(0),
    console,
  });
  throw new engine.ConfigError({ code: "value.wrong_type", message: out.stderr });
}

/** Types of parameters that are no options: what a function works on, or makes something of. */
const WORKED_ON: ReadonlySet<string> = new Set([
  "StopSignal",
  "TextStream",
  "Callable",
  "ConfigNode",
  "Entries",
  "ErrorDetails",
  "ErrorHints",
  "Explanation",
  "Iterable",
  "JsonSchema",
  "Key",
  "NCUProfileRegionReport",
  "NamedRegion",
  "ProcessTimeline",
  "RangeHandlers",
  "RangePattern",
  "ReadonlyMap",
  "RegionModel",
  "RegionReportBundle",
  "ReportValidator",
  "Task",
  "TargetConfig",
  "Timeline",
  "ToolErrorDetails",
  "Uint8Array",
]);

test("these are all public functions that take options", () => {
  const parameters = ENTRIES.flatMap((file) => parametersOf(file));
  const options = parameters.filter(({ type }) => !WORKED_ON.has(type));
  const unchecked = options.filter(({ name }) => !Object.hasOwn(CALLS, name));
  expect(unchecked).toEqual([]);
  const takers = new Set(options.map(({ name }) => name));
  expect(Object.keys(CALLS).filter((name) => !takers.has(name))).toEqual([]);
  const met = new Set(parameters.map(({ type }) => type));
  expect([...WORKED_ON].filter((type) => !met.has(type))).toEqual([]);
}, 60_000);

const source = (file: string): string => fileURLToPath(new URL(`../src/${file}`, import.meta.url));

const ENTRIES = [
  "index.ts",
  "sources.ts",
  "profiler/index.ts",
  "report/index.ts",
  "engine/schema/index.ts",
].map(source);

const program = ts.createProgram(ENTRIES, {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  allowImportingTsExtensions: true,
  noEmit: true,
});

/** The types of the parameters of the functions and classes that a file exports, as they are written. */
function parametersOf(file: string): readonly { readonly name: string; readonly type: string }[] {
  const checker = program.getTypeChecker();
  const entry = program.getSourceFile(file);
  const module = entry && checker.getSymbolAtLocation(entry);
  if (entry === undefined || module === undefined) throw new Error(`${file} exports nothing`);
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    const type = checker.getTypeOfSymbolAtLocation(symbol, entry);
    return [...type.getCallSignatures(), ...type.getConstructSignatures()]
      .flatMap(({ parameters }) => parameters)
      .flatMap(({ valueDeclaration: parameter }) =>
        parameter && ts.isParameter(parameter) ? typeNames(parameter.type) : [],
      )
      .map((named) => ({ name: symbol.name, type: named }));
  });
}

/** What a type is named, each part of it; `{}` where it is written out. Lists and texts have none. */
function typeNames(type: ts.TypeNode | undefined): readonly string[] {
  if (type === undefined) return [];
  if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type))
    return type.types.flatMap(typeNames);
  if (ts.isTypeLiteralNode(type)) return ["{}"];
  if (!ts.isTypeReferenceNode(type) || !ts.isIdentifier(type.typeName)) return [];
  const { text: named } = type.typeName;
  return named === "Pick" ? typeNames(type.typeArguments?.[0]) : [named];
}
