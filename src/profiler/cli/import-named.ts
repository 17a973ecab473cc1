/** `deep-profile import`: reports of files that a profiler wrote. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import fastGlob, { type Options } from "fast-glob";
import { usage } from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { WithTool } from "../machine/stop-signals.ts";
import { importFiles } from "../run/import-files.ts";
import { writeImported } from "../run/imported-bundle.ts";
import { importerOf, loadImporters } from "../run/importers.ts";
import { RUN_FILE } from "../tools/collection.ts";
import type { ImportSource } from "../tools/importer.ts";
import { type NumberFormat, numberFormatOf } from "../tools/ncu/csv/number-format.ts";
import { inputError, openSource } from "../tools/source-file.ts";
import { type ImportTool, terminalProgress } from "../tools/tool.ts";
import { IMPORT_TOOLS } from "../tools/tool-table.ts";
import { labelRulesOf } from "./label-options.ts";
import { NAME_BASES, NVTX_SCOPES, READERS, SORTS } from "./option-values.ts";
import { intoOutputDirectory, type OutputDraft } from "./output-directory.ts";
import { type SubcommandIo, terminalOf } from "./subcommand.ts";
import { showAnswer, showFiles, showReport } from "./terminal-report.ts";

const { globSync, isDynamicPattern } = fastGlob;

/** Executes `deep-profile import`. */
export async function importNamed(
  command: ParsedCommand,
  io: SubcommandIo,
  withTool: WithTool,
  tools: readonly ImportTool[] = IMPORT_TOOLS,
): Promise<number> {
  const named = command.positionals.flatMap((name) => sourcesNamed(name, io.cwd, tools));
  const sources = named.map(({ name, repeatOf }) => openSource(name, io.cwd, repeatOf));
  // Thrown before a directory is created, so that a wrong file leaves nothing behind.
  const importers = await loadImporters(tools);
  for (const source of sources) importerOf(source, importers);
  const request = { wanted: command.value("output"), cwd: io.cwd, now: io.now };
  return intoOutputDirectory(request, (output) =>
    importInto(output, sources, { command, io, withTool, tools }),
  );
}

/** @throws ConfigError `app.usage` for an unknown locale */
function numberFormatIn(command: ParsedCommand): NumberFormat | null {
  const locale = command.value("locale");
  if (locale === undefined) return null;
  const format = numberFormatOf(locale);
  if (format === null)
    throw usage(
      `--locale: '${locale}' is not a known locale`,
      "C, or a name of CLDR: en, de, fr, de-CH, pt-BR",
    );
  return format;
}

interface ImportCall {
  readonly command: ParsedCommand;
  readonly io: SubcommandIo;
  readonly withTool: WithTool;
  readonly tools: readonly ImportTool[];
}

async function importInto(
  { directory, path: draft, finish }: OutputDraft,
  sources: readonly ImportSource[],
  { command, io, withTool, tools }: ImportCall,
): Promise<number> {
  /** Messages name files by their final paths. */
  const named = (text: string) => text.replaceAll(draft, directory);
  const labels = labelRulesOf(command);
  // Large files take some time, so the current step is shown.
  const progress = terminalProgress();
  const reports = await importFiles({
    sources,
    directory: draft,
    reader: command.choice("reader", READERS, "auto"),
    numberFormat: numberFormatIn(command),
    pushPopScope: command.choice("nvtx-scope", NVTX_SCOPES, "thread"),
    ranks: command.has("ranks"),
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
    tools,
    say: (line) => {
      progress.stop();
      io.console.stderr(`${named(line)}\n`);
      progress.update(named(line));
    },
  }).finally(progress.stop);
  const terminal = terminalOf(io);
  const sort = command.choice("sort", SORTS, "exclusive");
  showAnswer(reports, terminal);
  for (const { bundle } of reports)
    for (const report of bundle.reports.slice(0, 1)) showReport(report, terminal, sort);
  progress.update("writing reports");
  const written = await writeImported(reports, draft, {
    html: !command.has("no-html"),
    trace: command.has("trace"),
    ...(labels !== null && { labels }),
  }).finally(progress.stop);
  const place = finish();
  const placed = (text: string) => text.replaceAll(draft, place);
  terminal.write("\n");
  showFiles(written.reports.map(placed), { terminal, cwd: io.cwd });
  for (const problem of written.problems)
    terminal.writeError(`could not be written: ${placed(problem)}\n`);
  const incomplete = new Set(reports.flatMap((report) => report.incomplete ?? []));
  for (const name of incomplete)
    terminal.writeError(
      `${name} is truncated or damaged: the reports have only what could be read of it\n`,
    );
  return written.problems.length === 0 && incomplete.size === 0 ? 0 : 1;
}

// Resolves a name to a file, the files of a directory or of a run, or those that match a pattern.

/** A file to import, relative to the working directory. */
export interface NamedSource {
  readonly name: string;
  /** The run of which this file is a repeat, as given; null for other files. */
  readonly repeatOf: string | null;
}

/**
 * The files to import for a name: for a directory, those that profilers left in it, e.g. a recording, an nsys export or
 * ncu reports; for the directory of a run, those in the folders of its tools; for a pattern, the matches; for anything
 * else, the name itself.
 *
 * @throws ConfigError `profile.input` for a run without such files, and for a pattern without matches
 */
function sourcesNamed(
  name: string,
  cwd: string,
  tools: readonly ImportTool[],
): readonly NamedSource[] {
  const path = resolve(cwd, name);
  if (isRun(path, tools)) return sourcesOfRun(name, path, tools);
  const single = (file: string): NamedSource => ({ name: file, repeatOf: null });
  const status = statSync(path, { throwIfNoEntry: false });
  if (status?.isDirectory() === true) {
    const found = tools.flatMap((tool) => tool.import.filesOfRun(filesIn(path, "*")));
    return found.length === 0 ? [single(name)] : found.map((file) => single(join(name, file)));
  }
  if (status !== undefined || !isDynamicPattern(name)) return [single(name)];
  const taken = filesIn(cwd, name);
  if (taken.length === 0)
    throw inputError(
      name,
      "no file has a name of this pattern",
      "** stands for folders, * for names",
    );
  return taken.map(single);
}

function sourcesOfRun(
  name: string,
  run: string,
  tools: readonly ImportTool[],
): readonly NamedSource[] {
  const found = tools.flatMap((tool) =>
    // With `repeats=N`, a tool has a folder for each run; the other folders are of warm-up runs.
    [
      tool.name,
      ...filesIn(run, `${tool.name}/repeats/+([0-9])`, { onlyDirectories: true }),
    ].flatMap((folder) =>
      tool.import
        .filesOfRun(filesIn(join(run, folder), "*"))
        .map((file) => ({ folder, file: join(name, folder, file) })),
    ),
  );
  if (found.length === 0)
    throw new ConfigError({
      code: "profile.input",
      message: `${name} is a run directory in which nothing was recorded`,
      hint: `deep-profile report ${name} rebuilds the reports of a run if it can`,
    });
  return found.map(({ folder, file }) => ({
    name: file,
    repeatOf: tools.some((tool) => tool.name === folder) ? null : name,
  }));
}

/** An interrupted run has no record yet, but has the folders of its tools. */
const isRun = (directory: string, tools: readonly ImportTool[]): boolean =>
  existsSync(join(directory, RUN_FILE)) ||
  (existsSync(join(directory, "config.yaml")) &&
    tools.some(({ name }) => existsSync(join(directory, name))));

/** In the order of the numbers in their names; empty if the directory does not exist. */
const filesIn = (cwd: string, pattern: string, options: Options = {}): readonly string[] =>
  globSync(pattern, { cwd, dot: true, ...options }).sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
