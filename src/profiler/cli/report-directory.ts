/** `deep-profile report`: makes the reports of a run again, and opens them. */

import { copyFileSync, existsSync } from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { execa } from "execa";
import { usage } from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { makeDirectory, readablePath, realPlace } from "../../foundation/system/files.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import type { SweepWork } from "../../report/sweep/sweep-types.ts";
import { renderSweepMarkdown } from "../../report/sweep/writers.ts";
import type { WithTool } from "../machine/stop-signals.ts";
import { readRunOrReport } from "../run/importers.ts";
import { readSavedRun } from "../run/read-run.ts";
import { type Rebuilt, rebuildBeginning, rebuildReports } from "../run/rebuild.ts";
import { RUN_FILE } from "../tools/collection.ts";
import { recordingFiles } from "../tools/recorder/read.ts";
import type { ProfilingTool } from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";
import { labelRulesOf } from "./label-options.ts";
import { SORTS } from "./option-values.ts";
import { intoOutputDirectory, type OutputDraft } from "./output-directory.ts";
import { reportSweep, type SweepReported, sweepJobs } from "./report-sweep.ts";
import { NO_REPORTS, type SubcommandIo, terminalOf } from "./subcommand.ts";
import { showFiles, showRegions } from "./terminal-report.ts";

/** Executes `deep-profile report`. */
export async function reportDirectory(
  runDirectory: string,
  command: ParsedCommand,
  io: SubcommandIo,
  withTool: WithTool,
  tools: readonly ProfilingTool[] = TOOLS,
): Promise<number> {
  const wanted = command.value("output");
  const terminal = terminalOf(io);
  const labels = labelRulesOf(command);
  const jobs = sweepJobs(runDirectory);
  if (jobs.length > 0 && labels !== null)
    throw usage(
      "label options apply to runs: rebuild the reports of the jobs first, then those of the sweep",
      "for each job: deep-profile report DIR/JOB with these options; then: deep-profile report DIR",
    );
  if (jobs.length > 0) return ofSweep(runDirectory, jobs, command, io);
  if (command.has("collector")) throw usage("--collector is only for sweep directories");
  if (command.has("work")) throw usage("--work is only for sweep directories");
  const rebuild = (output: string | null): Promise<Rebuilt> =>
    rebuildReports({
      runDirectory,
      output,
      cwd: io.cwd,
      html: command.has("html") || command.has("open"),
      trace: command.has("trace"),
      labels,
      now: io.now,
      withTool,
      tools,
      say: (line) => io.console.stderr(`${line}\n`),
    });
  const show = async ({ result, written }: Rebuilt): Promise<number> => {
    showRegions(result.sections, terminal, command.choice("sort", SORTS, "exclusive"));
    terminal.write("\n");
    showFiles(written.reports, { terminal, cwd: io.cwd });
    for (const failure of written.failures)
      terminal.writeError(`could not be written: ${failure}\n`);
    if (command.has("open")) await open(written.reports, io);
    return written.failures.length === 0 ? 0 : 1;
  };
  // Checked before a directory is created, so that a wrong name leaves nothing behind.
  await readRunOrReport(
    readablePath(runDirectory, io.cwd),
    io.cwd,
    { expected: "a run directory" },
    () => readSavedRun(runDirectory, io.cwd),
  );
  if (wanted === undefined) return show(await rebuild(null));
  refuseInside(runDirectory, wanted, io.cwd);
  return intoOutputDirectory({ wanted, cwd: io.cwd, now: io.now }, async (draft) => {
    const { result, written } = await rebuild(draft.path);
    const placed = placing(draft);
    return show({
      result,
      written: { reports: written.reports.map(placed), failures: written.failures.map(placed) },
    });
  });
}

/**
 * Called after a signal ended the process that made reports. Existing reports of the run are kept; without any, reports
 * are made of the beginning of its recordings.
 *
 * @returns the message for the user
 */
export async function stoppedReport(
  command: ParsedCommand,
  io: SubcommandIo,
  signal: Signal,
): Promise<string> {
  const [name = ""] = command.positionals;
  const runDirectory = resolve(io.cwd, name);
  if (command.value("output") !== undefined || command.has("merge")) return NO_REPORTS;
  const again = `deep-profile report ${readablePath(runDirectory, io.cwd)}`;
  const stopped = `stopped by ${signal} while reports were made`;
  const request = { runDirectory, cwd: io.cwd, stopped, again };
  const partial = sweepJobs(runDirectory).length > 0 ? null : await rebuildBeginning(request);
  return partial === null
    ? `the reports in ${readablePath(runDirectory, io.cwd)} are as they were: '${again}' makes them again`
    : `${partial}: '${again}' makes all of them`;
}

/**
 * Merges the runs of several ranks that had no common directory: the recordings of all, with the facts of the first.
 */
export async function mergeRuns(
  command: ParsedCommand,
  io: SubcommandIo,
  withTool: WithTool,
): Promise<number> {
  const runs = command.positionals.map((name) => resolve(io.cwd, name));
  const found = runs.map((run) => {
    readSavedRun(run, io.cwd);
    return recordingFiles(join(run, "recorder"));
  });
  const request = { wanted: command.value("output"), cwd: io.cwd, now: io.now };
  return intoOutputDirectory(request, async (draft) => {
    const folder = join(draft.path, "recorder");
    makeDirectory(folder);
    // Names contain the number of a process and the time at which it began.
    for (const [index, files] of found.entries())
      for (const file of files) {
        const name = basename(file);
        const isTaken = existsSync(join(folder, name));
        copyFileSync(
          file,
          join(folder, isTaken ? name.replace(/(?=\.[^.]+$)/, `-${index}`) : name),
        );
      }
    for (const name of [RUN_FILE, "config.yaml"])
      if (existsSync(join(runs[0] ?? "", name)))
        copyFileSync(join(runs[0] ?? "", name), join(draft.path, name));
    const { result, written } = await rebuildReports({
      runDirectory: draft.path,
      output: null,
      cwd: io.cwd,
      html: command.has("html"),
      trace: command.has("trace"),
      labels: labelRulesOf(command),
      now: io.now,
      withTool,
      tools: TOOLS,
      say: (line) => io.console.stderr(`${line}\n`),
    });
    const terminal = terminalOf(io);
    showRegions(result.sections, terminal, command.choice("sort", SORTS, "exclusive"));
    terminal.write("\n");
    const placed = placing(draft);
    showFiles(written.reports.map(placed), { terminal, cwd: io.cwd });
    for (const failure of written.failures)
      terminal.writeError(`could not be written: ${placed(failure)}\n`);
    return written.failures.length === 0 ? 0 : 1;
  });
}

/** The merged run would be mistaken for files of the run itself. */
function refuseInside(runDirectory: string, wanted: string, cwd: string): void {
  const output = realPlace(resolve(cwd, wanted));
  if (!output.startsWith(`${realPlace(runDirectory)}${sep}`)) return;
  throw new ConfigError({
    code: "app.run_directory",
    message: `The directory '${wanted}' is inside the run that the reports are of`,
    hint: "choose a directory outside of it, or leave --output out to make its reports again in place",
  });
}

async function ofSweep(
  directory: string,
  jobs: readonly string[],
  command: ParsedCommand,
  io: SubcommandIo,
): Promise<number> {
  const wanted = command.value("output");
  const collector = command.value("collector") ?? null;
  const work = workOf(command.value("work"));
  const build = (output: string): Promise<SweepReported> =>
    reportSweep({ directory, jobs, output, collector, work, now: io.now });
  const show = async ({ report, files }: SweepReported): Promise<number> => {
    io.console.stdout(renderSweepMarkdown(report));
    showFiles(files, { terminal: terminalOf(io), cwd: io.cwd });
    if (command.has("open")) await open(files, io);
    return 0;
  };
  if (wanted === undefined) return show(await build(directory));
  return intoOutputDirectory({ wanted, cwd: io.cwd, now: io.now }, async (draft) => {
    const { report, files } = await build(draft.path);
    return show({ report, files: files.map(placing(draft)) });
  });
}

/** Parses `images=infer.batch_size*infer.iterations`. */
function workOf(text: string | undefined): SweepWork | null {
  if (text === undefined) return null;
  const index = text.indexOf("=");
  const unit = text.slice(0, Math.max(0, index)).trim();
  const factors = text
    .slice(index + 1)
    .split("*")
    .map((factor) => factor.trim());
  if (unit === "" || factors.includes(""))
    throw usage(
      `--work: '${text}' is not UNIT=FACTOR*FACTOR...`,
      "for example: --work images=infer.batch_size*infer.iterations",
    );
  return { unit, factors };
}

/** Moves the draft to its final place; returns a function that replaces temporary paths in a text. */
function placing({ path, finish }: OutputDraft): (text: string) => string {
  const place = finish();
  return (text) => text.replaceAll(path, place);
}

/** A page that cannot be opened is no failure: it is written, and its path is printed. */
async function open(reports: readonly string[], io: SubcommandIo): Promise<void> {
  const page = reports.find((file) => file.endsWith(".html"));
  if (page === undefined) {
    io.console.stderr("there is no page to open\n");
    return;
  }
  const problem = await openPage(page, { platform: process.platform, env: io.env });
  if (problem !== null) io.console.stderr(`not opened (${problem}): ${page}\n`);
}

// Opens a file in the user's browser.

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The program that opens files on a desktop, without a shell; null without a desktop. */
export function openCommand(file: string, { platform, env }: Desktop): readonly string[] | null {
  if ((env["CI"] ?? "") !== "") return null;
  if (platform === "darwin") return ["open", file];
  if (platform === "win32") return ["explorer.exe", file];
  // Without a display, xdg-open starts a browser in the terminal, or fails.
  const hasDisplay = [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["WSL_DISTRO_NAME"]].some(
    (value) => (value ?? "") !== "",
  );
  return hasDisplay ? ["xdg-open", file] : null;
}

/** How long the program may take to report that it cannot open the file. */
const WAIT_MS = 5_000;

/**
 * Opens it without waiting until the browser ends.
 *
 * @returns null, or the reason why it was not opened
 */
export async function openPage(
  file: string,
  desktop: Desktop,
  waitMs = WAIT_MS,
): Promise<string | null> {
  const command = openCommand(file, desktop);
  if (command === null)
    return (desktop.env["CI"] ?? "") === "" ? "there is no display" : "CI is set";
  const [program = "", ...args] = command;
  const child = execa(program, args, {
    env: { ...desktop.env },
    extendEnv: false,
    stdio: "ignore",
    detached: true,
    reject: false,
    cleanup: false,
  });
  child.unref();
  const timer = new AbortController();
  // The program may be the browser itself, which is not waited for. Until the result is known, only the timer keeps
  // this process alive.
  const ended = await Promise.race([
    child,
    setTimeout(waitMs, null, { signal: timer.signal }).catch(() => null),
  ]);
  timer.abort();
  // explorer.exe ends with 1 even after success.
  if (ended === null || ended.exitCode === 0 || desktop.platform === "win32") return null;
  return ended.exitCode === undefined
    ? `${program} could not be started`
    : `${program} ended with exit code ${ended.exitCode}`;
}
