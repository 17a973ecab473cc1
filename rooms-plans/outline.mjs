#!/usr/bin/env node
// node outline.mjs FOLDER|FILE... [--repo DIR] [--flat] [--doc]: a sheet of a folder's files for whoever plans it.
//   --doc   with the first sentence of each export's comment
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { posix, resolve } from "node:path";
import { importersOf, loadedWith, readSources } from "./lib/measures.mjs";
import { analyse, declaredBy, hasExport } from "./lib/source.mjs";

const argv = process.argv.slice(2);
const at = argv.indexOf("--repo");
const repo = resolve(at < 0 ? "." : argv.splice(at, 2)[1]);
const withDocs = argv.includes("--doc");
const wanted = argv.filter((a) => !a.startsWith("--")).map((a) => a.replace(/\/$/, ""));
if (wanted.length === 0) {
  console.error("usage: outline.mjs FOLDER|FILE... [--repo DIR] [--doc]");
  process.exit(2);
}
const ts = createRequire(posix.join(repo, "package.json"))("typescript");
const sources = readSources(repo);
const importers = importersOf(sources);
const { dirname, relative } = posix;
const entry = loadedWith(sources, "src/bin/hydraconf.ts");
const profiler = loadedWith(sources, "src/bin/deep-profile.ts");
const lazy = new Map();
const read = (path) => {
  const text = readFileSync(posix.join(repo, path), "utf8");
  return { text, sf: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
};
for (const path of sources.keys())
  for (const one of analyse(ts, path, read(path).sf).dynamic)
    if (one.kind === "import()" && one.resolved) lazy.set(one.resolved, [...(lazy.get(one.resolved) ?? []), path]);

const firstSentence = (comment) => {
  const plain = comment
    .replace(/^\/\*\*?|\*\/$/g, "")
    .split("\n")
    .map((l) => l.replace(/^\s*(\*|\/\/)\s?/, "").trim())
    .join(" ")
    .replace(/^\/\/\s*/, "")
    .trim();
  return (/^(.*?[.:])(\s|$)/.exec(plain)?.[1] ?? plain).slice(0, 140);
};
const docOf = (text, node) => {
  const ranges = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  return ranges.length === 0 ? "" : firstSentence(text.slice(ranges.at(-1).pos, ranges.at(-1).end));
};
const kindOf = (node) =>
  ts.isFunctionDeclaration(node) ? "fn"
  : ts.isClassDeclaration(node) ? "class"
  : ts.isInterfaceDeclaration(node) ? "iface"
  : ts.isTypeAliasDeclaration(node) ? "type"
  : ts.isEnumDeclaration(node) ? "enum"
  : ts.isVariableStatement(node)
    ? node.declarationList.declarations.some((d) => d.initializer && ts.isArrowFunction(d.initializer)) ? "fn" : "const"
    : "?";
const isIn = (path) => wanted.some((w) => path === w || path.startsWith(`${w}/`));
const files = [...sources.keys()].filter(isIn).sort((a, b) => dirname(a).localeCompare(dirname(b)) || a.localeCompare(b));
let total = 0;
const folderTotals = new Map();
let folder;
for (const path of files) {
  const { lines, imports } = sources.get(path);
  total += lines;
  folderTotals.set(dirname(path), (folderTotals.get(dirname(path)) ?? 0) + lines);
  if (folder !== dirname(path)) {
    folder = dirname(path);
    const own = files.filter((f) => dirname(f) === folder);
    console.log(`\n=== ${folder}: ${own.length} files, ${own.reduce((n, f) => n + sources.get(f).lines, 0)} lines`);
  }
  const { text, sf } = read(path);
  const info = analyse(ts, path, sf);
  const first = sf.statements[0];
  const comments = first ? (ts.getLeadingCommentRanges(text, first.getFullStart()) ?? []) : [];
  const header = comments.length > 1 || ts.isImportDeclaration(first) || ts.isExportDeclaration(first) ? comments[0] : undefined;
  const mark = entry.has(path) ? " [start]" : profiler.has(path) ? " [dp-start]" : "";
  const isTypes = sf.statements.every((s) => ts.isInterfaceDeclaration(s) || ts.isTypeAliasDeclaration(s) || ts.isImportDeclaration(s));
  const short = (p) => (dirname(p) === folder ? posix.basename(p, ".ts") : p.replace(/^src\//, "").replace(/\.ts$/, ""));
  const users = importers.get(path) ?? [];
  const list = users.length <= 3 ? users.map(short).join(", ") : `${users.length} (${[...new Set(users.map((u) => (dirname(u) === folder ? "here" : dirname(u).replace(/^src\//, ""))))].slice(0, 6).join(", ")})`;
  console.log(`${posix.basename(path)} ${lines}${mark}${isTypes ? " [types]" : ""}${lazy.has(path) ? ` [lazy from ${lazy.get(path).map(short).join(", ")}]` : ""}   <- ${users.length === 0 ? "nobody" : list}`);
  if (header && header.end < (first.getStart(sf) ?? 0)) console.log(`    ${firstSentence(text.slice(header.pos, header.end))}`);
  const exported = sf.statements.filter((s) => hasExport(ts, s));
  if (withDocs) for (const s of exported) console.log(`    ${kindOf(s)} ${declaredBy(ts, s).map((n) => n.text).join(", ")}: ${docOf(text, s)}`);
  else if (exported.length > 0) console.log(`    ${exported.map((s) => `${kindOf(s)} ${declaredBy(ts, s).map((n) => n.text).join(",")}`).join("; ")}`);
  for (const one of info.exportFroms) console.log(`    re-exports ${one.star ? "*" : one.named.map((n) => n.exported).join(", ")} of ${one.spec}`);
  const here = imports.filter((i) => dirname(i.path) === folder).map((i) => short(i.path));
  const away = imports.filter((i) => dirname(i.path) !== folder).map((i) => short(i.path));
  const packages = [...new Set(info.imports.filter((i) => i.resolved === null).map((i) => i.spec))];
  if (here.length + away.length + packages.length > 0)
    console.log(`    uses ${[here.length > 0 ? `here: ${here.join(" ")}` : "", away.length > 0 ? `away: ${away.join(" ")}` : "", packages.length > 0 ? `pkg: ${packages.join(" ")}` : ""].filter(Boolean).join(" | ")}`);
}
console.log(`\n${files.length} files, ${total} lines`);
