import { importFiles } from "../import/import-files.ts";
import { IMPORTERS, importerOf } from "../import/importers.ts";
import { openSource } from "../import/open-source.ts";
import { writeImported } from "../import/write-imported.ts";
import { showFiles, showReport, type Terminal } from "../terminal-report.ts";
import { type CommandLine, commandHelp, parseCommandLine, usage } from "./arguments.ts";
import { makeOutputDirectory } from "./output-directory.ts";
import type { SubcommandIo } from "./subcommand.ts";

const COMMAND: CommandLine = {
  name: "import",
  positionals: "FILE...",
  about: `Makes region reports from files that a profiler wrote, on any machine. What a file is, its
content says:

${IMPORTERS.map(({ format }) => `  ${format}`).join("\n")}`,
  options: {
    output: {
      short: "o",
      value: "DIR",
      help: "where the reports go; a new or empty directory\n(default: tmp/profile-output/<date>-<time>)",
    },
    include: { value: "GLOB", repeatable: true, help: "show regions with this label" },
    exclude: { value: "GLOB", repeatable: true, help: "leave regions with this label out" },
    "no-aggregate": { help: "reports per process and per device only" },
  },
  epilogue: `Exit code: 0 the reports are written, 1 a file cannot be imported, 2 wrong usage.`,
};

/** `deep-profile import`. */
export async function runImport(args: readonly string[], io: SubcommandIo): Promise<number> {
  const command = parseCommandLine(COMMAND, args);
  if (command.has("help")) {
    io.console.stdout(commandHelp(COMMAND));
    return 0;
  }
  if (command.positionals.length === 0) throw usage("no files given");
  const sources = command.positionals.map((name) => openSource(name, io.cwd));
  // Told before a directory is made: a wrong file leaves nothing behind.
  for (const source of sources) importerOf(source);
  const directory = makeOutputDirectory(command.value("output"), io.cwd, io.now);
  const reports = await importFiles({
    sources,
    directory,
    reader: "auto",
    include: command.values("include"),
    exclude: command.values("exclude"),
    aggregate: !command.has("no-aggregate"),
    now: io.now,
    say: (line) => io.console.stderr(`${line}\n`),
  });
  const terminal = terminalOf(io);
  for (const { bundle } of reports)
    for (const report of bundle.reports.slice(0, 1)) showReport(report, terminal);
  const written = await writeImported(reports, directory);
  terminal.write("\n");
  showFiles(written.reports, { terminal, cwd: io.cwd });
  for (const problem of written.problems) terminal.writeError(`could not be written: ${problem}\n`);
  return written.problems.length === 0 ? 0 : 1;
}

const terminalOf = ({ console, env }: SubcommandIo): Terminal => ({
  write: console.stdout,
  writeError: console.stderr,
  width: process.stdout.columns || Number(env["COLUMNS"]) || 100,
  color: console.stdoutColor === true,
});
