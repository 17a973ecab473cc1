import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ParsedCommand } from "../../command-line/parse.ts";
import { ConfigError } from "../../values/errors.ts";
import type { WithTool } from "../machine/interrupt.ts";
import { importFiles } from "../run/import-files.ts";
import { writeImported } from "../run/imported-bundle.ts";
import { importerOf } from "../run/importers.ts";
import { COLLECTOR_NAMES, RUN_FILE } from "../tools/collection.ts";
import type { ImportSource } from "../tools/importer.ts";
import { isReportName } from "../tools/ncu/rep/compressed.ts";
import { FILE_SUFFIX } from "../tools/recorder/index.ts";
import { openSource } from "../tools/source-file.ts";
import { LOCALES, NAME_BASES, NVTX_SCOPES, READERS } from "./commands.ts";
import { labelRulesOf } from "./label-options.ts";
import { intoOutputDirectory, type OutputDraft } from "./output-directory.ts";
import { type SubcommandIo, terminalOf } from "./subcommand.ts";
import { showFiles, showReport } from "./terminal-report.ts";

/** What `deep-profile import` does. */
export async function importNamed(
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

// What a run of `deep-profile` left behind, as files to import.

/** What to import, by a name from the working directory. */
export interface NamedSource {
  readonly name: string;
  /** The run whose repeats this is one of, as it was given; null for what stands for itself. */
  readonly repeatOf: string | null;
}

/**
 * What to import for a name that was given: of the directory of a run, the recording, the
 * export (or report) of nsys and the reports of ncu in it; anything else as it is.
 *
 * @throws ConfigError `profile.input` for a run that left none of them
 */
function sourcesOfRun(name: string, cwd: string): readonly NamedSource[] {
  const directory = resolve(cwd, name);
  if (!isRun(directory)) return [{ name, repeatOf: null }];
  const found = [...recordings(directory), ...exportsOfNsys(directory), ...reportsOfNcu(directory)];
  if (found.length === 0)
    throw new ConfigError({
      code: "profile.input",
      message: `${name} is a run directory in which nothing was recorded`,
      hint: `deep-profile report ${name} rebuilds the reports of a run if it can`,
    });
  return found.map((file) => ({
    name: join(name, file),
    repeatOf: REPEAT.test(file) ? name : null,
  }));
}

/** With `repeats=N` a collector works in a folder for each run; others are of warm-up runs. */
const REPEAT = /^\w+[/\\]repeats[/\\]\d+(?:[/\\]|$)/;

const foldersOf = (run: string, collector: string): readonly string[] => [
  collector,
  ...filesIn(run, join(collector, "repeats"), (name) => /^\d+$/.test(name)),
];

/** A run that was interrupted has no record of its own yet, but the folders of its collectors. */
const isRun = (directory: string): boolean =>
  existsSync(join(directory, RUN_FILE)) ||
  (existsSync(join(directory, "config.yaml")) &&
    COLLECTOR_NAMES.some((folder) => existsSync(join(directory, folder))));

const recordings = (run: string): readonly string[] =>
  foldersOf(run, "recorder").filter(
    (folder) => filesIn(run, folder, (file) => file.endsWith(FILE_SUFFIX)).length > 0,
  );

/** The export is quick to read and needs no nsys. */
const exportsOfNsys = (run: string): readonly string[] =>
  foldersOf(run, "nsys").flatMap((folder) => {
    const exported = filesIn(run, folder, (file) => file.endsWith(".sqlite"));
    return exported.length > 0
      ? exported
      : filesIn(run, folder, (file) => file.endsWith(".nsys-rep"));
  });

const reportsOfNcu = (run: string): readonly string[] => filesIn(run, "ncu", isReportName);

function filesIn(
  run: string,
  folder: string,
  wanted: (name: string) => boolean,
): readonly string[] {
  const path = join(run, folder);
  if (!existsSync(path) || !statSync(path).isDirectory()) return [];
  return readdirSync(path)
    .filter(wanted)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((name) => join(folder, name));
}
