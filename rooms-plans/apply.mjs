#!/usr/bin/env node
// node apply.mjs PLAN... [--repo DIR] [--dry] [--no-check] [--force]: see README.md beside this file.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix, resolve } from "node:path";
import { layOut, parsePlan } from "./lib/plan.mjs";
import {
  analyse, applyEdits, closure, components, declaredBy, hasExport, isValueExport, isValueImport, specifier,
} from "./lib/source.mjs";

const { dirname, basename, join } = posix;
const startedAt = Date.now();
const argv = process.argv.slice(2);
const flag = (name) => argv.includes(name) && (argv.splice(argv.indexOf(name), 1), true);
const option = (name, otherwise) => {
  const at = argv.indexOf(name);
  return at < 0 ? otherwise : argv.splice(at, 2)[1];
};
const repo = resolve(option("--repo", process.cwd()));
const dry = flag("--dry");
const noCheck = flag("--no-check");
const force = flag("--force");
const quiet = flag("--quiet");
const allowCycles = flag("--allow-cycles");
if (argv.length === 0 || argv.some((a) => a.startsWith("--"))) {
  console.error("usage: apply.mjs PLAN... [--repo DIR] [--dry] [--no-check] [--force] [--quiet] [--allow-cycles]");
  process.exit(2);
}
const ts = createRequire(join(repo, "package.json"))("typescript");
const git = (...args) => execFileSync("git", args, { cwd: repo, encoding: "utf8", maxBuffer: 1 << 28 });
const clock = (what) => !quiet && console.error(`[${((Date.now() - startedAt) / 1000).toFixed(1)} s] ${what}`);

const report = {
  sections: new Map(),
  add(section, line) {
    if (!this.sections.has(section)) this.sections.set(section, []);
    const lines = this.sections.get(section);
    if (!lines.includes(line)) lines.push(line);
  },
  warn: (line) => report.add("WARN", line),
  error: (line) => report.add("ERROR", line),
};
const abs = (path) => join(repo, path);

// ---------------------------------------------------------------- the tree
if (!dry && !force && git("status", "--porcelain") !== "") {
  console.error(`${repo} has changes: commit them, or 'git reset --hard && git clean -fd src tests'`);
  process.exit(2);
}
const tracked = git("ls-files", "-z").split("\0").filter(Boolean);
const isFixture = (f) => f.startsWith("tests/fixtures/") || f.includes("__snapshots__/") || f === "package-lock.json";
const isCode = (f) =>
  /\.(ts|mts|mjs|cjs)$/.test(f) && !isFixture(f) && /^(src|tests|bench|scripts|native|docs)\/|^[^/]+$/.test(f);
const codeFiles = tracked.filter(isCode);
const texts = new Map(codeFiles.map((f) => [f, readFileSync(abs(f), "utf8")]));
const originalTexts = new Map(texts);
const versions = new Map(codeFiles.map((f) => [f, 0]));

const ops = argv.flatMap((plan) => {
  try {
    return parsePlan(resolve(plan));
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
});

// ---------------------------------------------------------------- the program
const configFile = ts.readConfigFile(abs("tsconfig.json"), ts.sys.readFile).config;
const options = {
  ...ts.parseJsonConfigFileContent(configFile, ts.sys, repo).options,
  lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  allowJs: true,
};
const programFiles = codeFiles.filter((f) => /\.(ts|mts)$/.test(f));
const service = ts.createLanguageService(
  {
    getScriptFileNames: () => programFiles.map(abs),
    getScriptVersion: (f) => String(versions.get(posix.relative(repo, f)) ?? 0),
    getScriptSnapshot: (f) => {
      const own = texts.get(posix.relative(repo, f));
      const text = own ?? ts.sys.readFile(f);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => repo,
    getCompilationSettings: () => options,
    getDefaultLibFileName: (o) => ts.getDefaultLibFilePath(o),
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  },
  ts.createDocumentRegistry(),
);
let program = service.getProgram();
let checker = program.getTypeChecker();
const sourceOf = (path) =>
  program.getSourceFile(abs(path)) ??
  ts.createSourceFile(path, texts.get(path), ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
clock(`program of ${programFiles.length} files`);

const PUBLIC = new Set(["src/index.ts", "src/profile/index.ts", "src/report/index.ts", "src/schema/index.ts"]);
const ENTRIES = [...codeFiles.filter((f) => /^src\/bin\/[^/]+\.ts$/.test(f)), ...PUBLIC].filter((f) => texts.has(f));

function identifiers(node, visit) {
  if (ts.isIdentifier(node)) visit(node);
  ts.forEachChild(node, (child) => identifiers(child, visit));
}

/** The symbol that an identifier stands for, seen from inside its file. */
function symbolAt(id) {
  const { parent } = id;
  if (ts.isShorthandPropertyAssignment(parent) && parent.name === id)
    return checker.getShorthandAssignmentValueSymbol(parent);
  if (ts.isExportSpecifier(parent) && parent.parent.parent.moduleSpecifier === undefined)
    return (parent.propertyName ?? parent.name) === id ? checker.getExportSpecifierLocalTargetSymbol(parent) : undefined;
  return checker.getSymbolAtLocation(id);
}

/** The text that takes an identifier's place when what it stands for is called `name`. */
function renameEdit(id, name) {
  const { parent } = id;
  const edit = (text) => ({ start: id.getStart(), end: id.getEnd(), text });
  if (ts.isShorthandPropertyAssignment(parent) && parent.name === id) return edit(`${id.text}: ${name}`);
  if (ts.isBindingElement(parent) && parent.name === id && !parent.propertyName && !parent.dotDotDotToken && ts.isObjectBindingPattern(parent.parent))
    return edit(`${id.text}: ${name}`);
  if (ts.isExportSpecifier(parent) && !parent.propertyName && !parent.parent.parent.moduleSpecifier)
    return edit(`${name} as ${id.text}`);
  return edit(name);
}

// ---------------------------------------------------------------- symbols
const bySymbolPlace = new Map();
for (const op of ops) if (op.op === "symbol") bySymbolPlace.set(`${op.file} ${op.from}`, op);
if (bySymbolPlace.size > 0) renameSymbols([...bySymbolPlace.values()]);

function renameSymbols(list) {
  const edits = new Map();
  const add = (path, edit) => edits.set(path, [...(edits.get(path) ?? []), edit]);
  const docs = [];
  for (const { file, from, to, place, public: inPublic } of list) {
    if (!texts.has(file)) {
      report.error(`${place}: there is no file ${file} (symbol lines take the path before any move)`);
      continue;
    }
    const sf = sourceOf(file);
    if (from.includes(".")) {
      renameMember(file, sf, from, to, place, add);
      continue;
    }
    const names = sf.statements.flatMap((s) => declaredBy(ts, s)).filter((n) => n.text === from);
    if (names.length === 0) {
      report.error(`${place}: ${file} declares no '${from}' at its top level`);
      continue;
    }
    const declarations = new Set(names.map((n) => n.parent));
    const isIt = (symbol) => symbol?.declarations?.some((d) => declarations.has(d)) === true;
    let count = 0;
    let filesTouched = 0;
    for (const path of programFiles) {
      if (!texts.get(path).includes(from)) continue;
      const inside = program.getSourceFile(abs(path));
      if (!inside) continue;
      const found = [];
      let clash = false;
      identifiers(inside, (id) => {
        if (id.text === to && !ts.isPropertyAccessExpression(id.parent) && !ts.isPropertyAssignment(id.parent)) clash = true;
        if (id.text !== from) return;
        const { parent } = id;
        const isReexport = ts.isExportSpecifier(parent) && parent.parent.parent.moduleSpecifier !== undefined;
        let symbol = symbolAt(id);
        if (!symbol && ts.isExportSpecifier(parent) && parent.name === id) return;
        // An imported name with an alias keeps the alias.
        let stopped = false;
        const steps = new Set();
        while (symbol && !isIt(symbol) && symbol.flags & ts.SymbolFlags.Alias && !steps.has(symbol)) {
          steps.add(symbol);
          const own = symbol.declarations?.[0];
          if (own && own !== parent && !inPublic && ts.isExportSpecifier(own) && PUBLIC.has(posix.relative(repo, own.getSourceFile().fileName))) stopped = true;
          const aliased = own && (ts.isImportSpecifier(own) || ts.isExportSpecifier(own)) && own.propertyName;
          if (aliased && aliased.text !== own.name.text && aliased !== id && own.name.text === from) stopped = true;
          symbol = checker.getImmediateAliasedSymbol(symbol);
        }
        if (stopped || !isIt(symbol)) return;
        if (isReexport && !inPublic && PUBLIC.has(path)) {
          if (!parent.propertyName) found.push({ start: id.getStart(), end: id.getEnd(), text: `${to} as ${from}` });
          else if (parent.propertyName === id) found.push({ start: id.getStart(), end: id.getEnd(), text: to });
          report.add("public names kept", `${path}: ${from} (now ${to} inside)`);
          return;
        }
        if (isReexport) found.push({ start: id.getStart(), end: id.getEnd(), text: to });
        else if (ts.isExportSpecifier(parent) && !parent.propertyName && (inPublic || !PUBLIC.has(path)))
          found.push({ start: id.getStart(), end: id.getEnd(), text: to });
        else found.push(renameEdit(id, to));
      });
      if (found.length === 0) continue;
      if (clash) report.warn(`${place}: ${path} already uses a name '${to}': look whether ${from} > ${to} is captured there`);
      for (const edit of found) add(path, edit);
      count += found.length;
      filesTouched++;
    }
    report.add("symbols", `${from} > ${to}: ${count} places in ${filesTouched} files`);
    docs.push({ from, to });
  }
  for (const [path, list] of edits) set(path, applyEdits(texts.get(path), list, path));
  // Comments that name them.
  for (const path of programFiles) {
    let text = texts.get(path);
    for (const { from, to } of docs) {
      if (!text.includes(from)) continue;
      const isPlain = !/[A-Z_]/.test(from.slice(1));
      if (isPlain && !edits.has(path)) continue;
      text = inComments(path, text, (comment) =>
        comment.replace(new RegExp(`(\`|\\{@link )${from}(?=[\`(.}])`, "g"), `$1${to}`),
      );
    }
    if (text !== texts.get(path)) set(path, text);
  }
  program = service.getProgram();
  checker = program.getTypeChecker();
  clock("symbols renamed");
}

/** `Type.member`: by the language service. */
function renameMember(file, sf, from, to, place, add) {
  const [type, member] = from.split(".");
  const statement = sf.statements.find((s) => declaredBy(ts, s).some((n) => n.text === type));
  let found;
  const visit = (node) => {
    if (!found && "name" in node && node.name && ts.isIdentifier(node.name) && node.name.text === member) found = node.name;
    ts.forEachChild(node, visit);
  };
  if (statement) visit(statement);
  if (!found) return report.error(`${place}: ${file} has no '${from}'`);
  const places = service.findRenameLocations(abs(file), found.getStart(), false, false, { providePrefixAndSuffixTextForRename: true }) ?? [];
  for (const one of places)
    add(posix.relative(repo, one.fileName), {
      start: one.textSpan.start,
      end: one.textSpan.start + one.textSpan.length,
      text: `${one.prefixText ?? ""}${to}${one.suffixText ?? ""}`,
    });
  report.add("symbols", `${from} > ${to}: ${places.length} places`);
}

function set(path, text) {
  texts.set(path, text);
  versions.set(path, (versions.get(path) ?? 0) + 1);
}

/** Ranges of string, template and regular expression literals: what is outside them and looks like a path is a comment. */
function literalRanges(path) {
  const ranges = [];
  const sf = sourceOf(path);
  const visit = (node) => {
    if (ts.isStringLiteralLike(node) || node.kind === ts.SyntaxKind.RegularExpressionLiteral || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node))
      ranges.push({ start: node.getStart(sf), end: node.getEnd(), node });
    else ts.forEachChild(node, visit);
  };
  visit(sf);
  return ranges;
}

/** Replaces in comments only. */
function inComments(path, text, replace) {
  const sf = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const edits = [];
  const seen = new Set();
  const take = (ranges) => {
    for (const { pos, end } of ranges ?? []) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      const before = text.slice(pos, end);
      const after = replace(before);
      if (after !== before) edits.push({ start: pos, end, text: after });
    }
  };
  const visit = (node) => {
    take(ts.getLeadingCommentRanges(text, node.getFullStart()));
    take(ts.getTrailingCommentRanges(text, node.getEnd()));
    for (const child of node.getChildren(sf)) visit(child);
  };
  visit(sf);
  return edits.length === 0 ? text : applyEdits(text, edits, path);
}

// ---------------------------------------------------------------- the layout
let layout;
try {
  layout = layOut(ops, tracked, report);
} catch (error) {
  console.error(error.message);
  process.exit(2);
}
const { groups, where, folders } = layout;
const docOf = new Map();
for (const op of ops)
  if (op.op === "doc") {
    if (!groups.has(op.file)) report.error(`${op.place}: there will be no file ${op.file}`);
    docOf.set(op.file, op.text);
  }
const isMoved = (path) => where.get(path) !== undefined && where.get(path) !== path;
const infos = new Map(codeFiles.map((f) => [f, analyse(ts, f, sourceOf(f))]));
clock("analysed");

/** What an export of a module is in the end. */
function resolveExport(path, name, seen = new Set()) {
  const info = infos.get(path);
  if (info === undefined || seen.has(`${path}#${name}`)) return undefined;
  seen.add(`${path}#${name}`);
  const own = info.declared.get(name);
  if (own?.exported) return { path, name };
  const local = info.localExports.get(name);
  if (local !== undefined) {
    if (info.declared.has(local)) return { path, name: local };
    for (const one of info.imports)
      for (const n of one.named)
        if (n.local === local && one.resolved) return resolveExport(one.resolved, n.imported, seen);
  }
  for (const one of info.exportFroms) {
    const hit = one.named.find((n) => n.exported === name);
    if (hit) return one.resolved ? resolveExport(one.resolved, hit.imported, seen) : undefined;
  }
  for (const one of info.exportFroms)
    if (one.star && one.resolved) {
      const found = resolveExport(one.resolved, name, seen);
      if (found) return found;
    }
  return undefined;
}

// ---------------------------------------------------------------- mentions of paths
const byBasename = new Map();
for (const path of tracked) {
  const name = basename(path);
  byBasename.set(name, [...(byBasename.get(name) ?? []), path]);
}
const PATH = /(?<![\w./@-])(?:[\w.@-]*\/)*[\w.@-]+\.(?:ts|mts|mjs|cjs|json|css|py)(?![\w/-])|(?<![\w./-])(?:src|tests)\/[\w./-]*[\w/]/g;
const folderMap = (token) => {
  const bare = token.replace(/\/$/, "");
  let now = bare;
  for (const { from, to } of folders) {
    if (now === from) now = to;
    else if (now.startsWith(`${from}/`)) now = to + now.slice(from.length);
  }
  return now === bare ? undefined : now + token.slice(bare.length);
};

/**
 * What a token that may name a file is to be instead.
 * @param loose a comment or prose, where parts of paths stand for files
 * @returns the new token, or undefined where it stays
 */
function newMention(token, file, loose) {
  const newFile = where.get(file) ?? file;
  if (where.has(token)) return isMoved(token) ? where.get(token) : undefined;
  if (/^(src|tests)\//.test(token) && !/\.\w+$/.test(token)) return folderMap(token);
  const inSource = `src/${token}`;
  if (token.includes("/") && isMoved(inSource) && where.get(inSource).startsWith("src/")) {
    if (loose || infos.get(file)?.path.startsWith("tests/")) return where.get(inSource).slice("src/".length);
  }
  const dist = /^((?:\.\/)?dist\/)(.*)(\.d\.ts|\.js)$/.exec(token);
  if (dist && isMoved(`src/${dist[2]}.ts`)) return `${dist[1]}${where.get(`src/${dist[2]}.ts`).slice(4, -3)}${dist[3]}`;
  if (!loose) return undefined;
  const beside = join(dirname(file), token);
  let referent = where.has(beside) ? beside : undefined;
  if (referent === undefined && !token.startsWith(".")) {
    const ends = (byBasename.get(basename(token)) ?? []).filter((p) => p.endsWith(`/${token}`) && !isFixture(p));
    if (ends.length === 1) [referent] = ends;
    else if (ends.length > 1 && ends.some(isMoved)) {
      report.add("ambiguous mentions, left", `${file}: '${token}' (${ends.length} files of that name)`);
      return undefined;
    }
  }
  if (referent === undefined || (!isMoved(referent) && !isMoved(file))) return undefined;
  const target = where.get(referent);
  if (target === newFile) {
    report.add("comments that name their own file now", `${newFile}: '${token}'`);
    return basename(target);
  }
  if (!isMoved(referent) && dirname(newFile) === dirname(file)) return undefined;
  if (token.startsWith(".")) return specifier(newFile, target);
  if (dirname(target) === dirname(newFile)) return basename(target);
  const depth = token.split("/").length;
  if (depth === 1 && !file.startsWith("src/")) return basename(target);
  if (dirname(target) === dirname(referent) || !file.startsWith("src/")) {
    const parts = target.split("/");
    if (depth === 1 && dirname(target) !== dirname(referent)) return target.replace(/^src\//, "");
    return parts.slice(-depth).join("/");
  }
  return target.replace(/^src\//, "");
}

const replaceMentions = (text, file, loose) =>
  text.replace(PATH, (token) => {
    const now = newMention(token, file, loose);
    if (now !== undefined && now !== token) report.add("mentions", `${where.get(file) ?? file}: ${token} > ${now}`);
    return now ?? token;
  });

// ---------------------------------------------------------------- edits of what stands in a file
/** New text of a path that is written relative to a file; the end of a template's head may be cut. */
function movedPath(file, written) {
  const target = join(dirname(file), written);
  const clean = target.replace(/\/$/, "");
  let now = where.get(clean);
  if (now === undefined) {
    now = folderMap(clean) ?? clean;
    // A folder whose files all went to one other folder.
    if (now === clean && clean !== "." && !clean.startsWith("..")) {
      const inside = tracked.filter((f) => f.startsWith(`${clean}/`));
      if (inside.length > 0 && inside.every(isMoved))
        report.warn(`${file}: '${written}' names a folder that is empty now`);
    }
  }
  const newFile = where.get(file) ?? file;
  if (newFile === file && now === clean) return written;
  const relative = posix.relative(dirname(newFile), now) || ".";
  const dotted = written.startsWith(".") && !relative.startsWith(".") ? `./${relative}` : relative;
  return written.endsWith("/") && !dotted.endsWith("/") ? `${dotted}/` : dotted;
}

function commonEdits(path) {
  const info = infos.get(path);
  const edits = [];
  const taken = [];
  const put = (node, text) => {
    edits.push({ start: node.getStart(info.sf), end: node.getEnd(), text });
    taken.push(node);
  };
  const newFile = where.get(path);
  for (const { node, spec, resolved, kind } of info.dynamic) {
    taken.push(node);
    if (resolved === null) continue;
    const target = where.get(resolved) ?? folderMap(resolved) ?? resolved;
    const now = specifier(newFile, target, spec);
    if (target === newFile && kind === "import()")
      report.warn(`${newFile} loads itself by import("${spec}") of ${path}: make it a call`);
    if (now !== spec) put(node, JSON.stringify(now));
  }
  for (const { node } of info.urls) {
    taken.push(node);
    const raw = node.getText(info.sf);
    if (ts.isTemplateExpression(node)) {
      const head = node.head.text;
      const at = head.lastIndexOf("/") + 1;
      if (at === 0) continue;
      const now = movedPath(path, head.slice(0, at));
      taken.push(node.head);
      if (now !== head.slice(0, at)) {
        const start = node.getStart(info.sf) + 1;
        edits.push({ start, end: start + at, text: now });
      }
      // What is filled in may name a file that is moved.
      continue;
    }
    const now = movedPath(path, node.text);
    if (now !== node.text) put(node, raw[0] + now + raw.at(-1));
  }
  for (const one of [...info.imports, ...info.exportFroms]) taken.push(one.node.moduleSpecifier);
  const literals = literalRanges(path);
  const skip = taken.map((node) => ({ start: node.getStart(info.sf), end: node.getEnd() }));
  for (const match of info.sf.text.matchAll(PATH)) {
    const [token] = match;
    const start = match.index;
    const end = start + token.length;
    if (skip.some((range) => start >= range.start && end <= range.end)) continue;
    const inLiteral = literals.find((range) => start >= range.start && end <= range.end);
    const now = newMention(token, path, inLiteral === undefined);
    if (now !== undefined && now !== token) {
      edits.push({ start, end, text: now });
      report.add("mentions", `${newFile}: ${token} > ${now}`);
    } else if (inLiteral !== undefined && now === undefined) strangerInString(path, token, inLiteral);
  }
  return edits;
}

/** Names of moved files in strings: programs that tests write, tables of paths, regular expressions. */
function strangerInString(path, token, { node }) {
  if (!/\.ts$/.test(token) || /^(\.{1,2}\/)*(index|main)\.ts$/.test(token)) return;
  const candidates = (byBasename.get(basename(token)) ?? []).filter((f) => isMoved(f) && f.endsWith(`/${token.replace(/^(\.{1,2}\/)+/, "")}`));
  if (candidates.length > 0)
    report.add("look at these strings", `${where.get(path)}: '${token}' in ${node.getText().slice(0, 80).replaceAll("\n", "⏎")}`);
}

// ---------------------------------------------------------------- which exports are used outside
/** decl `path#name` -> targets that use it; decls used in ways that cannot be followed. */
const usersBefore = new Map();
const usersAfter = new Map();
const keepNames = new Map();
function noteUse(path, name, user) {
  const decl = resolveExport(path, name);
  if (!decl) return;
  const key = `${decl.path}#${decl.name}`;
  if (decl.path !== user) usersBefore.set(key, (usersBefore.get(key) ?? new Set()).add(user));
  if (where.get(decl.path) !== where.get(user)) usersAfter.set(key, (usersAfter.get(key) ?? new Set()).add(user));
}
for (const [user, info] of infos) {
  for (const one of info.imports) {
    if (!one.resolved || !infos.has(one.resolved)) continue;
    for (const n of one.named) noteUse(one.resolved, n.imported, user);
    if (one.ns) keepNames.set(one.resolved, [...(keepNames.get(one.resolved) ?? []), user]);
  }
  for (const one of info.exportFroms) {
    if (!one.resolved) continue;
    for (const n of one.named) noteUse(one.resolved, n.imported, user);
    if (one.star) keepNames.set(one.resolved, [...(keepNames.get(one.resolved) ?? []), "*"]);
  }
  for (const one of info.dynamic)
    if (one.resolved) keepNames.set(one.resolved, [...(keepNames.get(one.resolved) ?? []), user]);
  for (const { node } of info.urls)
    if (!ts.isTemplateExpression(node)) {
      const target = join(dirname(user), node.text);
      if (infos.has(target)) keepNames.set(target, [...(keepNames.get(target) ?? []), user]);
    }
}
// Code in strings: a file whose path stands in one keeps what is named there.
for (const user of codeFiles) {
  if (user.startsWith("src/")) continue;
  for (const [, token] of texts.get(user).matchAll(/["'`](?:\.{1,2}\/)*((?:[\w-]+\/)*[\w-]+\.ts)["'`]/g))
    for (const path of byBasename.get(basename(token)) ?? [])
      if (path.endsWith(`/${token}`) && !infos.get(user).imports.some((one) => one.resolved === path))
        keepNames.set(path, [...(keepNames.get(path) ?? []), user]);
}
function mayLoseExport(path, name) {
  const key = `${path}#${name}`;
  if (!usersBefore.has(key) || usersAfter.has(key)) return false;
  if (PUBLIC.has(where.get(path))) return false;
  return !(keepNames.get(path) ?? []).some((user) => user === "*" || new RegExp(`\\b${name}\\b`).test(texts.get(user)));
}

// ---------------------------------------------------------------- imports as data
const emitName = ({ imported, local, typeOnly }, allTypes) =>
  `${typeOnly && !allTypes ? "type " : ""}${imported === local ? local : `${imported} as ${local}`}`;

function emitImport({ spec, defaults, ns, named, bare, attributes, comments }) {
  const lines = [];
  const tail = `from ${JSON.stringify(spec)}${attributes ? ` ${attributes}` : ""};`;
  if (bare && ns.length + named.length + defaults.length === 0) lines.push(`import ${JSON.stringify(spec)};`);
  for (const one of ns) lines.push(`import ${one.typeOnly ? "type " : ""}* as ${one.local} ${tail}`);
  const list = [...new Map(named.map((n) => [`${n.imported} ${n.local}`, n])).values()];
  const allTypes = list.every((n) => n.typeOnly) && list.length > 0;
  const [main, ...others] = defaults;
  for (const one of others) lines.push(`import ${one.typeOnly ? "type " : ""}${one.local} ${tail}`);
  if (main && (main.typeOnly || list.length === 0)) lines.push(`import ${main.typeOnly ? "type " : ""}${main.local} ${tail}`);
  if (list.length > 0) {
    const head = main && !main.typeOnly ? `${main.local}, ` : "";
    const types = allTypes && head === "";
    lines.push(`import ${types ? "type " : ""}${head}{ ${list.map((n) => emitName(n, types)).join(", ")} } ${tail}`);
  }
  return [...(comments ?? []), ...lines].join("\n");
}

/** Adds a name; a value wins over a type of the same name. */
function addNamed(entry, item) {
  const same = entry.named.find((n) => n.imported === item.imported && n.local === item.local);
  if (same) same.typeOnly &&= item.typeOnly;
  else entry.named.push({ ...item });
}
const newEntry = (spec) => ({ spec, defaults: [], ns: [], named: [], bare: false, attributes: "", comments: [] });

function emitExportFroms(list) {
  const lines = [];
  const bySpec = new Map();
  for (const one of list) {
    if (one.star) lines.push(`export ${one.typeOnly ? "type " : ""}* ${one.ns ? `as ${one.ns} ` : ""}from ${JSON.stringify(one.spec)};`);
    else bySpec.set(one.spec, [...(bySpec.get(one.spec) ?? []), ...one.named]);
  }
  for (const [spec, named] of bySpec) {
    const unique = new Map();
    for (const n of named) {
      const before = unique.get(n.exported);
      unique.set(n.exported, before ? { ...before, typeOnly: before.typeOnly && n.typeOnly } : { ...n });
    }
    const items = [...unique.values()];
    const text = (n) => (n.imported === n.exported ? n.exported : `${n.imported} as ${n.exported}`);
    const types = items.filter((n) => n.typeOnly);
    const values = items.filter((n) => !n.typeOnly);
    const from = `from ${JSON.stringify(spec)};`;
    if (types.length > 0) lines.push(`export type { ${types.map(text).join(", ")} } ${from}`);
    if (values.length > 0) lines.push(`export { ${values.map(text).join(", ")} } ${from}`);
  }
  return lines;
}

// ---------------------------------------------------------------- files that are not merged
function rewriteSingle(path) {
  const info = infos.get(path);
  const newFile = where.get(path);
  const edits = commonEdits(path);
  const modules = new Map();
  for (const one of info.imports) {
    if (one.resolved === null) continue;
    const target = where.get(one.resolved) ?? folderMap(one.resolved) ?? one.resolved;
    modules.set(target, [...(modules.get(target) ?? []), one]);
  }
  for (const [target, list] of modules) {
    const spec = specifier(newFile, target);
    const wereApart = new Set(list.map((one) => one.resolved)).size > 1;
    if (list.length > 1 && wereApart && list.every((one) => !one.attributes)) {
      const entry = newEntry(spec);
      for (const one of list) collect(entry, one);
      const [first, ...rest] = list;
      edits.push({ start: first.node.getStart(info.sf), end: first.node.getEnd(), text: emitImport(entry) });
      for (const { node } of rest) edits.push({ ...lineRange(info.sf, node), text: "" });
    } else
      for (const { node, spec: old } of list)
        if (spec !== old)
          edits.push({ start: node.moduleSpecifier.getStart(info.sf), end: node.moduleSpecifier.getEnd(), text: JSON.stringify(spec) });
  }
  const exports = new Map();
  for (const one of info.exportFroms) {
    if (one.resolved === null) continue;
    const target = where.get(one.resolved) ?? one.resolved;
    exports.set(target, [...(exports.get(target) ?? []), one]);
  }
  for (const [target, list] of exports) {
    const spec = specifier(newFile, target);
    const wereApart = new Set(list.map((one) => one.resolved)).size > 1;
    const hasComments = list.slice(1).some(({ node }) => (ts.getLeadingCommentRanges(info.sf.text, node.getFullStart()) ?? []).length > 0);
    if (list.length > 1 && wereApart && !hasComments) {
      const lines = emitExportFroms(list.map((one) => ({ ...one, spec })));
      const [first, ...rest] = list;
      edits.push({ start: first.node.getStart(info.sf), end: first.node.getEnd(), text: lines.join("\n") });
      for (const { node } of rest) edits.push({ ...lineRange(info.sf, node), text: "" });
    } else
      for (const { node, spec: old } of list)
        if (spec !== old)
          edits.push({ start: node.moduleSpecifier.getStart(info.sf), end: node.moduleSpecifier.getEnd(), text: JSON.stringify(spec) });
  }
  let text = applyEdits(info.sf.text, edits, path);
  const doc = docOf.get(newFile);
  if (doc !== undefined) text = withDoc(text, doc, headerEnd(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)));
  return text;
}

function collect(entry, one) {
  if (one.bare) entry.bare = true;
  if (one.default) entry.defaults.push({ local: one.default.text, typeOnly: one.typeOnly });
  if (one.ns) entry.ns.push({ local: one.ns.text, typeOnly: one.typeOnly });
  for (const { imported, local, typeOnly } of one.named) addNamed(entry, { imported, local, typeOnly });
}

/** From a node's first character to the end of its line. */
function lineRange(sf, node) {
  const end = node.getEnd();
  const rest = /^[ \t]*\n?/.exec(sf.text.slice(end))[0].length;
  return { start: node.getStart(sf), end: end + rest };
}

// ---------------------------------------------------------------- headers
/** Where the comment about the file as a whole ends: 0 if it has none. */
function headerEnd(sf) {
  const [first] = sf.statements;
  if (first === undefined) return 0;
  const shebang = /^#!.*\n/.exec(sf.text)?.[0].length ?? 0;
  const comments = (ts.getLeadingCommentRanges(sf.text, shebang) ?? []).filter(({ end }) => end <= first.getStart(sf, false));
  if (comments.length === 0) return 0;
  const isImport = ts.isImportDeclaration(first) || (ts.isExportDeclaration(first) && first.moduleSpecifier !== undefined);
  let last = comments.length - 1;
  if (!isImport) {
    // What stands right above a declaration is about that.
    const gap = (i) => sf.text.slice(comments[i].end, comments[i + 1]?.pos ?? first.getStart(sf, false));
    while (last >= 0 && !/\n\s*\n/.test(gap(last))) last--;
    if (last < 0) return 0;
    // A lone block comment above an undocumented declaration.
    if (last === comments.length - 1 && sf.text.slice(comments[last].pos).startsWith("/**") && comments.length === 1) return comments[last].end;
  }
  return comments[last].end;
}

const wrap = (text, width, prefix) => {
  const lines = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && `${prefix}${line} ${word}`.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
};
const docComment = (text) => {
  if (`/** ${text} */`.length <= 120) return `/** ${text} */`;
  return `/**\n${wrap(text, 120, " * ").map((l) => ` * ${l}`).join("\n")}\n */`;
};
const withDoc = (text, doc, end) => `${docComment(doc)}\n\n${text.slice(end).trimStart()}`.replace(/(\*\/\n)\n(import )/, "$1$2");

/** A file's header as a comment in the middle of another file. */
function sectionComment(header) {
  if (!header.startsWith("/*")) return header;
  return header
    .split(/\n/)
    .map((line) => line.trim().replace(/^\/\*\*?\s?/, "").replace(/\s*\*\/$/, "").replace(/^\*\s?/, ""))
    .filter((line, i, all) => line !== "" || (i > 0 && i < all.length - 1))
    .map((line) => `// ${line}`.trimEnd())
    .join("\n");
}

// ---------------------------------------------------------------- merging
const pascal = (stem) => stem.split(/[^A-Za-z0-9]+/).filter(Boolean).map((w) => w[0].toUpperCase() + w.slice(1)).join("");
function otherName(name, path, isFree) {
  const stem = basename(path).replace(/\.(test|case|slow)?\.?(test\.)?ts$/, "").replace(/\.ts$/, "");
  const folder = basename(dirname(path));
  for (const word of [stem, `${folder}-${stem}`, `${stem}-2`]) {
    const candidate = /^[A-Z0-9_]+$/.test(name)
      ? `${pascal(word).replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toUpperCase()}_${name}`
      : /^[A-Z]/.test(name)
        ? `${pascal(word)}${name}`
        : `${name.replace(/Of$/, "")}Of${pascal(word)}`;
    if (isFree(candidate)) return candidate;
  }
  throw new Error(`no free name for ${name} of ${path}`);
}

const HOOKS = /^(beforeEach|beforeAll|afterEach|afterAll|test|it|suite|bench|onTestFinished)$/;
const rootCallee = (node) => {
  let one = node;
  for (;;) {
    if (ts.isCallExpression(one) || ts.isPropertyAccessExpression(one) || ts.isTaggedTemplateExpression(one))
      one = ts.isTaggedTemplateExpression(one) ? one.tag : one.expression;
    else return ts.isIdentifier(one) ? one.text : undefined;
  }
};
const hasTopAwait = (sf) => {
  let found = false;
  const visit = (node) => {
    if (found || ts.isFunctionLike(node)) return;
    if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) found = true;
    ts.forEachChild(node, visit);
  };
  visit(sf);
  return found;
};

class Part {
  constructor(path, target, isTest) {
    this.path = path;
    this.info = infos.get(path);
    this.sf = this.info.sf;
    this.text = this.sf.text;
    this.final = new Map();
    this.wrapped =
      isTest &&
      ![...this.info.declared.values()].some((d) => d.exported) &&
      this.sf.statements.some((s) => ts.isExpressionStatement(s) && HOOKS.test(rootCallee(s.expression) ?? ""));
    this.collectReferences();
  }
  /** Identifiers that stand for names of the module's scope, by name; all others by text. */
  collectReferences() {
    const { info, sf } = this;
    this.moduleNames = new Map();
    for (const [name, { nodes }] of info.declared) this.moduleNames.set(name, new Set(nodes.map((n) => n.parent)));
    for (const one of info.imports) {
      for (const n of one.named) this.moduleNames.set(n.local, new Set([n.node]));
      if (one.ns) this.moduleNames.set(one.ns.text, new Set([one.ns.parent]));
      if (one.default) this.moduleNames.set(one.default.text, new Set([one.default.parent]));
    }
    this.refs = new Map();
    this.free = new Map();
    this.innerNames = new Set();
    identifiers(sf, (id) => {
      const declarations = this.moduleNames.get(id.text);
      if (declarations !== undefined) {
        const symbol = symbolAt(id);
        if (symbol?.declarations?.some((d) => declarations.has(d))) {
          // `{ a: local }` of a top-level pattern: the property's name is no reference.
          if (ts.isBindingElement(id.parent) && id.parent.propertyName === id) return;
          this.refs.set(id.text, [...(this.refs.get(id.text) ?? []), id]);
          return;
        }
      }
      if (isReference(id)) this.free.set(id.text, [...(this.free.get(id.text) ?? []), id]);
    });
  }
  /** Whether some identifier here stands for a global (or for nothing) of that name. */
  usesGlobal(name) {
    if (this.moduleNames.has(name)) return false;
    return (this.free.get(name) ?? []).some((id) => {
      const symbol = checker.resolveName(name, id, ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Namespace | ts.SymbolFlags.Alias, false);
      return !symbol?.declarations?.some((d) => d.getSourceFile() === this.sf);
    });
  }
  /** Whether a reference to `name`, called `now`, would be taken by a declaration inside. */
  isCaptured(name, now) {
    return (this.refs.get(name) ?? []).some((id) => {
      const symbol = checker.resolveName(now, id, ts.SymbolFlags.Value | ts.SymbolFlags.Type | ts.SymbolFlags.Namespace, true);
      return symbol?.declarations?.some((d) => d.getSourceFile() === this.sf && !this.isTop(d)) === true;
    });
  }
  isTop(declaration) {
    for (let node = declaration; node; node = node.parent) {
      if (node.parent === this.sf) return true;
      if (ts.isFunctionLike(node) || ts.isBlock(node) || ts.isClassLike(node)) return node.parent === this.sf && node === declaration;
    }
    return false;
  }
}

function isReference(id) {
  const { parent } = id;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === id;
  if (ts.isQualifiedName(parent)) return parent.left === id;
  if (ts.isBindingElement(parent)) return parent.initializer === id;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isNamespaceImport(parent) || ts.isImportClause(parent)) return false;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent) || ts.isMetaProperty(parent)) return false;
  if ("name" in parent && parent.name === id) return false;
  return true;
}

const mergedInfo = new Map();

function mergeGroup(target, paths) {
  const isTest = target.startsWith("tests/");
  const parts = paths.map((path) => new Part(path, target, isTest));
  const partOf = new Map(parts.map((p) => [p.path, p]));
  const owners = new Map();
  const isFree = (name, owner) => !owners.has(name) || owners.get(name) === owner;
  const others = (part) => parts.filter((p) => p !== part);
  /** Names that a file may not declare: another part means a global by it. */
  const isGlobalElsewhere = (name, part) => others(part).some((p) => p.usesGlobal(name));
  const inUse = (name) => owners.has(name) || parts.some((p) => p.moduleNames.has(name) || p.free.has(name) || p.sf.text.includes(`${name}`) && new RegExp(`\\b${name.replace("$", "\\$")}\\b`).test(p.sf.text));

  // 1. Exported declarations keep their names.
  for (const part of parts) {
    if (part.wrapped) continue;
    for (const { name, exported } of part.info.declared.values()) {
      if (!exported) continue;
      const owner = `${part.path}#${name}`;
      if (!isFree(name, owner)) report.error(`${target}: ${part.path} and ${owners.get(name).split("#")[0]} both export '${name}': rename one by a symbol line`);
      if (isGlobalElsewhere(name, part)) report.error(`${target}: '${name}' of ${part.path} is a global to another part: rename it by a symbol line`);
      owners.set(name, owner);
      part.final.set(name, name);
    }
  }

  // 2. Imports.
  const entries = new Map();
  const entryFor = (spec) => {
    if (!entries.has(spec)) entries.set(spec, newEntry(spec));
    return entries.get(spec);
  };
  const importedAs = new Map();
  const pendingInside = [];
  const nsEdits = new Map(parts.map((p) => [p, []]));
  const moduleOf = (one) => {
    if (one.resolved === null) return one.spec;
    const now = where.get(one.resolved) ?? folderMap(one.resolved) ?? one.resolved;
    return specifier(target, now, one.spec);
  };
  const claimImport = (part, local, owner, base) => {
    // The same thing under a name that it has already.
    const known = importedAs.get(owner);
    if (known !== undefined && !part.isCaptured(local, known)) return known;
    const isGood = (name) => isFree(name, owner) && !isGlobalElsewhere(name, part) && (name === local || !part.isCaptured(local, name));
    let name = local;
    if (!isGood(name)) {
      const from = base.replace(/\.\w+$/, "");
      name = otherName(local, from, (n) => isGood(n) && !inUse(n));
      report.add("collisions", `${target}: import ${local} of ${part.path} > ${name} (${owners.get(local) ?? "a global elsewhere"})`);
    }
    owners.set(name, owner);
    if (known === undefined) importedAs.set(owner, name);
    return name;
  };
  for (const part of parts) {
    for (const [index, one] of part.info.imports.entries()) {
      const inGroup = one.resolved !== null && partOf.has(one.resolved);
      const spec = moduleOf(one);
      const comments = index === 0 ? [] : (ts.getLeadingCommentRanges(part.text, one.node.getFullStart()) ?? []).map(({ pos, end }) => part.text.slice(pos, end));
      if (one.bare) {
        if (!inGroup) {
          const entry = entryFor(spec);
          entry.bare = true;
          entry.comments.push(...comments);
        }
        continue;
      }
      if (one.ns) {
        if (inGroup) {
          pendingInside.push({ part, ns: one });
        } else {
          const name = claimImport(part, one.ns.text, `${spec}#*`, one.ns.text);
          part.final.set(one.ns.text, name);
          const entry = entryFor(spec);
          const same = entry.ns.find((n) => n.local === name);
          if (same) same.typeOnly &&= one.typeOnly;
          else entry.ns.push({ local: name, typeOnly: one.typeOnly });
        }
      }
      if (one.default) {
        const name = claimImport(part, one.default.text, `${spec}#default`, spec);
        part.final.set(one.default.text, name);
        const entry = entryFor(spec);
        entry.attributes ||= one.attributes;
        const same = entry.defaults.find((n) => n.local === name);
        if (same) same.typeOnly &&= one.typeOnly;
        else entry.defaults.push({ local: name, typeOnly: one.typeOnly });
      }
      for (const n of one.named) {
        const decl = one.resolved !== null ? resolveExport(one.resolved, n.imported) : undefined;
        if (decl && partOf.has(decl.path)) {
          pendingInside.push({ part, local: n.local, decl });
          continue;
        }
        // What a file of the group only passes on is imported from where it is declared.
        const from = inGroup && decl ? specifier(target, where.get(decl.path)) : spec;
        const imported = inGroup && decl ? decl.name : n.imported;
        if (inGroup && !decl) report.error(`${target}: cannot tell what '${n.imported}' of ${one.resolved} is (in ${part.path})`);
        const owner = decl ? `${decl.path}#${decl.name}` : `${spec}#${n.imported}`;
        const name = claimImport(part, n.local, owner, one.resolved ?? spec);
        part.final.set(n.local, name);
        const before = [...entries.values()].find((e) => e.named.some((x) => x.local === name));
        const entry = before ?? entryFor(from);
        entry.attributes ||= one.attributes;
        addNamed(entry, before ? { ...before.named.find((x) => x.local === name), typeOnly: n.typeOnly } : { imported, local: name, typeOnly: n.typeOnly });
        if (comments.length > 0) entry.comments.push(...comments.splice(0));
      }
    }
  }

  // 3. Identical local declarations are kept once; others that collide get another name.
  const inside = new Map();
  for (const { part, local, decl } of pendingInside) if (local) inside.set(`${part.path}#${local}`, `${decl.path}#${decl.name}`);
  const ownerOf = (part, name) => {
    if (part.info.declared.has(name)) return `${part.path}#${name}`;
    const known = inside.get(`${part.path}#${name}`);
    if (known) return known;
    return owners.get(part.final.get(name)) ?? `${part.path}#${name}`;
  };
  const removed = new Map(parts.map((p) => [p, new Set()]));
  const sameAs = new Map();
  const normal = (part, statement) => part.text.slice(statement.getStart(part.sf, false), statement.getEnd()).replace(/\s+/g, " ");
  for (const part of parts) {
    if (part.wrapped) continue;
    for (const d of part.info.declared.values()) {
      if (d.exported) continue;
      const owner = `${part.path}#${d.name}`;
      const twin = parts
        .slice(0, parts.indexOf(part))
        .filter((p) => !p.wrapped)
        .find((p) => {
          const e = p.info.declared.get(d.name);
          if (!e || e.exported || d.statements.length !== e.statements.length) return false;
          if (d.statements.some((s) => declaredBy(ts, s).length !== 1)) return false;
          return d.statements.every((s, i) => {
            const t = e.statements[i];
            if (normal(part, s) !== normal(p, t) || /\blet\b|import\.meta/.test(normal(part, s).slice(0, 4)) || normal(part, s).includes("import.meta.") && dirname(part.path) !== dirname(p.path)) return false;
            const used = (q, node) => {
              const names = [];
              identifiers(node, (id) => {
                if (q.refs.get(id.text)?.includes(id) && id.text !== d.name) names.push(sameAs.get(ownerOf(q, id.text)) ?? ownerOf(q, id.text));
              });
              return names.join();
            };
            return used(part, s) === used(p, t);
          });
        });
      if (twin !== undefined) {
        sameAs.set(owner, sameAs.get(`${twin.path}#${d.name}`) ?? `${twin.path}#${d.name}`);
        for (const s of d.statements) removed.get(part).add(s);
        part.final.set(d.name, twin.final.get(d.name));
        report.add("collisions", `${target}: '${d.name}' is the same in ${twin.path} and ${part.path}: kept once`);
        continue;
      }
      const isGood = (name) => isFree(name, owner) && !isGlobalElsewhere(name, part);
      let name = d.name;
      if (!isGood(name)) {
        const by = owners.get(name) ?? "a global of another part";
        name = otherName(d.name, part.path, (n) => isGood(n) && !inUse(n));
        report.add("collisions", `${target}: '${d.name}' of ${part.path} > ${name} (there is ${by})`);
      }
      owners.set(name, owner);
      part.final.set(d.name, name);
    }
  }

  // 4. What the parts have from each other.
  for (const one of pendingInside) {
    const { part } = one;
    if (one.ns) {
      inlineNamespace(target, part, one.ns, partOf, nsEdits.get(part));
      continue;
    }
    const name = partOf.get(one.decl.path).final.get(one.decl.name) ?? one.decl.name;
    if (partOf.get(one.decl.path).wrapped) report.error(`${target}: ${part.path} imports ${one.decl.name} of a wrapped part`);
    if (name !== one.local && part.isCaptured(one.local, name))
      report.error(`${target}: in ${part.path} '${one.local}' is to be '${name}', which is another name inside: rename by a symbol line`);
    part.final.set(one.local, name);
  }

  // 5. The order: what is evaluated when the module loads must stand behind what it needs.
  const order = orderParts(target, parts, partOf, (part, name) => sameAs.get(ownerOf(part, name)) ?? ownerOf(part, name), removed);

  // 6. The text.
  const exportFroms = [];
  const bodies = [];
  let top = "";
  for (const part of order) {
    const { info, sf, text } = part;
    const edits = [...commonEdits(part.path), ...nsEdits.get(part)];
    const cuts = [];
    for (const [name, ids] of part.refs) {
      const now = part.final.get(name) ?? name;
      if (now === name) continue;
      for (const id of ids) if (!ts.isImportSpecifier(id.parent) && !ts.isImportClause(id.parent) && !ts.isNamespaceImport(id.parent)) edits.push(renameEdit(id, now));
    }
    for (const [index, { node }] of info.imports.entries()) {
      const range = lineRange(sf, node);
      // Comments of an import go with it.
      const comments = index === 0 ? [] : (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []);
      cuts.push({ start: Math.min(range.start, ...comments.map((c) => c.pos)), end: range.end });
    }
    for (const one of info.exportFroms) {
      cuts.push(lineRange(sf, one.node));
      if (one.resolved !== null && partOf.has(one.resolved)) {
        if (one.star) continue;
        for (const n of one.named) {
          const decl = resolveExport(one.resolved, n.imported);
          if (!decl) report.error(`${target}: cannot tell what '${n.imported}' of ${one.resolved} is`);
          else if (!partOf.has(decl.path)) exportFroms.push({ star: false, spec: specifier(target, where.get(decl.path)), named: [{ ...n, imported: decl.name }] });
          else {
            const local = partOf.get(decl.path).final.get(decl.name);
            const usedOutside = [...infos].some(([user, i]) => where.get(user) !== target && [...i.imports, ...i.exportFroms].some((x) => x.resolved === part.path && (x.star || x.ns || x.named.some((y) => y.imported === n.exported))));
            if (local !== n.exported && usedOutside) bodies.push(`export { ${n.typeOnly ? "type " : ""}${local} as ${n.exported} };`);
          }
        }
      } else exportFroms.push({ ...one, spec: moduleOf(one) });
    }
    for (const statement of removed.get(part)) {
      const comments = ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? [];
      const range = lineRange(sf, statement);
      cuts.push({ start: Math.min(range.start, ...comments.map((c) => c.pos)), end: range.end });
    }
    for (const d of info.declared.values()) {
      if (!d.exported || !mayLoseExport(part.path, d.name)) continue;
      for (const s of d.statements) {
        const names = declaredBy(ts, s);
        if (names.some((n) => !mayLoseExport(part.path, n.text))) continue;
        const keyword = (ts.getModifiers(s) ?? []).find((m) => m.kind === ts.SyntaxKind.ExportKeyword);
        if (!keyword) continue;
        const after = /^\s*/.exec(text.slice(keyword.getEnd()))[0].length;
        cuts.push({ start: keyword.getStart(sf), end: keyword.getEnd() + after, small: true });
        report.add("exports dropped", `${target}: ${d.name}`);
      }
    }
    const end = headerEnd(sf);
    const header = end > 0 ? replaceMentions(text.slice(0, end), part.path, true).trim() : "";
    if (end > 0) cuts.push({ start: 0, end });
    const whole = cuts.filter((c) => !c.small);
    const kept = edits.filter((e) => !whole.some((c) => e.start >= c.start && e.end <= c.end));
    const small = cuts.filter((c) => c.small && !whole.some((d) => c.start >= d.start && c.end <= d.end));
    const outer = whole.filter((c) => !whole.some((d) => d !== c && d.start <= c.start && d.end >= c.end));
    let body = applyEdits(text, [...kept, ...small.map((c) => ({ ...c, text: "" })), ...outer.map(({ start, end: e }) => ({ start, end: e, text: "" }))], part.path).trim();
    if (part === order[0] && !docOf.has(target)) top = header;
    else if (header !== "") body = `${sectionComment(header)}\n\n${body}`;
    if (part.wrapped) {
      const stem = basename(part.path).replace(/(\.slow)?\.(test|case|slow)\.ts$/, "").replaceAll("-", " ");
      const isAsync = hasTopAwait(sf);
      body = `describe(${JSON.stringify(stem)}, ${isAsync ? "async " : ""}() => {\n${body}\n});`;
      const vitest = entryFor("vitest");
      addNamed(vitest, { imported: "describe", local: "describe", typeOnly: false });
      if (owners.has("describe") && owners.get("describe") !== "vitest#describe") report.error(`${target}: 'describe' means something else`);
      if (/toMatchSnapshot\(/.test(text)) report.warn(`${target}: names of the snapshots of ${part.path} change: its tests stand in a describe now`);
    }
    bodies.push(body);
  }
  for (const one of exportFroms) if (one.resolved === undefined && one.spec === specifier(target, target)) report.error(`${target}: exports from itself`);
  const imports = [...entries.values()].map(emitImport).filter(Boolean);
  const doc = docOf.get(target);
  if (doc !== undefined) top = docComment(doc);
  const fromLines = emitExportFroms(exportFroms);
  const pieces = [];
  const head = [...(imports.length > 0 ? [imports.join("\n")] : []), ...(fromLines.length > 0 ? [fromLines.join("\n")] : [])].join("\n\n");
  if (top !== "") pieces.push(head === "" ? top : `${top}\n${head}`);
  else if (head !== "") pieces.push(head);
  const text = `${[...pieces, ...bodies.filter((b) => b !== "")].join("\n\n")}\n`;
  if (parts.some((p) => p.info.hasImportMeta && p.info.urls.length === 0)) report.add("look at import.meta", target);
  return text;
}

/** `refuse.x` of `import * as refuse from "./refusals.ts"`, once both are one file. */
function inlineNamespace(target, part, one, partOf, edits) {
  for (const id of part.refs.get(one.ns.text) ?? []) {
    const { parent } = id;
    if (ts.isNamespaceImport(parent)) continue;
    const member = ts.isPropertyAccessExpression(parent) && parent.expression === id ? parent.name : ts.isQualifiedName(parent) && parent.left === id ? parent.right : undefined;
    const decl = member && resolveExport(one.resolved, member.text);
    if (!decl || !partOf.has(decl.path)) {
      report.error(`${target}: ${part.path} uses the namespace ${one.ns.text} of ${one.resolved} in a way that cannot be inlined`);
      return;
    }
    const name = partOf.get(decl.path).final.get(decl.name) ?? decl.name;
    const symbol = checker.resolveName(name, id, ts.SymbolFlags.Value | ts.SymbolFlags.Type, true);
    if (symbol?.declarations?.some((d) => d.getSourceFile() === part.sf))
      report.error(`${target}: ${part.path}: ${id.text}.${member.text} is to be '${name}', which is another name there`);
    edits.push({ start: parent.getStart(part.sf), end: parent.getEnd(), text: name });
  }
}

/** What the evaluation of a node needs at once, and what functions in it need when they are called. */
function evaluation(part, node, eager, isTop = false) {
  const now = new Set();
  const called = new Set();
  const later = new Set();
  const visit = (one, isNow) => {
    if (ts.isTypeNode(one) || ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) return;
    if (ts.isIdentifier(one)) {
      if (part.refs.get(one.text)?.includes(one) && !isDeclarationName(one)) {
        (isNow ? now : later).add(one.text);
        if (isNow && (ts.isCallExpression(one.parent) || ts.isNewExpression(one.parent))) called.add(one.text);
      }
      return;
    }
    if (ts.isCallExpression(one) || ts.isNewExpression(one)) {
      visit(one.expression, isNow);
      const callee = ts.isParenthesizedExpression(one.expression) ? one.expression.expression : one.expression;
      if (isNow && (ts.isArrowFunction(callee) || ts.isFunctionExpression(callee))) visit(callee.body, true);
      for (const argument of one.arguments ?? []) {
        if (isNow && (ts.isArrowFunction(argument) || ts.isFunctionExpression(argument))) visit(argument.body, true);
        else visit(argument, isNow);
      }
      return;
    }
    if (ts.isFunctionLike(one)) {
      for (const p of one.parameters) visit(p, false);
      if (one.body) visit(one.body, false);
      return;
    }
    if (ts.isClassLike(one)) {
      for (const h of one.heritageClauses ?? []) if (h.token === ts.SyntaxKind.ExtendsKeyword) for (const t of h.types) visit(t.expression, isNow);
      for (const m of one.members) {
        if (m.name && ts.isComputedPropertyName(m.name)) visit(m.name, isNow);
        const isStatic = ts.canHaveModifiers(m) && (ts.getModifiers(m) ?? []).some((x) => x.kind === ts.SyntaxKind.StaticKeyword);
        if (ts.isPropertyDeclaration(m) && m.initializer) visit(m.initializer, isNow && isStatic);
        else if (ts.isClassStaticBlockDeclaration(m)) visit(m.body, isNow);
        else if (m.body) for (const x of [...(m.parameters ?? []), m.body]) visit(x, false);
      }
      return;
    }
    ts.forEachChild(one, (child) => visit(child, isNow));
  };
  if (ts.isFunctionDeclaration(node)) {
    for (const p of node.parameters) visit(p, false);
    if (node.body) visit(node.body, false);
  } else visit(node, eager);
  return { now, called, later };
}
const isDeclarationName = (id) => "name" in id.parent && id.parent.name === id && !ts.isPropertyAccessExpression(id.parent) && !ts.isShorthandPropertyAssignment(id.parent);

function orderParts(target, parts, partOf, ownerOf, removed) {
  /** owner -> {part, statement index, hoisted, later: owners} */
  const owned = new Map();
  const evaluated = [];
  for (const part of parts) {
    if (part.wrapped) {
      evaluated.push({ part, index: 0, now: new Set(), called: new Set() });
      continue;
    }
    for (const [index, statement] of part.sf.statements.entries()) {
      if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) || removed.get(part).has(statement)) continue;
      const { now, called, later } = evaluation(part, statement, true);
      const asOwners = (names) => new Set([...names].map((n) => ownerOf(part, n)));
      const entry = { part, index, now: asOwners(now), called: asOwners(called), later: asOwners(later), statement };
      evaluated.push(entry);
      for (const name of declaredBy(ts, statement))
        owned.set(ownerOf(part, name.text), { ...entry, hoisted: ts.isFunctionDeclaration(statement) || ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) });
    }
  }
  /** Everything that must be initialised before an entry is evaluated. */
  const needs = (entry) => {
    const needed = new Set();
    const seen = new Set();
    const call = (owner) => {
      if (seen.has(owner)) return;
      seen.add(owner);
      const one = owned.get(owner);
      if (!one) return;
      for (const inner of one.later) {
        needed.add(inner);
        call(inner);
      }
    };
    for (const owner of entry.now) needed.add(owner);
    for (const owner of entry.called) call(owner);
    return needed;
  };
  const edges = new Map(parts.map((p) => [p, new Map()]));
  for (const entry of evaluated)
    for (const owner of needs(entry)) {
      const one = owned.get(owner);
      if (one && !one.hoisted && one.part !== entry.part) edges.get(entry.part).set(one.part, owner);
    }
  const order = [];
  const state = new Map();
  const visit = (part, trail) => {
    if (state.get(part) === "done") return;
    if (state.get(part) === "open") {
      report.error(`${target}: ${[...trail.slice(trail.indexOf(part)), part].map((p) => basename(p.path)).join(" and ")} need each other while they load (${[...edges.get(trail.at(-1)).values()].join(", ")})`);
      return;
    }
    state.set(part, "open");
    for (const next of parts) if (edges.get(part).has(next)) visit(next, [...trail, part]);
    state.set(part, "done");
    order.push(part);
  };
  for (const part of parts) visit(part, []);
  if (order.some((p, i) => p !== parts[i])) {
    const why = parts.flatMap((p) => [...edges.get(p)].filter(([q]) => parts.indexOf(q) > parts.indexOf(p)).map(([q, owner]) => `${basename(q.path)} before ${basename(p.path)} (${owner.split("#")[1]})`));
    report.add("order changed (evaluated while loading)", `${target}: ${why.join("; ")}`);
  }
  return order;
}

// ---------------------------------------------------------------- all files
const outputs = new Map();
const gone = [];
for (const [target, paths] of groups) {
  const moved = paths.length > 1 || paths[0] !== target;
  for (const path of paths) if (path !== target && !groups.has(path)) gone.push(path);
  if (!infos.has(paths[0])) {
    if (paths.length > 1) {
      report.error(`${target}: only code can be merged (${paths[0]})`);
      continue;
    }
    if (moved) outputs.set(target, { from: paths[0] });
    continue;
  }
  try {
    const text = paths.length > 1 ? mergeGroup(target, paths) : rewriteSingle(paths[0]);
    if (moved || text !== originalTexts.get(paths[0])) outputs.set(target, { text });
    const single = infos.get(paths[0]);
    if (moved && paths.length === 1 && single.hasImportMeta && single.urls.length === 0 && target.startsWith("src/")) report.add("look at import.meta", target);
  } catch (error) {
    report.error(`${target}: ${error.stack?.split("\n").slice(0, 4).join(" | ") ?? error}`);
  }
}
// Prose and settings.
const anyMoved = [...where].some(([from, to]) => from !== to);
if (anyMoved)
  for (const path of tracked) {
    if (infos.has(path) || isFixture(path) || /^native\/.*\.(cc|hpp|h|cu)$/.test(path)) continue;
    if (!/\.(md|json|yml|yaml|py|sh|gyp|jsonc|svg|css|txt)$|^\.\w/.test(path) || /\.svg$/.test(path)) continue;
    const full = abs(path);
    if (!existsSync(full) || statSync(full).size > 1 << 20) continue;
    const before = readFileSync(full, "utf8");
    const after = replaceMentions(before, path, path.endsWith(".md"));
    const target = where.get(path) ?? path;
    if (after !== before) outputs.set(target, { text: after });
    // A moved settings file names what is beside it.
    if (isMoved(path) && path.endsWith(".json")) report.add("look at moved settings", `${path} > ${target}`);
  }
clock("rewritten");

// ---------------------------------------------------------------- graphs
const valueEdges = new Map();
const lazyEdges = [];
const packagesOf = new Map();
for (const [path, info] of infos) {
  const out = new Set();
  const packages = new Set();
  for (const one of info.imports) if (isValueImport(one)) one.resolved ? out.add(one.resolved) : packages.add(one.spec);
  for (const one of info.exportFroms) if (isValueExport(one)) one.resolved ? out.add(one.resolved) : packages.add(one.spec);
  for (const one of info.dynamic)
    if (one.kind === "import()") one.resolved ? lazyEdges.push([path, one.resolved]) : packages.add(`lazy ${one.spec}`);
  valueEdges.set(path, out);
  packagesOf.set(path, packages);
}
const afterEdges = new Map();
for (const [path, out] of valueEdges) {
  const from = where.get(path);
  const edges = afterEdges.get(from) ?? new Set();
  for (const to of out) {
    const target = where.get(to) ?? to;
    if (target !== from) edges.add(target);
  }
  afterEdges.set(from, edges);
}
const partsOf = (targets) => [...targets].flatMap((t) => groups.get(t) ?? [t]);
const HEAVY = /^(ajv|ajv-formats|execa|node-sqlite3-wasm|pbf|json-schema-to-typescript|node-gyp|playwright-core|d3-|yargs|fast-glob|yaml|deepmerge-ts)/;

if (anyMoved) {
  // New cycles.
  const before = components(valueEdges.keys(), valueEdges);
  const after = components(afterEdges.keys(), afterEdges);
  const seen = new Set();
  for (const [target, members] of after) {
    if (members.length < 2 || seen.has(members) || !members.some((m) => m.startsWith("src/"))) continue;
    seen.add(members);
    const inside = new Set(members);
    const isOld = [...before.values()].some((old) => old.length > 1 && members.every((m) => old.some((p) => where.get(p) === m)));
    if (isOld) continue;
    const arrow = (from, to) => {
      const [a, b] = (groups.get(from) ?? []).flatMap((p) => [...valueEdges.get(p)].filter((q) => where.get(q) === to).map((q) => [p, q]))[0] ?? [];
      return `      ${from} -> ${to}${a !== from || b !== to ? `   (${a} -> ${b})` : ""}`;
    };
    const merged = members.filter((m) => (groups.get(m)?.length ?? 1) > 1);
    const cycles = new Map();
    for (const member of merged.length > 0 ? merged : members) {
      const cycle = shortestCycle(member, afterEdges, inside);
      if (cycle) cycles.set([...cycle].sort().join(), cycle);
    }
    const shortest = [...cycles.values()].sort((a, b) => a.length - b.length).slice(0, 12);
    report.add("NEW IMPORT CYCLES", `${members.length} files: ${members.slice(0, 8).join(", ")}${members.length > 8 ? ", …" : ""}\n${shortest.map((c) => `    cycle of ${c.length}:\n${c.map((m, i) => arrow(m, c[(i + 1) % c.length])).join("\n")}`).join("\n")}`);
    for (const member of members)
      for (const path of groups.get(member) ?? []) {
        if (!/\.m?ts$/.test(path)) continue;
        const part = new Part(path, member, false);
        for (const statement of part.sf.statements) {
          if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) continue;
          const { now } = evaluation(part, statement, true);
          for (const one of part.info.imports)
            for (const n of one.named) {
              if (!now.has(n.local) || !one.resolved) continue;
              const decl = resolveExport(one.resolved, n.imported);
              const home = decl && where.get(decl.path);
              if (home && home !== member && inside.has(home)) (allowCycles ? report.warn : report.error)(`cycle: ${member} evaluates '${n.local}' of ${home} while it loads, and they import each other now (${path}); --allow-cycles if that cannot fail`);
            }
        }
      }
  }
  // What is loaded with the entries.
  const lines = (paths) => paths.reduce((sum, p) => sum + (texts.get(p)?.split("\n").length ?? 1) - 1, 0);
  for (const entry of [...new Set(ENTRIES)]) {
    const was = closure([entry], valueEdges);
    const now = new Set(partsOf(closure([where.get(entry)], afterEdges)));
    const added = [...now].filter((p) => !was.has(p) && infos.has(p));
    const addedValue = added.filter((p) => !isTypesOnly(p));
    const heavy = [...new Set(added.flatMap((p) => [...(packagesOf.get(p) ?? [])]))].filter((n) => !n.startsWith("node:") && !n.startsWith("lazy ") && ![...was].some((w) => packagesOf.get(w)?.has(n)));
    report.add("loaded with each entry", `${entry}: ${[...was].filter((p) => infos.has(p)).length} files, ${lines([...was])} lines; the plan adds ${addedValue.length} files, ${lines(addedValue)} lines${addedValue.length > 0 ? `: ${addedValue.slice(0, 12).join(" ")}${addedValue.length > 12 ? " …" : ""}` : ""}`);
    for (const name of heavy) report.warn(`${entry} now loads the package ${name} at its start`);
  }
  for (const [from, to] of lazyEdges) {
    if (!from.startsWith("src/")) continue;
    const wasStatic = closure([from], valueEdges).has(to);
    const home = where.get(to) ?? to;
    const nowClosure = closure([where.get(from)], afterEdges);
    if (!wasStatic && (nowClosure.has(home) || home === where.get(from)))
      report.warn(`the lazy boundary ${from} -> import("${to}") is lost: ${where.get(from)} loads ${home} statically`);
    const packages = (paths) => new Set([...paths].flatMap((p) => [...(packagesOf.get(p) ?? [])].filter((n) => HEAVY.test(n))));
    const old = packages(closure([to], valueEdges));
    for (const name of packages(partsOf(closure([home], afterEdges)))) if (!old.has(name)) report.warn(`import("${to}") of ${from} now loads the package ${name}`);
  }
  // The page's script is compiled without Node's types, with all that it imports, types included.
  const client = codeFiles.filter((f) => /^src\/report\/client\//.test(f));
  const allEdges = new Map();
  const allAfter = new Map();
  for (const [path, info] of infos) {
    const out = [...info.imports, ...info.exportFroms].flatMap((o) => (o.resolved && infos.has(o.resolved) ? [o.resolved] : []));
    allEdges.set(path, out);
    const home = where.get(path);
    allAfter.set(home, new Set([...(allAfter.get(home) ?? []), ...out.map((o) => where.get(o)).filter((o) => o !== home)]));
  }
  const usesNode = (p) => infos.get(p)?.imports.some((i) => i.spec.startsWith("node:")) || /\b(Buffer\.|NodeJS\.|process\.)/.test(texts.get(p) ?? "");
  const reachedBefore = closure(client, allEdges);
  for (const home of closure(client.map((f) => where.get(f)), allAfter)) {
    const bad = (groups.get(home) ?? []).filter((p) => !reachedBefore.has(p) && usesNode(p));
    if (bad.length === 0) continue;
    const from = new Map();
    const queue = [...new Set(client.map((f) => where.get(f)))];
    for (const one of queue)
      for (const next of allAfter.get(one) ?? [])
        if (!from.has(next) && !queue.includes(next)) {
          from.set(next, one);
          queue.push(next);
        }
    const way = [home];
    while (from.has(way[0])) way.unshift(from.get(way[0]));
    report.error(`the browser's script now imports code for Node: ${way.join(" -> ")} (${bad.slice(0, 3).join(", ")})`);
  }
  // Folders of a room that import each other, types and imports on demand included.
  const everyEdge = new Map([...allAfter].map(([from, to]) => [from, new Set(to)]));
  for (const [from, to] of lazyEdges) {
    const home = where.get(from);
    if (where.get(to) !== home) everyEdge.set(home, (everyEdge.get(home) ?? new Set()).add(where.get(to) ?? to));
  }
  for (const room of ["src", "src/app", "src/cli", "src/job", "src/sweep", "src/launch", "src/plugins", "src/profile", "src/report"]) {
    const folderOf = (p) => (p.startsWith(`${room}/`) ? (p.slice(room.length + 1).includes("/") ? p.slice(room.length + 1).split("/")[0] : ".") : undefined);
    const arrows = new Map();
    for (const [from, targets] of everyEdge)
      for (const to of targets) {
        const [a, b] = [folderOf(from), folderOf(to)];
        if (a !== undefined && b !== undefined && a !== b) arrows.set(`${a} ${b}`, [...(arrows.get(`${a} ${b}`) ?? []), `${from} -> ${to}`]);
      }
    for (const [name, there] of arrows) {
      const [a, b] = name.split(" ");
      const back = arrows.get(`${b} ${a}`);
      if (back === undefined || a > b) continue;
      const few = there.length <= back.length ? there : back;
      report.add("folders that import each other after the plan", `${room}: ${a} and ${b} (${there.length} and ${back.length}): ${few.slice(0, 4).join(", ")}${few.length > 4 ? ", …" : ""}`);
    }
  }
  const importers = new Map();
  for (const [from, targets] of everyEdge) if (from.startsWith("src/")) for (const to of targets) importers.set(to, (importers.get(to) ?? 0) + 1);
  const once = [...importers].filter(([p, n]) => n === 1 && /^src\/.*\.ts$/.test(p)).length;
  report.add("imported by one file only, after the plan", String(once));
  // Names of moved files that no rule has met: in scripts and tests, as parts of patterns.
  for (const path of codeFiles) {
    if (!/^(scripts|tests|bench)\//.test(path)) continue;
    const text = outputs.get(where.get(path))?.text ?? texts.get(path);
    for (const [, pattern] of text.matchAll(/((?:[\w-]+(?:\\?\/|\[\\\\\/\]))+(?:[\w-]+|\([\w|/-]+\)))(?:\\\.ts|\\b|\$|\\\/)/g)) {
      const plain = pattern.replaceAll(/\\\/|\[\\\\\/\]/g, "/");
      const stem = plain.split("/").at(-1);
      const hits = [...where].filter(([f, t]) => f !== t && f.startsWith("src/") && stem.replace(/[()]/g, "").split("|").some((s) => f.includes(`/${s}.ts`) || f.includes(`/${s}/`)) && f.includes(plain.split("/").slice(0, -1).join("/").replace(/^src\//, "")));
      if (hits.length > 0) report.add("patterns that may name moved files", `${where.get(path)}: ${pattern}`);
    }
  }
}
function shortestCycle(start, edges, inside) {
  const from = new Map();
  const queue = [start];
  for (const one of queue)
    for (const next of edges.get(one) ?? []) {
      if (!inside.has(next)) continue;
      if (next === start) {
        const path = [one];
        while (path[0] !== start) path.unshift(from.get(path[0]));
        return path;
      }
      if (from.has(next)) continue;
      from.set(next, one);
      queue.push(next);
    }
  return undefined;
}
function isTypesOnly(path) {
  return infos.get(path).sf.statements.every((s) => ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s) || (ts.isImportDeclaration(s) && !isValueImport(infos.get(path).imports.find((i) => i.node === s))) || (ts.isExportDeclaration(s) && s.isTypeOnly));
}
clock("graphs");

// ---------------------------------------------------------------- writing
const sizes = (list) => list.map((t) => (t.match(/\n/g) ?? []).length).sort((a, b) => a - b);
const median = (list) => list[Math.floor(list.length / 2)];
function statistics() {
  const was = sizes(tracked.filter((f) => /^src\/.*\.ts$/.test(f)).map((f) => originalTexts.get(f)));
  const now = sizes([...groups].filter(([t]) => /^src\/.*\.ts$/.test(t)).map(([t, p]) => outputs.get(t)?.text ?? texts.get(p[0])));
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  report.add("src", `files ${was.length} > ${now.length}, median ${median(was)} > ${median(now)} lines, largest ${was.at(-1)} > ${now.at(-1)}, lines ${sum(was)} > ${sum(now)}`);
  for (const [target, paths] of groups) {
    if (paths.length < 2 && !docOf.has(target)) continue;
    const lines = (outputs.get(target)?.text?.match(/\n/g) ?? []).length;
    report.add("merged", `${target}: ${lines} lines from ${paths.length} files${target.startsWith("src/") && lines > 450 ? "   TOO LONG (450)" : ""}`);
  }
}
statistics();
const failed = report.sections.has("ERROR");

function printReport() {
  const first = ["ERROR", "WARN", "NEW IMPORT CYCLES"];
  const names = [...first.filter((n) => report.sections.has(n)), ...[...report.sections.keys()].filter((n) => !first.includes(n))];
  for (const name of names) {
    const lines = report.sections.get(name);
    console.log(`\n## ${name} (${lines.length})`);
    const most = quiet && !first.includes(name) ? 12 : 400;
    for (const line of lines.slice(0, most)) console.log(`  ${line}`);
    if (lines.length > most) console.log(`  … ${lines.length - most} more`);
  }
}

if (failed || dry) {
  printReport();
  console.log(failed ? "\nNothing was written: see ERROR." : "\nNothing was written (--dry).");
  process.exit(failed ? 1 : 0);
}
for (const [target, { from }] of outputs)
  if (from !== undefined) {
    mkdirSync(dirname(abs(target)), { recursive: true });
    git("mv", from, target);
  }
for (const path of gone) if (texts.has(path) || existsSync(abs(path))) rmSync(abs(path), { force: true });
for (const [target, { text }] of outputs)
  if (text !== undefined) {
    mkdirSync(dirname(abs(target)), { recursive: true });
    writeFileSync(abs(target), text);
  }
git("add", "-A");
clock("written");
const touched = [...outputs].filter(([t, o]) => o.text !== undefined && /\.(ts|mts|mjs|cjs|json)$/.test(t) && !isFixture(t)).map(([t]) => t);
let ok = true;
for (let at = 0; at < touched.length; at += 200) {
  const { status, stdout, stderr } = spawnSync("npx", ["biome", "check", "--write", "--colors=off", "--max-diagnostics=50", ...touched.slice(at, at + 200)], { cwd: repo, encoding: "utf8" });
  if (status !== 0) {
    ok = false;
    report.add("BIOME", (stdout + stderr).trim());
  }
}
git("add", "-A");
clock("biome");
if (!noCheck) {
  for (const config of ["tsconfig.json", ...tracked.filter((f) => /^src\/.*tsconfig\.json$/.test(f)).map((f) => where.get(f))]) {
    const { status, stdout } = spawnSync(process.execPath, [abs("node_modules/typescript/bin/tsc"), "-p", config, "--noEmit", "--pretty", "false", "--incremental", "--tsBuildInfoFile", `FILE${(repo + config).replace(/\W/g, "_")}.tsbuildinfo`], { cwd: repo, encoding: "utf8" });
    if (status !== 0) {
      ok = false;
      report.add("TSC", `${config}:\n${stdout.trim()}`);
    }
    clock(`tsc ${config}`);
  }
}
report.sections.delete("src");
report.sections.delete("merged");
for (const [target] of groups) {
  const now = existsSync(abs(target)) && outputs.get(target)?.text !== undefined ? readFileSync(abs(target), "utf8") : undefined;
  if (now !== undefined) outputs.set(target, { text: now });
}
statistics();
printReport();
console.log(ok ? "\nWritten and staged; not committed." : "\nWritten and staged, with errors: see BIOME and TSC.");
process.exit(ok ? 0 : 1);
