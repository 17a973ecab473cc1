import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setInterval } from "node:timers";
import { writeFileAtomic } from "../../atomic-write.ts";
import { shellQuote } from "../../shell-quote.ts";
import { type ConfigError, isConfigError } from "../../values/errors.ts";
import { type ProcessOutcome, runWorkload } from "../machine/process.ts";
import { mergeCaptures } from "../nsys/merge-captures.ts";
import type { NsysTimeline } from "../nsys/read/read-export.ts";
import {
  exportCommand,
  type NsysSettings,
  type ProfileCommand,
  profileCommand,
  REPORT_NAME,
  statsCommand,
} from "../nsys/run/command.ts";
import { emptyCapture, nsysFailure, nsysWarnings } from "../nsys/run/failures.ts";
import { keepDocument } from "../nsys/run/own-output.ts";
import { callNsys, probeNsys, withoutProgress } from "../nsys/run/tool.ts";
import type { Workload } from "../workload/workload.ts";
import type { CollectContext, Collection, Collector } from "./collector.ts";

const REFRESH_MS = 200;
/** A stopped nsys still has to write its report, which may be of gigabytes. */
const GRACE_MS = 60_000;
/** More of nsys's output than that is the program's. */
const SAID_CHARACTERS = 64_000;

/**
 * Nsight Systems: records the workload, exports the recording to SQLite and reads that. Everything
 * stays in the collector's folder: the report, the export, nsys's own summaries and the commands.
 */
export function createNsys(settings: NsysSettings): Collector {
  return {
    name: "nsys",
    collect: async (workload, context) => {
      const tool = await probeNsys("pipeline.nsys.enable");
      const { directory } = context;
      const report = join(directory, REPORT_NAME);
      const command = profileCommand(tool, settings, report, workload);
      const commands = createCommandFile(join(directory, "cmd.txt"));
      await commands.add(command.argv, command.env);
      for (const note of command.notes) context.say(note);

      const { outcome, said } = await record(workload, command, context);
      const found = await readReports(tool.path, context, commands);
      const problem = found.problem ?? whyNothing(found, said, outcome, command, settings);
      const timeline = mergeCaptures(found.timelines);
      return {
        collector: "nsys",
        measured: { kind: "timeline", timeline },
        source: { kind: "nsys", directory: ".", reports: found.read },
        outcome,
        toolVersion: tool.version,
        ...(command.isGated && { partial: true }),
        notes: [...command.notes, ...nsysWarnings(said), ...found.notes],
        ...(problem !== null && { problem }),
      } satisfies Collection;
    },
  };
}

/**
 * The command that records a workload, without running it.
 *
 * @param directory where the collector's files would be
 */
export async function planNsys(
  settings: NsysSettings,
  workload: Workload,
  directory: string,
): Promise<ProfileCommand> {
  const tool = await probeNsys("pipeline.nsys.enable");
  return profileCommand(tool, settings, join(directory, REPORT_NAME), workload);
}

/** Runs the workload under nsys, which ends as the workload does. */
async function record(workload: Workload, command: ProfileCommand, context: CollectContext) {
  const stopProgress = showProgress(workload, context);
  const outcome = await runWorkload(
    { ...workload, argv: command.argv },
    {
      directory: context.directory,
      env: command.env,
      interrupt: context.interrupt,
      graceMs: GRACE_MS,
    },
  ).finally(stopProgress);
  const said =
    workload.stdout === "document" && outcome.startError === null
      ? await keepDocument(outcome.stdoutFile)
      : "";
  return {
    said: withoutProgress(`${said.slice(-SAID_CHARACTERS)}\n${outcome.stderrTail}`),
    // What ended, and how, is the program: nsys passes its exit code on.
    outcome: { ...outcome, argv: workload.argv } satisfies ProcessOutcome,
  };
}

interface ReadReports {
  readonly timelines: readonly NsysTimeline[];
  /** Their reports, without extension. */
  readonly read: readonly string[];
  readonly reports: number;
  readonly notes: readonly string[];
  readonly problem: ConfigError | null;
}

const EXTENSION = ".nsys-rep";

/** Exports and reads every report: one, or one for each time that a capture range repeated. */
async function readReports(
  nsys: string,
  { directory, interrupt, progress }: CollectContext,
  commands: CommandFile,
): Promise<ReadReports> {
  // SQLite loads only when it has something to read.
  const { readNsysExport } = await import("../nsys/read/read-export.ts");
  const timelines: NsysTimeline[] = [];
  const read: string[] = [];
  const notes: string[] = [];
  let problem: ConfigError | null = null;
  const reports = readdirSync(directory).filter((name) => name.endsWith(EXTENSION));
  reports.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const name of reports) {
    const report = join(directory, name);
    const sqlite = `${report.slice(0, -EXTENSION.length)}.sqlite`;
    progress.update(`reading ${name}`);
    try {
      const exported = await commands.call(exportCommand(nsys, report, sqlite), interrupt.kill);
      if (exported.failed)
        throw nsysFailure(`nsys could not export ${name}, which is kept`, exported.text);
      timelines.push(readNsysExport(sqlite));
      read.push(name.slice(0, -EXTENSION.length));
    } catch (error) {
      if (!isConfigError(error)) throw error;
      problem = error;
      continue;
    }
    if (interrupt.stop.aborted) continue;
    // `run.2` of several, or `run`.
    const base = name.slice(0, -EXTENSION.length).replace(REPORT_NAME, "summary");
    const stats = await commands.call(
      statsCommand(nsys, sqlite, join(directory, base)),
      interrupt.kill,
    );
    if (stats.failed) notes.push("nsys stats failed: its summaries are not complete");
  }
  removeEmptySummaries(directory);
  return { timelines, read, reports: reports.length, notes, problem };
}

/** Why there is no report, where there is none. */
function whyNothing(
  { reports }: ReadReports,
  said: string,
  outcome: ProcessOutcome,
  { isGated }: ProfileCommand,
  { capture_range, nvtx_capture }: NsysSettings,
): ConfigError | null {
  if (reports > 0 || outcome.startError !== null || outcome.interruptedBy !== null) return null;
  if (isGated && outcome.exitCode === 0 && !/error|lost/i.test(said))
    return emptyCapture(
      capture_range === "nvtx"
        ? `the range ${nvtx_capture} of pipeline.nsys.nvtx_capture never began`
        : "the program never called cudaProfilerStart",
    );
  return nsysFailure("nsys made no report", said);
}

/** nsys makes a file for a summary before it finds out that there is nothing to sum up. */
function removeEmptySummaries(directory: string): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (/^summary.*\.csv$/.test(name) && statSync(file).size === 0) rmSync(file);
  }
}

interface CommandFile {
  add(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<void>;
  call(argv: readonly string[], signal: AbortSignal): ReturnType<typeof callNsys>;
}

/** `cmd.txt`: every command that was run, to be run again from a shell. */
function createCommandFile(file: string): CommandFile {
  const lines: string[] = [];
  const add: CommandFile["add"] = async (argv, env = {}) => {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${shellQuote(value)}`);
    lines.push([...variables, ...argv.map(shellQuote)].join(" "));
    await writeFileAtomic(file, `${lines.join("\n")}\n`);
  };
  return {
    add,
    call: async (argv, signal) => {
      await add(argv);
      return callNsys(argv, signal);
    },
  };
}

/** A program that writes to the terminal itself gets no status line. */
function showProgress(workload: Workload, { progress }: CollectContext): () => void {
  if (workload.stdout === "forward") return () => {};
  const show = () => progress.update(`recording ${workload.label} with nsys`);
  show();
  const timer = setInterval(show, REFRESH_MS);
  return () => {
    clearInterval(timer);
    progress.stop();
  };
}
