/** Runs a workload under ncu once. */
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { setInterval } from "node:timers";
import { writeFileAtomicSync } from "../../../../foundation/system/atomic-write.ts";
import { makeDirectory, requireFile } from "../../../../foundation/system/files.ts";
import { startPausableTimer } from "../../../../foundation/system/long-timer.ts";
import { firstFew } from "../../../../foundation/text/plural.ts";
import {
  type ProcessOutcome,
  runWorkload,
  type StopRequests,
  type Workload,
} from "../../../machine/process.ts";
import type { CollectContext } from "../../tool.ts";
import { findReport } from "../rep/compressed.ts";
import { sectionFiles } from "./capabilities.ts";
import { hangNote, type RecognisedFailure, recogniseFailures, timeoutFailure } from "./failures.ts";
import { createLogReader, diagnosticsIn, diagnosticsOf, type NcuLog } from "./log.ts";
import type { PassCommand, PassFiles } from "./pass-command.ts";
import type { Pass } from "./pass-plan.ts";

/** One finished run of ncu. */
export interface PassRun {
  readonly pass: Pass;
  readonly outcome: ProcessOutcome;
  /** Path of the report; null where ncu wrote none. */
  readonly report: string | null;
  readonly log: NcuLog;
  /** The most significant first; includes those that ncu does not count as failures. */
  readonly failures: readonly RecognisedFailure[];
  /** Whether our time limit ended the run. */
  readonly timedOut: boolean;
  /** Notes for readers of the report, even without a failure. */
  readonly notes: readonly string[];
}

/** The input of a pass, and its time limit. */
export interface PassRequest {
  readonly pass: Pass;
  readonly command: PassCommand;
  readonly workload: Workload;
  readonly place: PassPlace;
  /** Minutes; null: no limit. */
  readonly timeoutMin: number | null;
}

/** The files of a pass. */
export interface PassPlace extends PassFiles {
  /** The directory for the log of ncu and the output of the program. */
  readonly directory: string;
}

export function placeOfPass(pass: Pass, ncuDirectory: string): PassPlace {
  const directory = join(ncuDirectory, "logs", pass.name);
  return {
    report: join(ncuDirectory, pass.name),
    directory,
    log: join(directory, "ncu.log"),
    options: join(directory, "options.txt"),
  };
}

const MS_PER_MINUTE = 60_000;
/** ncu writes its report, which may be large, after the program has ended. */
const GRACE_MS = 30_000;

/** Runs a workload under ncu. Never throws for failures of either. */
export async function runPass(
  { pass, command, workload, place, timeoutMin }: PassRequest,
  context: CollectContext,
): Promise<PassRun> {
  makeDirectory(place.directory);
  if (command.options !== null) writeFileAtomicSync(place.options, command.options);
  const following = followLog(pass, place.log, workload, context);
  const limit = timeLimit(timeoutMin, context.interrupt);
  const ended = await runWorkload(
    { ...workload, argv: command.argv },
    {
      directory: place.directory,
      env: sectionFiles(),
      interrupt: limit.interrupt,
      graceMs: GRACE_MS,
    },
  ).finally(() => {
    following.stop();
    limit.dispose();
  });
  const timedOut = limit.reached();
  // The user did not request a stop, so the next passes follow.
  const outcome = timedOut ? { ...ended, interruptedBy: null } : ended;
  const text = textOf(place.log);
  const reader = createLogReader();
  reader.push(`${text}\n`);
  // The part of ncu inside the program prints only to standard error.
  const lines = [...diagnosticsIn(text), ...diagnosticsOf(outcome.stderrFile)];
  const log = reader.state();
  const hang = hangNote({ ...log, current: following.suspect() ?? log.current });
  return {
    pass,
    outcome,
    report: findReport(place.report),
    log,
    failures: [
      ...(timedOut ? [timeoutFailure(timeoutMin ?? 0, log.current)] : []),
      ...recogniseFailures(lines),
    ],
    timedOut,
    notes: [
      ...(hang === null ? [] : [hang]),
      ...notesOfWarnings(lines),
      ...keepDetails(lines, place),
    ],
  };
}

/** Copies detail files from the folder for temporary files, which may be on a node that cannot be reached later. */
const keepDetails = (lines: readonly string[], { directory }: PassPlace): readonly string[] =>
  detailFilesIn(lines).flatMap((file) => {
    try {
      requireFile(file);
      copyFileSync(file, join(directory, basename(file)));
    } catch {
      // It belongs to another user or is gone: the name alone does not help.
      return [];
    }
    return [`more in ncu's output: ${join("ncu/logs", basename(directory), basename(file))}`];
  });

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

interface TimeLimit {
  readonly interrupt: StopRequests;
  readonly reached: () => boolean;
  readonly dispose: () => void;
}

/** Stops a run as Ctrl-C does, so that ncu writes its report. Ignored if the user stopped the run before. */
function timeLimit(minutes: number | null, interrupt: StopRequests): TimeLimit {
  if (minutes === null) return { interrupt, reached: () => false, dispose: () => {} };
  const { stop, suspension } = interrupt;
  const late = new AbortController();
  const timer = startPausableTimer(minutes * MS_PER_MINUTE, () => {
    if (!stop.aborted) late.abort("SIGINT");
  });
  const separate = suspension?.join({ suspend: timer.pause, resume: timer.goOn });
  return {
    interrupt: { ...interrupt, stop: AbortSignal.any([stop, late.signal]) },
    reached: () => late.signal.aborted,
    dispose: () => {
      timer.stop();
      separate?.();
    },
  };
}

// Messages of ncu that readers of the report need although nothing failed: something is missing, or was left behind.

interface Mention {
  /** Matched against each of ncu's warnings and errors. */
  readonly pattern: RegExp;
  readonly note: (match: RegExpExecArray) => string;
}

const MENTIONS: readonly Mention[] = [
  {
    pattern: /Unable to access the following \d+ metrics?: (.+?)\.?(?: If profiling|$)/,
    note: ([, names = ""]) =>
      `this GPU, or this slice of one (MIG), does not expose these to ncu: ${firstFew(names.split(", "), MOST_NAMES)}`,
  },
  {
    pattern: /Failed to load Nsight Compute CUDA modules/,
    note: () =>
      "ncu and the driver do not match: launch metrics may be missing (n/a); use another ncu or driver",
  },
  {
    pattern: /No metrics to collect found in sections/,
    note: () =>
      "ncu found nothing to measure: this version has no such set, or its sections have no metrics for this GPU; ncu --list-sets and ncu --list-sections print what there is (pipeline.ncu.ncu_cli.set, sections)",
  },
  {
    pattern: /Only (\d+)\/(\d+) kernels could be matched across replay passes/,
    note: ([, matched, all]) =>
      `the program did not launch the same kernels in every pass: ${matched} of ${all} could be matched, the others are missing`,
  },
  {
    pattern: /Inconsistent number of profiled kernels/,
    note: () =>
      "the program did not launch the same kernels in every pass: ncu left out those that differ",
  },
  {
    pattern: /(?:Graph kernel nodes|Kernel nodes of a graph)/,
    note: () =>
      "ncu left out kernels of CUDA graphs that it cannot profile one by one: run without graphs, or measure each graph as a whole: pipeline.ncu.ncu_cli.graph_profiling=graph",
  },
  {
    pattern: /because of a stream capture|during a stream capture on the same context/,
    note: () => "ncu left out kernels launched during the capture of a CUDA graph",
  },
  {
    pattern: /disconnected before reaching the range end marker/,
    note: () => "a range was still open when the program ended: ncu did not measure it",
  },
  {
    pattern: /Failed to reset GPU clocks/,
    note: () =>
      "ncu could not reset the GPU's clocks: run ncu --clock-control reset or nvidia-smi --reset-gpu-clocks",
  },
];

/** @param lines lines of ncu, with or without their marks */
export const notesOfWarnings = (lines: readonly string[]): readonly string[] =>
  MENTIONS.flatMap(({ pattern, note }) => {
    const match = lines.map((line) => pattern.exec(line)).find((found) => found !== null);
    return match == null ? [] : [note(match)];
  });

/** ncu 2025 and later name a separate file that usually has the true cause. */
export const detailFilesIn = (lines: readonly string[]): readonly string[] => [
  ...new Set(
    lines.flatMap((line) => /For more information, see (\/.+\.log)/.exec(line)?.[1] ?? []),
  ),
];

const MOST_NAMES = 3;

// The progress line of a run, from ncu's log while it is written.

const REFRESH_MS = 200;

export interface Following {
  readonly stop: () => void;
  /** What was being measured when ncu warned of a hang; null without a warning. */
  readonly suspect: () => string | null;
}

/**
 * Updates the progress line (unless the program itself writes to the terminal), and reports at once when ncu suspects a
 * hang.
 */
export function followLog(
  pass: Pick<Pass, "name" | "mode">,
  file: string,
  { stdout }: Pick<Workload, "stdout">,
  { progress, say }: Pick<CollectContext, "progress" | "say">,
): Following {
  const reader = createLogReader();
  const decoder = new TextDecoder();
  let offset = 0;
  let reading = false;
  let stopped = false;
  let warned = false;
  let suspect: string | null = null;
  const show = async () => {
    if (reading) return;
    reading = true;
    try {
      const text = await readFrom(file, offset);
      offset += text.length;
      reader.push(decoder.decode(text, { stream: true }));
    } finally {
      reading = false;
    }
    if (stopped) return;
    const log = reader.state();
    const hang = warned ? null : hangNote(log);
    if (hang !== null) {
      warned = true;
      suspect = log.current;
      progress.stop();
      say(hang);
    }
    if (stdout !== "forward") progress.update(progressText(pass, log));
  };
  void show();
  const timer = setInterval(() => void show(), REFRESH_MS);
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
      if (stdout !== "forward") progress.stop();
    },
    suspect: () => suspect,
  };
}

export function progressText(pass: Pick<Pass, "name" | "mode">, log: NcuLog): string {
  const { finished, current, percent } = log;
  const progress = current === null ? "" : `, now ${current} (${percent} %)`;
  const hang = hangNote(log) === null ? "" : ", which may hang";
  return `ncu ${pass.name}, ${pass.mode} replay: ${finished} measured${progress}${hang}`;
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(Math.max(0, size - offset)),
        0,
        Math.max(0, size - offset),
        offset,
      );
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    // The file is created when ncu starts.
    return Buffer.alloc(0);
  }
}
