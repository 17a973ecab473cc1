/** nsys as a tool: runs a workload under it, and reads the reports that it wrote. */

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type CodedError, isCodedError } from "../../../engine/values/errors.ts";
import { writeFileAtomic } from "../../../foundation/system/atomic-write.ts";
import { elsewhereNote, findNsightTool } from "../../machine/find-tools.ts";
import {
  type ProcessOutcome,
  pauseNotes,
  runWorkload,
  type Workload,
} from "../../machine/process.ts";
import type { ToolWork } from "../../machine/run-tool.ts";
import type { ToolError } from "../../machine/tool-error.ts";
import type { Timeline } from "../../model/timeline.ts";
import type { NsysSettings } from "../profiler-config.ts";
import {
  type CollectContext,
  type Collection,
  type Collector,
  type CommandFile,
  createCommandFile,
  showProgress,
  type ToolPlan,
} from "../tool.ts";
import {
  exportCommand,
  NSYS_ELSEWHERE,
  type ProfileCommand,
  profileCommand,
  REPORT_NAME,
  statsCommand,
} from "./command.ts";
import {
  callNsys,
  emptyCapture,
  NO_REPORTS,
  nsysFailure,
  nsysWarnings,
  probeNsys,
  withoutProgress,
} from "./program.ts";
import type { NsysTimeline } from "./read/read-export.ts";

/** A stopped nsys still has to write its report, which may have gigabytes. */
const GRACE_MS = 60_000;
/** Longer output consists mostly of the program's own output. */
const SAID_CHARACTERS = 64_000;

/**
 * Nsight Systems: records the workload, exports the recording to SQLite and reads that. All files stay in the
 * collector's folder: the report, the export, nsys's own summaries and the commands.
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
        notes: [...command.notes, ...pauseNotes(outcome), ...nsysWarnings(said), ...found.notes],
        ...(problem !== null && { problem }),
      } satisfies Collection;
    },
  };
}

/**
 * The command that records a workload, without running it.
 *
 * @param directory the folder for the tool's files
 */
export async function planNsys(
  settings: NsysSettings,
  workload: Workload,
  directory: string,
): Promise<ToolPlan> {
  const isHere = findNsightTool("nsys") !== null;
  const tool = isHere ? await probeNsys("pipeline.nsys.enable") : NSYS_ELSEWHERE;
  const report = join(directory, REPORT_NAME);
  const { argv, env, notes } = profileCommand(tool, settings, report, workload);
  return {
    runs: [{ command: argv, env }],
    notes: [...(isHere ? [] : [elsewhereNote("nsys", "Nsight Systems")]), ...notes],
  };
}

/** Runs the workload under nsys, which ends when the workload does. */
async function record(workload: Workload, command: ProfileCommand, context: CollectContext) {
  const text = `recording ${workload.label} with nsys`;
  const stopProgress = showProgress(workload, context, () => text);
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
    // The outcome is that of the program, because nsys passes its exit code on.
    outcome: { ...outcome, argv: workload.argv } satisfies ProcessOutcome,
  };
}

/** Why there is no report. */
function whyNothing(
  { reports }: ReadReports,
  said: string,
  outcome: ProcessOutcome,
  { isGated }: ProfileCommand,
  { capture_range, nvtx_capture }: NsysSettings,
): ToolError | null {
  if (reports > 0 || outcome.startError !== null || outcome.interruptedBy !== null) return null;
  const recordedNothing = NO_REPORTS.test(said) || !/error|lost/i.test(said);
  if (isGated && outcome.exitCode === 0 && recordedNothing)
    return emptyCapture(
      capture_range === "nvtx"
        ? `the range ${nvtx_capture} (pipeline.nsys.nvtx_capture) never began`
        : "the program never called cudaProfilerStart",
    );
  return nsysFailure("nsys wrote no report", said, "nsys and program");
}

/** The result of reading a recording's reports. */
interface ReadReports {
  readonly timelines: readonly NsysTimeline[];
  /** The reports that were read, without extension. */
  readonly read: readonly string[];
  /** The number of reports, including unreadable ones. */
  readonly reports: number;
  readonly notes: readonly string[];
  readonly problem: CodedError | null;
}

const EXTENSION = ".nsys-rep";

/** Exports and reads every report: one, or one for each repetition of a capture range. */
async function readReports(
  nsys: string,
  { directory, interrupt, progress, say }: CollectContext,
  commands: CommandFile,
): Promise<ReadReports> {
  const call = async (argv: readonly string[], work: ToolWork) => {
    await commands.add(argv);
    return callNsys(argv, work, { stop: interrupt.kill, say });
  };
  // Loads SQLite only if there is something to read.
  const { readNsysExport } = await import("./read/read-export.ts");
  const timelines: NsysTimeline[] = [];
  const read: string[] = [];
  const notes: string[] = [];
  let problem: CodedError | null = null;
  const reports = readdirSync(directory).filter((name) => name.endsWith(EXTENSION));
  reports.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  for (const name of reports) {
    const report = join(directory, name);
    const sqlite = `${report.slice(0, -EXTENSION.length)}.sqlite`;
    progress.update(`reading ${name}`);
    try {
      const exported = await call(exportCommand(nsys, report, sqlite), {
        doing: `exporting ${name} with nsys`,
        output: sqlite,
      });
      if (exported.failed)
        throw nsysFailure(`nsys could not export ${name}; the file is kept`, exported.text);
      timelines.push(readNsysExport(sqlite));
      read.push(name.slice(0, -EXTENSION.length));
    } catch (error) {
      if (!isCodedError(error)) throw error;
      problem = error;
      continue;
    }
    if (interrupt.stop.aborted) continue;
    // `run.2` of several, or `run`.
    const base = name.slice(0, -EXTENSION.length).replace(REPORT_NAME, "summary");
    const stats = await call(statsCommand(nsys, sqlite, join(directory, base)), {
      doing: `summarizing ${name} with nsys stats`,
    });
    if (stats.failed) notes.push("nsys stats failed: its summaries are incomplete");
  }
  removeEmptySummaries(directory);
  return { timelines, read, reports: reports.length, notes, problem };
}

/** nsys creates a file for a summary before it finds that there is no data for it. */
function removeEmptySummaries(directory: string): void {
  for (const name of readdirSync(directory)) {
    const file = join(directory, name);
    if (/^summary.*\.csv$/.test(name) && statSync(file).size === 0) rmSync(file);
  }
}

// nsys prints its own lines between those of the program.

/**
 * Keeps only the program's JSON document in a file with output of the program and nsys, and returns the rest. Without a
 * complete document the file stays unchanged.
 */
export async function keepDocument(file: string): Promise<string> {
  const text = readFileSync(file, "utf8");
  const document = documentIn(text);
  if (document === null || !isJson(document)) return text;
  await writeFileAtomic(file, `${document}\n`);
  return text.replace(document, "");
}

/** From the first brace that ends a line to the first line that is a brace. */
function documentIn(text: string): string | null {
  const start = text.indexOf("{\n");
  if (start < 0) return null;
  const end = /\n\}(?=\n|$)/.exec(text.slice(start + 1));
  return end === null ? null : text.slice(start, start + 1 + end.index + end[0].length);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Joins repeated captures, which are separate recordings with their own clocks. */
export function mergeCaptures(timelines: readonly Timeline[]): Timeline {
  const [first] = timelines;
  if (first === undefined)
    return {
      collector: "nsys",
      clock: "nsys session clock",
      originNs: 0n,
      processes: [],
      notes: [],
    };
  if (timelines.length === 1) return first;
  return {
    ...first,
    processes: timelines.flatMap(({ processes }) => processes),
    notes: [
      ...new Set(timelines.flatMap(({ notes }) => notes)),
      `${timelines.length} capture ranges were recorded one after the other`,
    ],
  };
}
