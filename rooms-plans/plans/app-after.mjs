#!/usr/bin/env node
// node app-after.mjs REPO: what app.plan cannot do, after it is applied: declarations that move to the room of their users and texts
// of two tests. Says what it does not find. Afterwards:
// npx biome check --write --unsafe --only=correctness/noUnusedImports src, then npx biome check --write src tests.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix, resolve } from "node:path";

const repo = resolve(process.argv[2] ?? ".");
const ts = createRequire(join(repo, "package.json"))("typescript");

/** What moves: from, to, names. */
const MOVES = [
  ["src/cli/arguments/parse-argv.ts", "src/job/session.ts", ["ParsedArguments"]],
  ["src/cli/arguments/subcommand.ts", "src/job/options.ts", ["Subcommand", "SubcommandLine", "SubcommandOption"]],
  ["src/record/job-selection.ts", "src/job/process/invocation.ts", ["Resumption"]],
  ["src/launch/launcher.ts", "src/job/plan-job.ts", ["SweepJob"]],
  ["src/cli/show-config.ts", "src/job/hydra-values.ts", ["without"]],
  ["src/record/job-state.ts", "src/job/job.ts", ["JobStatus"]],
  ["src/sweep/job-status.ts", "src/job/job.ts", ["SweepJobStatus"]],
  ["src/sweep/job-status.ts", "src/job/options.ts", ["SweepRow"]],
];

/** What the moved declarations need in their new file: file, imported names, from. */
const NEEDS = [
  ["src/job/options.ts", "type Invocation", "./process/invocation.ts"],
  ["src/job/options.ts", "type SweepJobStatus", "./job.ts"],
  ["src/job/hydra-values.ts", "keyId", "../values/node.ts"],
];

const texts = new Map();
const read = (path) => texts.get(join(repo, path)) ?? readFileSync(join(repo, path), "utf8");
const write = (path, text) => texts.set(join(repo, path), text);
const parse = (path) => ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
const files = execFileSync("git", ["ls-files", "src", "tests", "bench", "scripts", "docs"], { cwd: repo, encoding: "utf8" })
  .split("\n")
  .filter((f) => /\.ts$/.test(f) && !f.startsWith("tests/fixtures/"));
const specifier = (from, to) => {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
};
const addImport = (path, name, from) => {
  const text = read(path);
  const at = /^import /m.exec(text)?.index ?? 0;
  write(path, `${text.slice(0, at)}import { ${name} } from "${from}";\n${text.slice(at)}`);
};
for (const [from, to, names] of MOVES) {
  const kinds = new Map();
  for (const name of names) {
    const sf = parse(from);
    const node = sf.statements.find((s) => s.name?.text === name);
    if (node === undefined) {
      console.error(`${from} declares no ${name}`);
      process.exitCode = 1;
      continue;
    }
    kinds.set(name, ts.isFunctionDeclaration(node) ? name : `type ${name}`);
    // With the comment right above it, and not one of the file.
    const comments = ts.getLeadingCommentRanges(sf.text, node.getFullStart()) ?? [];
    const start = comments.at(-1)?.pos ?? node.getStart(sf);
    write(to, `${read(to).trimEnd()}\n\n${sf.text.slice(start, node.getEnd())}\n`);
    write(from, `${sf.text.slice(0, start).trimEnd()}\n\n${sf.text.slice(node.getEnd()).trimStart()}`);
  }
  for (const path of files) {
    if (!names.some((name) => read(path).includes(name))) continue;
    const sf = parse(path);
    const wanted = [];
    const edits = [];
    for (const s of sf.statements) {
      const isExport = ts.isExportDeclaration(s);
      if ((!ts.isImportDeclaration(s) && !isExport) || !s.moduleSpecifier?.text.startsWith(".")) continue;
      if (posix.join(posix.dirname(path), s.moduleSpecifier.text) !== from) continue;
      const list = isExport ? s.exportClause : s.importClause?.namedBindings;
      const elements = list?.elements ?? [];
      const gone = elements.filter((e) => kinds.has((e.propertyName ?? e.name).text));
      if (gone.length === 0) continue;
      const kept = elements.filter((e) => !gone.includes(e));
      const isType = isExport ? s.isTypeOnly : s.importClause.phaseModifier === ts.SyntaxKind.TypeKeyword;
      const word = `${isExport ? "export" : "import"}${isType ? " type" : ""}`;
      const rest = kept.length === 0 ? "" : `${word} { ${kept.map((e) => e.getText(sf)).join(", ")} } from ${s.moduleSpecifier.getText(sf)};`;
      const there = `${word} { ${gone.map((e) => e.getText(sf)).join(", ")} } from "${specifier(path, to)}";`;
      edits.push([s.getStart(sf), s.getEnd(), path === to ? rest : `${there}\n${rest}`.trimEnd()]);
      wanted.push(...gone);
    }
    let text = sf.text;
    for (const [a, b, now] of edits.reverse()) text = text.slice(0, a) + now + text.slice(b);
    if (edits.length > 0) write(path, text);
  }
  for (const [name, item] of kinds)
    if (new RegExp(`\\b${name}\\b`).test(read(from).replace(/\/\*[\s\S]*?\*\//g, ""))) addImport(from, item, specifier(from, to));
}
for (const need of NEEDS) addImport(...need);

const replace = (path, from, to) => {
  const file = join(repo, path);
  const text = texts.get(file) ?? readFileSync(file, "utf8");
  if (!text.includes(from)) {
    console.error(`${path} has no ${JSON.stringify(from)}`);
    process.exitCode = 1;
  } else texts.set(file, text.replace(from, () => to));
};
const startUp = "tests/cli/start-up.test.ts";
replace(startUp, "/^src\\/(instantiate\\/|app\\/(run|logging|callbacks|sweep|launchers)\\b)/", "/^src\\/(instantiate|job\\/(logging|callbacks|run-job)|record|launch|sweep|plugins)\\b/");
replace(startUp, "!/^src\\/app\\/|", "!/^src\\/(cli|job|text)\\/|");
replace(startUp, '["tree-schema/schema-command.ts", "sweep/sweep-command.ts"]', '["tree-schema/schema-command.ts", "sweep-command.ts"]');
replace(startUp, "loadedWith(`src/app/${entry}`)", "loadedWith(`src/cli/${entry}`)");

// Frames of ours in a stack, and a program that a test writes.
for (let i = 0; i < 3; i++) replace("tests/cli/hydra-main.test.ts", '"src/app"', '"src/job"');
replace("tests/system/closed-pipes.test.ts", "./src/app/process/closed-pipes.ts", "./src/system/closed-pipes.ts");
replace("CONTRIBUTING.md", "`src/app/resolvers/`", "`src/job/resolvers.ts`");
replace("docs/internals.md", "`app/flags/`", "`cli/arguments/`");
replace("docs/internals.md", "(`app/run/`)", "(`job/run-job.ts`, `sweep/`)");

const arrows = "tests/repo/import-arrows.test.ts";
replace(arrows, `  app: ["values", "command-line", "overrides", "compose", "schema", "instantiate"],
  report:`, `  job: [...engine],
  record: [...engine, "job"],
  launch: [...engine, "job", "record"],
  sweep: [...engine, "job", "record", "launch"],
  plugins: [...engine, "job", "record", "launch", "sweep"],
  cli: [...engine, "command-line", "job", "record", "launch", "sweep", "plugins"],
  report:`);
replace(arrows, "/** The design's arrows", `/** What composes a config, and what runs with one. */
const engine = ["values", "overrides", "compose", "schema", "instantiate"];

/** The design's arrows`);
replace(arrows, `const inside: Readonly<Record<string, readonly string[]>> = {
`, `const inside: Readonly<Record<string, readonly string[]>> = {
  job: ["process", "logging"],
  launch: [".", "local"],
  sweep: ["sweepers"],
  plugins: ["slurm", "optuna"],
  cli: ["arguments", "completion", "tree-schema"],
`);
replace(arrows, "Files directly in the stage are its face, which none of them uses. */", "Files directly in it (`.`) come last unless their place is named. */");
replace(arrows, `if (order === undefined || from === "." || from === to) return true;`, `if (order === undefined || from === to) return true;
  if (from === "." && !order.includes(".")) return true;`);
replace(arrows, 'toEqual([".", ...order].sort())', 'toEqual([...new Set([".", ...order])].sort())');
replace(arrows, `/** The one look outside`, `/** Imports against the arrows, until the plugins are handed to what runs sweeps. */
const exceptions = new Set([
  "sweep/cancel.ts -> plugins/kinds.ts",
  "sweep/open-sweep.ts -> cli/log-info.ts",
  "sweep/open-sweep.ts -> plugins/kinds.ts",
  "sweep/plan-sweep.ts -> plugins/kinds.ts",
  "sweep/status.ts -> plugins/kinds.ts",
  "sweep/wait.ts -> plugins/kinds.ts",
]);
/** The one look outside`);
replace(arrows, `  if (from === "bin") return true;`, `  if (exceptions.has(\`\${relative(source, file)} -> \${relative(source, target)}\`)) return true;
  if (from === "bin") return true;`);
replace(arrows, '["compose/compose.ts", "app/flags.ts"]', '["compose/compose.ts", "cli/arguments/parse-argv.ts"]');
replace(arrows, '["profile/run/run.ts", "app/main.ts"]', '["profile/run/run.ts", "job/run-job.ts"]');

for (const [file, text] of texts) writeFileSync(file, text);
