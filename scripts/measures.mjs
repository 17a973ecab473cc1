// node scripts/measures.mjs [--beside REVISION] [--list] [--json] [--check]: measures of the source tree, with the bounds that it has to keep.
// --beside prints those of another revision in a second column, if git has it; --list names the files and folders behind each number. --check fails beyond a bound.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { scriptArguments } from "./script-arguments.mjs";

/** What `src` has to keep. Sizes have no bound: a file is a concept, however long it then is. */
export const BOUNDS = {
  circles: { most: 0 },
  mutualFolders: { most: 0 },
  repeatedNames: { most: 0 },
  unclearNames: { most: 0 },
  unusedExports: { most: 0 },
};

const ts = createRequire(import.meta.url)("typescript");

/** Places whose folders import in one direction, as the wings of `src` do. */
const PLACES = [
  ...["", "engine", "app", "pages", "report", "profiler"],
  ...["job", "launch", "sweep", "plugins", "cli"].map((folder) => `app/${folder}`),
];

/** Files that may have one name in several folders: faces of folders, and the codes that a wing adds. */
const REPEATED = new Set(["index", "error-codes"]);

/** Names of variables, parameters and functions that point at something and do not say what it is. */
const POINTING = new Set(["of", "at", "one", "own", "known", "given", "before"]);

/** Names of files that say nothing to somebody who knows the field. */
const UNCLEAR_NAMES =
  /^(?:look|standing|strays|patience|outlook|leave-sweep|broken-off|side-by-side|overlapping-stays|settle|obstacles|left-behind|attend-tool|standstill|ledger|remember|looked-for|tells-of-process|own-lines|leftovers|whole-lines|just-ended|cut-off|silent-.*|known-.*|bare-word|closed-key|what-.*|whose-.*|words?|things?|misc|utils?|helpers?|common)$/;

/**
 * @typedef {object} SourceFile
 * @property {string} path relative to the repository, with `/`
 * @property {number} lines
 * @property {readonly Import[]} imports of files of `src`, one for each file
 * @property {number} names how many names it imports from files of `src`
 *
 * @typedef {object} Import
 * @property {string} path the imported file
 * @property {boolean} isLoaded at once: neither of types only, nor on demand
 */

/** Every TypeScript file of `src` with its imports. @returns {ReadonlyMap<string, SourceFile>} */
export function readSources(root, sourceOf = sourceReader()) {
  const files = listFiles(join(root, "src")).map((file) =>
    relative(root, file).replaceAll("\\", "/"),
  );
  const known = new Set(files);
  const read = (path) => {
    const source = sourceOf(join(root, path));
    const imports = new Map();
    for (const { specifier, isLoaded } of specifiersIn(source)) {
      const target = relative(root, resolve(root, dirname(path), specifier)).replaceAll("\\", "/");
      if (!known.has(target) || target === path) continue;
      imports.set(target, {
        path: target,
        isLoaded: isLoaded || imports.get(target)?.isLoaded === true,
      });
    }
    const lines = source.text.split("\n").length - 1;
    return [path, { path, lines, imports: [...imports.values()], names: namesIn(source) }];
  };
  return new Map(files.map(read));
}

/** Parses each file once, for all that look at it, and no comments: what they name is not imported. */
function sourceReader() {
  const sources = new Map();
  const options = {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  };
  return (file) => {
    const known = sources.get(file);
    if (known !== undefined) return known;
    const source = ts.createSourceFile(file, readFileSync(file, "utf8"), options);
    sources.set(file, source);
    return source;
  };
}

function* specifiersIn(source) {
  for (const statement of source.statements) {
    const from = statement.moduleSpecifier?.text;
    if (!from?.startsWith(".")) continue;
    yield { specifier: from, isLoaded: !isOfTypes(statement) };
  }
  for (const { fileName } of ts.preProcessFile(source.text, true, true).importedFiles)
    if (fileName.startsWith(".")) yield { specifier: fileName, isLoaded: false };
}

/** How many names a file imports from others of ours. */
function namesIn({ statements }) {
  const imported = statements.filter(
    (one) => ts.isImportDeclaration(one) && one.moduleSpecifier.text.startsWith("."),
  );
  return imported.reduce(
    (sum, { importClause }) => sum + (importClause?.namedBindings?.elements?.length ?? 1),
    0,
  );
}

function isOfTypes(statement) {
  const names = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  const isMarked = ts.isImportDeclaration(statement)
    ? statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    : statement.isTypeOnly;
  const hasDefault =
    ts.isImportDeclaration(statement) && statement.importClause?.name !== undefined;
  const elements = names?.elements;
  return (
    isMarked || (!hasDefault && elements !== undefined && elements.every((one) => one.isTypeOnly))
  );
}

/** Files that exactly one other file imports, types included, with that file. @returns {readonly (readonly [string, string])[]} */
export function importedOnce(sources) {
  const importers = importersOf(sources);
  return [...sources.keys()].flatMap((path) => {
    const of = importers.get(path) ?? [];
    return of.length === 1 ? [[path, of[0]]] : [];
  });
}

/** Who imports each file. @returns {ReadonlyMap<string, readonly string[]>} */
export function importersOf(sources) {
  const importers = new Map();
  for (const { path, imports } of sources.values())
    for (const { path: target } of imports)
      importers.set(target, [...(importers.get(target) ?? []), path]);
  return importers;
}

/**
 * Groups of files that import each other, directly or through others, types included (Tarjan's strongly connected components).
 * @param {ReadonlyMap<string, readonly string[]>} imports of each file
 * @returns {readonly (readonly string[])[]}
 */
export function circlesIn(imports) {
  const order = new Map();
  const open = [];
  const found = [];
  const visit = (file) => {
    const number = order.size;
    order.set(file, number);
    open.push(file);
    let lowest = number;
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      if (!order.has(next)) lowest = Math.min(lowest, visit(next));
      else if (open.includes(next)) lowest = Math.min(lowest, order.get(next));
    }
    if (lowest === number) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1) found.push(group.sort());
    }
    return lowest;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return found;
}

/** All that is loaded with a file: itself and its static imports, and theirs. @returns {ReadonlySet<string>} */
export function loadedWith(sources, entry) {
  const loaded = new Set([entry]);
  for (const path of loaded)
    for (const one of sources.get(path)?.imports ?? []) if (one.isLoaded) loaded.add(one.path);
  return loaded;
}

/**
 * Pairs of folders of a room that import each other, types included; the files directly in the room count as one folder, `.`.
 * @returns {readonly {folders: readonly [string, string], there: readonly string[], back: readonly string[]}[]}
 */
export function mutualFolders(sources, room) {
  const base = room === "" ? "src" : `src/${room}`;
  const folderOf = (path) => {
    const [folder, ...rest] = path.slice(base.length + 1).split("/");
    if (!path.startsWith(`${base}/`)) return undefined;
    return rest.length > 0 ? folder : ".";
  };
  const arrows = new Map();
  for (const { path, imports } of sources.values())
    for (const one of imports) {
      const [from, to] = [folderOf(path), folderOf(one.path)];
      if (from === undefined || to === undefined || from === to) continue;
      const name = `${from} ${to}`;
      arrows.set(name, [...(arrows.get(name) ?? []), `${path} -> ${one.path}`]);
    }
  return [...arrows].flatMap(([name, there]) => {
    const [from, to] = name.split(" ");
    const back = arrows.get(`${to} ${from}`);
    return back === undefined || from > to ? [] : [{ folders: [from, to], there, back }];
  });
}

/**
 * The files of `src` in which something runs for `hydraconf --cfg job a.b=1`: V8's coverage of the command from its sources.
 * @returns {{loaded: readonly string[], executed: readonly string[]}} those that are loaded, and those of which a function is called
 */
export function filesOfAnOverride(root) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-measures-"));
  try {
    mkdirSync(join(folder, "conf"));
    writeFileSync(join(folder, "conf", "config.yaml"), "a:\n  b: 0\n");
    const loader = pathToFileURL(join(root, "scripts", "typescript-loader.mjs")).href;
    const command = [join(root, "src", "bin", "hydraconf.ts"), "--cfg", "job", "a.b=1"];
    const coverage = join(folder, "coverage");
    const { status, stderr } = spawnSync(process.execPath, ["--import", loader, ...command], {
      cwd: folder,
      env: { ...process.env, NODE_V8_COVERAGE: coverage },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`hydraconf --cfg job failed:\n${stderr}`);
    const source = pathToFileURL(join(root, "src")).href;
    const scripts = readdirSync(coverage)
      .flatMap((name) => JSON.parse(readFileSync(join(coverage, name), "utf8")).result)
      .filter(({ url }) => url.startsWith(`${source}/`));
    // The first function is the module itself.
    const isCalled = ({ functions }) =>
      functions.slice(1).some(({ ranges: [all] }) => all.count > 0);
    const pathOf = ({ url }) => relative(root, fileURLToPath(url)).replaceAll("\\", "/");
    return { loaded: scripts.map(pathOf), executed: scripts.filter(isCalled).map(pathOf) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All measures of a repository, by the names of `BOUNDS`, and what stands behind them. */
export function measure(root) {
  const sourceOf = sourceReader();
  const sources = readSources(root, sourceOf);
  const sizes = [...sources.values()].map(({ lines }) => lines).sort((a, b) => a - b);
  const once = importedOnce(sources);
  const { loaded, executed } = filesOfAnOverride(root);
  const mutual = PLACES.flatMap((room) =>
    mutualFolders(sources, room).map((pair) => ({
      room: room === "" ? "src" : `src/${room}`,
      ...pair,
    })),
  );
  const circles = circlesIn(
    new Map([...sources].map(([path, { imports }]) => [path, imports.map((one) => one.path)])),
  );
  const names = [...sources.values()].reduce((sum, file) => sum + file.names, 0);
  const unused = unusedExports(root, sourceOf);
  const byStem = new Map();
  for (const path of sources.keys())
    byStem.set(stemOf(path), [...(byStem.get(stemOf(path)) ?? []), path]);
  const repeated = [...byStem].filter(([stem, paths]) => paths.length > 1 && !REPEATED.has(stem));
  const unclear = [...sources.keys()].flatMap((path) => [
    ...(UNCLEAR_NAMES.test(stemOf(path)) ? [path] : []),
    ...pointingNames(sourceOf(join(root, path))).map((name) => `${path}:${name}`),
  ]);
  return {
    measures: {
      files: sources.size,
      medianLines: sizes[Math.floor(sizes.length / 2)] ?? 0,
      largestFile: sizes.at(-1) ?? 0,
      lines: sizes.reduce((sum, lines) => sum + lines, 0),
      namesImported: Number((names / sources.size).toFixed(1)),
      importedOnce: once.length,
      circles: circles.length,
      filesLoaded: loaded.length,
      filesExecuted: executed.length,
      mutualFolders: mutual.length,
      repeatedNames: repeated.length,
      unclearNames: unclear.length,
      unusedExports: unused.length,
    },
    details: {
      largestFile: [...sources.values()]
        .sort((a, b) => b.lines - a.lines)
        .slice(0, 10)
        .map(({ path, lines }) => `${path}: ${lines}`),
      importedOnce: once.map(([path, importer]) => `${path} by ${importer}`),
      filesExecuted: executed,
      circles: circles.map((files) => files.join(" ")),
      mutualFolders: mutual.flatMap(({ room, folders, there, back }) => [
        `${room}: ${folders.join(" and ")} (${there.length} and ${back.length} imports)`,
        ...(there.length < back.length ? there : back).map((arrow) => `  ${arrow}`),
      ]),
      repeatedNames: repeated.map(([, paths]) => paths.join(" ")),
      unclearNames: unclear,
      unusedExports: unused,
    },
  };
}

/**
 * The variables, parameters and functions of a file whose names only point (`at`, `one`), as `LINE: NAME`. `before` is a name beside an `after`.
 * Members of types are others' words, too: of documents, of methods such as `at(index)`.
 * @returns {readonly string[]}
 */
export function pointingNames(source) {
  const found = [];
  const visit = (node, scope) => {
    const { name } = node;
    const isDeclaration =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node);
    if (isDeclaration && name !== undefined && ts.isIdentifier(name) && POINTING.has(name.text))
      if (name.text !== "before" || !hasIdentifier(scope, "after"))
        found.push(`${source.getLineAndCharacterOfPosition(name.end).line + 1}: ${name.text}`);
    const inside = ts.isFunctionLike(node) ? node : scope;
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, source);
  return found;
}

const hasIdentifier = (node, name) =>
  (ts.isIdentifier(node) && node.text === name) ||
  ts.forEachChild(node, (child) => hasIdentifier(child, name)) === true;

/** What is imported by its package, or loaded by a page. */
const FACES = /^src\/(?:[^/]+\.ts|bin\/|(?:profiler|report|engine\/schema)\/index\.ts$)/;

/**
 * Exports of `src` that no other file imports, those of tests and scripts included. A type may also be part of what another export of its file
 * takes or gives.
 * @returns {readonly string[]}
 */
export function unusedExports(root, sourceOf = sourceReader()) {
  const folders = ["src", "tests", "bench", "scripts"].filter((one) => existsSync(join(root, one)));
  const files = folders.flatMap((folder) => listFiles(join(root, folder), /\.m?ts$|\.mjs$/));
  const sources = new Map(files.map((file) => [file, sourceOf(file)]));
  const used = new Map();
  for (const [file, source] of sources)
    for (const { target, name } of importsOfNames(source)) {
      const path = resolve(dirname(file), target);
      used.set(path, (used.get(path) ?? new Set()).add(name));
    }
  const pathOf = (file) => relative(root, file).replaceAll("\\", "/");
  return [...sources].flatMap(([file, source]) => {
    const path = pathOf(file);
    const names = used.get(file) ?? new Set();
    if (!path.startsWith("src/") || FACES.test(path) || names.has("*")) return [];
    const exported = source.statements.filter((one) => isExported(one));
    const idle = exported.flatMap((one) =>
      namesDeclared(one)
        .filter((name) => !names.has(name))
        .map((name) => ({ name, statement: one })),
    );
    const isPart = ({ name, statement }) =>
      isType(statement) && exported.some((other) => other !== statement && mentions(other, name));
    return idle.filter((one) => !isPart(one)).map(({ name }) => `${path}: ${name}`);
  });
}

/** The names that a file takes of others of ours: `*` for all of them. */
function* importsOfNames(source) {
  for (const statement of source.statements) {
    const target = statement.moduleSpecifier?.text;
    if (target === undefined || !target.startsWith(".")) continue;
    const clause = ts.isImportDeclaration(statement)
      ? statement.importClause?.namedBindings
      : statement.exportClause;
    const elements = clause?.elements;
    if (elements === undefined) yield { target, name: "*" };
    else
      for (const { name, propertyName } of elements)
        yield { target, name: (propertyName ?? name).text };
  }
  // What is loaded on demand, whichever names it is asked for; and types as `import("./file.ts").Name`.
  for (const [, target] of source.text.matchAll(/\bimport\(\s*"(\.[^"]+)"/g))
    yield { target, name: "*" };
}

const isExported = (statement) =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

const isType = (statement) =>
  ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);

const namesDeclared = (statement) =>
  ts.isVariableStatement(statement)
    ? statement.declarationList.declarations.flatMap(({ name }) =>
        ts.isIdentifier(name) ? [name.text] : name.elements.map((one) => one.name.text),
      )
    : statement.name === undefined
      ? []
      : [statement.name.text];

/** Whether a statement names a type, outside of the body of a function. */
function mentions(node, name) {
  if (ts.isBlock(node)) return false;
  if (ts.isIdentifier(node) && node.text === name) return true;
  return ts.forEachChild(node, (child) => mentions(child, name)) === true;
}

/**
 * The measures of the tree of a revision, with the packages of this one. A revision without a remote's name is looked for at `origin`, too.
 * @returns {{measures: Readonly<Record<string, number>>} | {problem: string}}
 */
export function measuresAt(root, revision) {
  const git = (...args) =>
    spawnSync("git", args, { cwd: root, encoding: "buffer", maxBuffer: 1 << 30 });
  const found = [revision, `origin/${revision}`].find(
    (one) => git("rev-parse", "--verify", "--quiet", `${one}^{commit}`).status === 0,
  );
  if (found === undefined) return { problem: "git has no such revision here" };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-revision-")));
  try {
    execFileSync("tar", ["-x", "-C", folder], {
      input: git("archive", found, "src", "tests", "bench", "scripts", "schemas", "package.json")
        .stdout,
    });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    return { measures: measure(folder).measures };
  } catch (error) {
    return { problem: String(error) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The measures that break their bound, in words. @returns {readonly string[]} */
export const broken = (measures) =>
  Object.entries(BOUNDS).flatMap(([name, { most }]) =>
    measures[name] > most ? [`${name} is ${measures[name]}, more than ${most}`] : [],
  );

const stemOf = (path) => (path.split("/").at(-1) ?? "").replace(/\.ts$/, "");

const listFiles = (folder, names = /\.ts$/) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();

/**
 * Tests that mirror no file: `tests/a/b.test.ts` belongs to `src/a/b.ts`, or to the folder `src/a/b/`. For `--list` only: a test of a whole
 * behaviour, through several files, is named after the behaviour and stands in the room whose public function it calls.
 */
function testsWithoutFile(root) {
  const tests = execFileSync("git", ["ls-files", "tests"], { cwd: root, encoding: "utf8" }).split(
    "\n",
  );
  const mirrored = /^tests\/(?:foundation|engine|pages|app|python|report|profiler)\//;
  return tests.filter((test) => {
    const stem = /^tests\/(.*?)(?:\.slow)?\.test\.ts$/.exec(test)?.[1];
    return (
      mirrored.test(test) &&
      stem !== undefined &&
      !existsSync(join(root, "src", `${stem}.ts`)) &&
      !existsSync(join(root, "src", stem))
    );
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { values } = scriptArguments(import.meta.url, {
    options: {
      beside: { type: "string" },
      check: { type: "boolean" },
      json: { type: "boolean" },
      list: { type: "boolean" },
    },
  });
  const root = join(dirname(fileURLToPath(import.meta.url)), "..");
  const revision = values.beside;
  const other = revision === undefined ? undefined : measuresAt(root, revision);
  if (other !== undefined && "problem" in other)
    console.log(`${revision} is not measured: ${other.problem}`);
  const beside = other?.measures;
  const { measures, details } = measure(root);
  if (values.json === true) console.log(JSON.stringify({ measures, details }, null, 2));
  else {
    const line = (name, here, there, most) =>
      console.log(
        `${name.padEnd(14)} ${String(here).padStart(7)}${beside === undefined ? "" : ` ${String(there ?? "-").padStart(14)}`}${most === undefined ? "" : `   at most ${most}`}`,
      );
    if (beside !== undefined) line("", "here", revision);
    for (const [name, value] of Object.entries(measures))
      line(name, value, beside?.[name], BOUNDS[name]?.most);
    if (values.list === true)
      for (const [name, lines] of Object.entries({
        ...details,
        testsWithoutFile: testsWithoutFile(root),
      }))
        if (lines.length > 0)
          console.log(
            `\n${name} (${lines.length})\n${lines.map((line) => `  ${line}`).join("\n")}`,
          );
  }
  if (values.check === true) {
    const problems = broken(measures);
    for (const problem of problems) console.error(problem);
    process.exitCode = problems.length > 0 ? 1 : 0;
  }
}
