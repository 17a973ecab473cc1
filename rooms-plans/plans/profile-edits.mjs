// node profile-edits.mjs REPO: what profile.plan cannot say; run once after it. Says what it did not find.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const repo = process.argv[2] ?? process.cwd();
const edit = (file, ...pairs) => {
  const path = join(repo, file);
  if (!existsSync(path)) return console.error(`there is no ${file}`);
  let text = readFileSync(path, "utf8");
  for (const [from, to] of pairs) {
    const next = text.replaceAll(from, to);
    if (next === text) console.error(`${file}: nothing is ${String(from)}`);
    text = next;
  }
  writeFileSync(path, text);
};
/** The test of that name, wherever the other plans have put it. */
const testNamed = (name) =>
  readdirSync(join(repo, "tests"), { recursive: true })
    .map((file) => join("tests", file))
    .find((file) => file.endsWith(`/${name}`)) ?? name;

// A tool is read again without knowing what a saved run is.
edit(
  "src/profile/tools/collector.ts",
  ['import type { SavedRun } from "../run/saved-run.ts";\n', ""],
  ['import type { CollectionSource, CollectorName } from "./collection.ts";\n', 'import type { CollectionSource, CollectorName } from "./collection.ts";\nimport type { ProfileConfig } from "./config.ts";\n'],
  ['readonly config: SavedRun["config"];', "readonly config: ProfileConfig;"],
);

// The machine of a timeline belongs to the model: importers of all tools give it.
const MACHINE = `export interface RecordedMachine {
  readonly hostname: string | null;
  readonly os: string | null;
  readonly cpu: string | null;
  /** Names of all its GPUs, in CUDA's order where the export has it. */
  readonly gpus: readonly string[];
}
`;
edit(
  "src/profile/tools/nsys/read/session.ts",
  [`/** Null where the export does not say. */\n${MACHINE}\n`, ""],
  ['import type { ExportDatabase } from "./database.ts";\n', 'import type { RecordedMachine } from "../../../model/timeline.ts";\nimport type { ExportDatabase } from "./database.ts";\n'],
);
edit("src/profile/model/timeline.ts", [
  "\n// Names for CUPTI's numbers",
  `\n/** The machine on which a timeline was recorded; null where its file does not say. */\n${MACHINE.replace("the export", "the file")}\n// Names for CUPTI's numbers`,
]);
edit("src/profile/tools/nsys/read/read-export.ts", [
  'import { type RecordedMachine, readClock, readMachine } from "./session.ts";',
  'import { readClock, readMachine } from "./session.ts";',
], [/import type \{ ([^}]*) \} from "\.\.\/\.\.\/\.\.\/model\/timeline\.ts";/g, 'import type { $1, RecordedMachine } from "../../../model/timeline.ts";']);
for (const [file, from, to] of [
  ["src/profile/tools/importer.ts", "./nsys/read/session.ts", "../model/timeline.ts"],
  ["src/profile/run/import-files.ts", "../tools/nsys/read/session.ts", "../model/timeline.ts"],
  ["src/profile/run/imported-bundle.ts", "../tools/nsys/read/session.ts", "../model/timeline.ts"],
]) {
  edit(file, [`import type { RecordedMachine } from "${from}";\n`, ""]);
  const text = readFileSync(join(repo, file), "utf8");
  const has = new RegExp(`import type \\{ ([^}]*) \\} from "${to.replaceAll(".", "\\.")}";`);
  if (has.test(text)) edit(file, [new RegExp(has, "g"), `import type { RecordedMachine, $1 } from "${to}";`]);
  else edit(file, [/^(?=import )/g, `import type { RecordedMachine } from "${to}";\n`]);
}

// One name for one function.
edit("src/profile/machine/run-tool.ts", ["setTimeout as setTimeoutOfNodeTimers", "setTimeout"], ["setTimeoutOfNodeTimers(", "setTimeout("]);

// Tests that name folders.
edit(
  "tests/repo/import-arrows.test.ts",
  [/ {2}profile: \[\n(?: {4}"[\w-]+",\n)+ {2}\],/g, '  profile: ["model", "machine", "analysis", "tools", "run", "cli"],'],
  ['["profile/tools/ncu/run/verdict.ts", "profile/tools/ncu/collector.ts"]', '["profile/tools/ncu/run/verdict.ts", "profile/run/collectors.ts"]'],
);
edit("tests/repo/temporary-directories.test.ts", ['[\n    "machine/temporary-directory.ts",\n  ]', '["machine/files.ts"]']);
edit(
  testNamed("start-up.test.ts"),
  [/test\.each\(\["compare", "doctor", "import", "report"\]\)\(\n {2}"the help of deep-profile %s needs neither the profiler nor the reports",\n {2}\(name\) => \{/g, 'test("the help of a subcommand of deep-profile needs neither the profiler nor the reports", () => {'],
  ["`src/profile/cli/${name}.ts`", '"src/profile/cli/commands.ts"'],
  [/profile\\\/\(subcommands\|labels\)\\\/\|profile\\\/\(collection\\\/collector-names\|import\\\/formats\|recording\\\/format\|machine\\\/interrupt\)/g, "profile\\/(cli\\/(commands|subcommand|label-options)|analysis\\/labels|tools\\/(collection|importer|recorder\\/format)|machine\\/interrupt)"],
  ["toEqual([]);\n  },\n);\n\ntest(\"the help of hydraconf", "toEqual([]);\n});\n\ntest(\"the help of hydraconf"],
  ['      "src/profile/tools/collection.ts",\n      "src/profile/run/command-override.ts",\n      "src/profile/tools/collection.ts",\n', '      "src/profile/tools/collection.ts",\n      "src/profile/run/command-override.ts",\n'],
);

// Guides.
edit(
  "CONTRIBUTING.md",
  [/\*\*Add a workload kind\.\*\*[^]*?(?=\n\n)/g, "**Add a workload kind.** Write a builder from config to argument vector in `src/profile/run/workloads.ts`, add it to\n`createWorkload` there, and add `conf/workload/<kind>.yaml`."],
  [/\*\*Add a format to `import`\.\*\*[^]*?and test it as\n/g, "**Add a format to `import`.** Copy the `Importer` in `src/profile/tools/recorder/collector.ts` (how a file is recognised, and what it is\nread into), add it to the table in `src/profile/run/importers.ts` (the first that recognises a file reads it), and test it as\n"],
  ["union in `importer.ts`. `import --help`", "union in `src/profile/tools/collection.ts`. `import --help`"],
  ["with its command line in a file beside it (copy `commands.ts`), which\nloads", "with its command line in `commands.ts` beside it, which\nloads"],
  [/\*\*Add a collector\.\*\* Write `src\/profile\/run\/<name>\.ts` implementing/g, "**Add a collector.** Write `src/profile/tools/<name>/collector.ts`, with a line in `src/profile/run/collectors.ts`, implementing"],
);
edit(
  "docs/internals.md",
  [/(\| folders of `profile\/` \| \|\n\|[-| ]+\|\n)(?:\|.*\n)+/g, `$1| \`model/\` | timelines (ranges, kernels, operations), and counters of kernels, as no tool owns them |
| \`machine/\` | programs, GPUs, the native part, signals: what a run finds and starts here |
| \`analysis/\` | from a timeline to regions with their numbers; labels, kernels that count, repeated runs |
| \`tools/\` | the contract of a tool, and \`recorder/\`, \`nsys/\`, \`ncu/\`: how each is run, and how its files are read, reread and imported |
| \`run/\` | one run: its workload, its collectors, its files, traces; saved runs made again; imports |
| \`cli/\` | \`deep-profile\`: its main job, its subcommands, and what \`doctor/\` looks at |
`],
  ["`profile/collectors/`", "`profile/tools/*/collector.ts`"],
  ["`profile/nsys/`): `run/` makes command lines and explains failures, `read/`", "`profile/tools/nsys/`): `command.ts` makes command lines, `tool.ts` explains failures, `read/`"],
  ["`profile/saved-run/`", "`profile/run/saved-run.ts`"],
  ["`profile/regions/`", "`profile/analysis/`"],
  ["`profile/labels/`", "`profile/analysis/labels.ts`"],
  ["`profile/ncu/run/` drives the tool, `profile/ncu/{csv,assemble}/`", "`profile/tools/ncu/run/` drives the tool, `profile/tools/ncu/{csv,assemble}/`"],
  ["`profile/import/`)", "`profile/run/import-files.ts`)"],
);
edit("docs/internals.md", ["(`labels.ts`)", "(`ncu/run/labels.ts`)"]);
// A program in a string.
edit(
  "tests/profile/machine/run-tool.test.ts",
  ['import { attendTool } from "./src/profile/machine/attend-tool.ts";', 'import { runWithProgress } from "./src/profile/machine/run-tool.ts";'],
  ["await attendTool(", "await runWithProgress("],
  ['describe("attend tool"', 'describe("run with progress"'],
);
