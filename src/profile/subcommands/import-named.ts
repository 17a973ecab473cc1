import type { ParsedCommand } from "../../command-line/parse.ts";
import { importFiles } from "../import/import-files.ts";
import type { ImportSource } from "../import/importer.ts";
import { importerOf } from "../import/importers.ts";
import { openSource } from "../import/open-source.ts";
import { sourcesOfRun } from "../import/run-directory.ts";
import { writeImported } from "../import/write-imported.ts";
import type { WithTool } from "../machine/interrupt.ts";
import { showFiles, showReport } from "../run/terminal-report.ts";
import { LOCALES, NAME_BASES, NVTX_SCOPES, READERS } from "./import.ts";
import { labelRulesOf } from "./label-options.ts";
import { intoOutputDirectory, type OutputDraft } from "./output-directory.ts";
import { type SubcommandIo, terminalOf } from "./subcommand.ts";

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
