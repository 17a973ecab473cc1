import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import * as schema from "../src/engine/schema/index.ts";
import * as engine from "../src/index.ts";
import * as profile from "../src/profiler/index.ts";
import * as report from "../src/report/index.ts";
import { capturedConsole } from "./captured-console.ts";

// Every public function that takes options, called with one that is misspelt: ignored without a word, it would leave
// its user with a default. A new function, or a new type of a parameter, has to be added to one of the tables.

/** As JavaScript may give them: no type would let them pass. */
const MISSPELT = { mispelt: true } as never;

/** Options are looked at first. */
const DATA = {} as never;

const AN_ERROR = new engine.ConfigError({ code: "app.job", message: "failed" });

const CALLS: Readonly<Record<string, () => unknown>> = {
  compose: () => engine.compose(MISSPELT),
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
  const parameters = ENTRIES.flatMap(([module, file]) =>
    Object.entries(module)
      .filter(([, value]) => typeof value === "function")
      .flatMap(([name]) => parameterTypes(name, source(file)).map((type) => ({ name, type }))),
  );
  const options = parameters.filter(({ type }) => !WORKED_ON.has(type));
  const unchecked = options.filter(({ name }) => !Object.hasOwn(CALLS, name));
  expect(unchecked).toEqual([]);
  const takers = new Set(options.map(({ name }) => name));
  expect(Object.keys(CALLS).filter((name) => !takers.has(name))).toEqual([]);
  const met = new Set(parameters.map(({ type }) => type));
  expect([...WORKED_ON].filter((type) => !met.has(type))).toEqual([]);
});

const ENTRIES = [
  [engine, "index.ts"],
  [profile, "profiler/index.ts"],
  [report, "report/index.ts"],
  [schema, "engine/schema/index.ts"],
] as const;

const source = (file: string): string => fileURLToPath(new URL(`../src/${file}`, import.meta.url));

/** The types of the parameters of a function as they are written, wherever it is declared. */
function parameterTypes(name: string, file: string): readonly string[] {
  const types = declaredIn(file, name);
  if (types === undefined) throw new Error(`${file} does not show what '${name}' takes`);
  return types;
}

function declaredIn(file: string, name: string): readonly string[] | undefined {
  const { statements } = ts.createSourceFile(
    file,
    readFileSync(file, "utf8"),
    ts.ScriptTarget.Latest,
  );
  const own = statements.flatMap((statement) => parametersOf(statement, name) ?? []);
  const base = statements.flatMap((statement) => inheritedFrom(statement, name))[0];
  if (own.length === 0 && base !== undefined) return declaredIn(file, base);
  if (own.length > 0)
    return own.flatMap((parameters) => parameters.flatMap(({ type }) => typeNames(type)));
  for (const statement of statements) {
    if (!ts.isExportDeclaration(statement)) continue;
    const { exportClause: clause, moduleSpecifier: from } = statement;
    if (from === undefined || !ts.isStringLiteral(from)) continue;
    const inner = clause === undefined ? name : nameWithin(clause, name);
    const found = inner && declaredIn(resolve(dirname(file), from.text), inner);
    if (found) return found;
  }
  return undefined;
}

/** What an export is called in the module that it comes from. */
function nameWithin(clause: ts.NamedExportBindings, name: string): string | undefined {
  if (!ts.isNamedExports(clause)) return undefined;
  const found = clause.elements.find((one) => one.name.text === name);
  return found && (found.propertyName ?? found.name).text;
}

/** The parameters of a function or class that a statement declares: one list for each. */
function parametersOf(
  statement: ts.Statement,
  name: string,
): readonly (readonly ts.ParameterDeclaration[])[] | undefined {
  if (ts.isFunctionDeclaration(statement) && statement.name?.text === name)
    return [[...statement.parameters]];
  if (ts.isClassDeclaration(statement) && statement.name?.text === name)
    return statement.members
      .filter(ts.isConstructorDeclaration)
      .map(({ parameters }) => [...parameters]);
  if (!ts.isVariableStatement(statement)) return undefined;
  return statement.declarationList.declarations.flatMap(({ name: own, initializer }) =>
    ts.isIdentifier(own) && own.text === name && initializer && ts.isArrowFunction(initializer)
      ? [[...initializer.parameters]]
      : [],
  );
}

/** The class whose constructor a class has that declares none. */
function inheritedFrom(statement: ts.Statement, name: string): readonly string[] {
  if (!ts.isClassDeclaration(statement) || statement.name?.text !== name) return [];
  return (statement.heritageClauses ?? []).flatMap(({ types }) =>
    types.flatMap(({ expression }) => (ts.isIdentifier(expression) ? [expression.text] : [])),
  );
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
