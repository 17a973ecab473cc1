import { importFiles } from "../import/import-files.ts";
import type { ImportSource } from "../import/importer.ts";
import { IMPORTERS, importerOf } from "../import/importers.ts";
import { openSource } from "../import/open-source.ts";
import { sourcesOfRun } from "../import/run-directory.ts";
import { writeImported } from "../import/write-imported.ts";
import type { WithTool } from "../interrupt.ts";
import { showFiles, showReport } from "../terminal-report.ts";
import { type CommandLine, type ParsedCommand, usage } from "./arguments.ts";
import { LABEL_OPTIONS, labelRulesOf } from "./label-options.ts";
import { intoOutputDirectory, type OutputDraft } from "./output-directory.ts";
import { stoppable } from "./stoppable.ts";
import { type SubcommandIo, subcommand, terminalOf } from "./subcommand.ts";

const READERS = ["auto", "ncu", "own"] as const;
const LOCALES = ["C", "en", "de"] as const;
const NVTX_SCOPES = ["thread", "process"] as const;
const NAME_BASES = ["function", "demangled", "mangled"] as const;

export const COMMAND: CommandLine = {
  name: "import",
  positionals: "FILE|RUN...",
  about: `Makes region reports from files that a profiler wrote, on any machine. Files are recognised by
their content:

${IMPORTERS.map(({ format }) => `  ${format}`).join("\n")}`,
  options: {
    output: {
      short: "o",
      value: "DIR",
      help: "where the reports go; a new or empty directory\n(default: tmp/profile-output/<date>-<time>)",
    },
    include: { value: "GLOB", repeatable: true, help: "show regions with this label" },
    exclude: { value: "GLOB", repeatable: true, help: "leave out regions with this label" },
    ...LABEL_OPTIONS,
    kernel: {
      value: "PATTERN",
      repeatable: true,
      help: "count kernels with this name: exact, GLOB or regex:EXPR",
    },
    "kernel-exclude": {
      value: "PATTERN",
      repeatable: true,
      help: "leave out kernels with this name, even chosen ones",
    },
    "kernel-name-base": {
      value: "BASE",
      choices: NAME_BASES,
      help: "which name the patterns match (default: demangled)",
    },
    "top-kernels": {
      value: "N",
      help: "count the N kernels that take longest in a recording\nor nsys export given as well",
    },
    reader: {
      value: "READER",
      choices: READERS,
      help: "how to read .ncu-rep files: with ncu, with our own reader,\nor with ncu if it is installed (default: auto)",
    },
    locale: {
      value: "LOCALE",
      choices: LOCALES,
      help: "how a CSV writes numbers: 1234.5; 1,234.5; 1.234,5\n(default: what the file shows)",
    },
    "nvtx-scope": {
      value: "SCOPE",
      choices: NVTX_SCOPES,
      help: "whose push/pop ranges a kernel belongs to: those of its\nthread, or of another one if its own has none (default:\nthread; process needs .ncu-rep files)",
    },
    "no-aggregate": { help: "only reports per process and per device" },
    "no-html": { help: "no HTML pages beside the other reports" },
  },
  epilogue: `Files of ncu given together are one measurement. A recording or nsys export given with
them adds calls and wall times, and the order of ranges of several domains.
The directory of a run means the files that its collectors left in it; \`deep-profile report DIR\`
rebuilds its own reports, with its config.

Exit code: 0 the reports are written, 1 a file cannot be imported, 2 wrong usage.`,
};

/** `deep-profile import`. */
export const runImport = subcommand(COMMAND, (command, io) => {
  if (command.positionals.length === 0) throw usage("no files given");
  return stoppable(io, (withTool) => importNamed(command, io, withTool));
});

async function importNamed(
  command: ParsedCommand,
  io: SubcommandIo,
  withTool: WithTool,
): Promise<number> {
  const named = command.positionals.flatMap((name) => sourcesOfRun(name, io.cwd));
  const sources = named.map(({ name, repeatOf }) => openSource(name, io.cwd, repeatOf));
  // Told before a directory is made: a wrong file leaves nothing behind.
  for (const source of sources) importerOf(source);
  const request = { wanted: command.value("output"), cwd: io.cwd, now: io.now };
  return intoOutputDirectory(request, (output) =>
    importInto(output, sources, command, io, withTool),
  );
}

async function importInto(
  { directory, path: draft, finish }: OutputDraft,
  sources: readonly ImportSource[],
  command: ParsedCommand,
  io: SubcommandIo,
  withTool: WithTool,
): Promise<number> {
  /** Files are called as they will be. */
  const named = (text: string) => text.replaceAll(draft, directory);
  const labels = labelRulesOf(command);
  const reports = await importFiles({
    sources,
    directory: draft,
    reader: command.choice("reader", READERS, "auto"),
    locale: command.choice("locale", LOCALES, null),
    pushPopScope: command.choice("nvtx-scope", NVTX_SCOPES, "thread"),
    kernels: {
      include: command.values("kernel"),
      exclude: command.values("kernel-exclude"),
      nameBase: command.choice("kernel-name-base", NAME_BASES, "demangled"),
      top: command.count("top-kernels"),
    },
    include: command.values("include"),
    exclude: command.values("exclude"),
    aggregate: !command.has("no-aggregate"),
    ...(labels !== null && { labels }),
    now: io.now,
    withTool,
    say: (line) => io.console.stderr(`${named(line)}\n`),
  });
  const terminal = terminalOf(io);
  for (const { bundle } of reports)
    for (const report of bundle.reports.slice(0, 1)) showReport(report, terminal);
  const written = await writeImported(reports, draft, { html: !command.has("no-html") });
  const place = finish();
  const placed = (text: string) => text.replaceAll(draft, place);
  terminal.write("\n");
  showFiles(written.reports.map(placed), { terminal, cwd: io.cwd });
  for (const problem of written.problems)
    terminal.writeError(`could not be written: ${placed(problem)}\n`);
  return written.problems.length === 0 ? 0 : 1;
}
