/** Runs a sweep while its user waits, and tells how it ended. */
import { join } from "node:path";
import { isConfigError } from "../../engine/values/errors.ts";
import { errorCode, namedFileProblem, readablePath } from "../../foundation/system/files.ts";
import {
  type HostInterval,
  overlappingIntervals,
} from "../../foundation/system/overlapping-intervals.ts";
import type { Suspension } from "../../foundation/system/process-signals.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { columnWidths, fitText, fittedWidths, padText } from "../../foundation/text/text-width.ts";
import { isFailure, stopOfSweep } from "../job/ender.ts";
import {
  enderOf,
  isSettledJob,
  isUndone,
  JOB_STATUSES,
  type JobResult,
  statusOf,
} from "../job/job.ts";
import { composedEvent } from "../job/job-context.ts";
import type { Logging } from "../job/logging/logging.ts";
import type { SweepRow } from "../job/options.ts";
import { showFailure } from "../job/report-error.ts";
import { endInterrupted, isInterrupted } from "../job/run-job.ts";
import { EXIT_ERROR } from "../job/session.ts";
import { endOfResult, isTolerated, sweepExitCode } from "../launch/failure-policy.ts";
import {
  asWritten,
  briefOverrides,
  type OverridesForm,
  shownOverrides,
} from "../launch/job-overrides.ts";
import { undamagedState } from "../record/damage.ts";
import type { Attempt } from "../record/job-state.ts";
import { sweepFolder } from "../record/layout.ts";
import { jobsToRetry } from "../record/next-commands.ts";
import type { Board } from "./board.ts";
import { NO_ACTIVITY, sweepRows } from "./job-status.ts";
import { openSweep, shownProgram, withResumeHint } from "./open-sweep.ts";
import type { LaunchedTask } from "./plan-sweep.ts";
import type { SweepSession } from "./registry.ts";
import { runSweep } from "./run-sweep.ts";
import { writeSweepPage } from "./sweep-page.ts";
import { writeSweepTables } from "./sweep-tables.ts";
import { errorLine } from "./tally.ts";

/**
 * Runs the task of a program as a sweep.
 *
 * @returns the exit code
 */
export async function runMany(
  session: SweepSession,
  task: LaunchedTask,
  logging: Logging,
  board: Board,
  suspension: Suspension,
): Promise<number> {
  const { invocation, options } = session;
  const { redact } = invocation.console;
  const open = await openSweep(session, task, logging, suspension);
  const { gate, inThisProcess, logAsHydra, record, surroundings, sweep } = open;
  const isRun = task.mode === "run";
  const isPlain = inThisProcess && (isRun || options.summarizeSweep === undefined);
  board.start(isPlain ? "none" : inThisProcess ? "ends" : "jobs");
  const { callbacks } = surroundings;
  const event = composedEvent(sweep.master, task.overrides, session);
  let interrupted: readonly JobResult[] = [];
  try {
    await callbacks.notify("onComposeConfig", event);
    await callbacks.notify(isRun ? "onRunStart" : "onMultirunStart", event);
    const { conclusion, goesOn, refused, results, unfinished } = await runSweep({
      ...open,
      onPlanned: (jobs, seconds) => logPlanned(sweep.sweeper.logger, logging, jobs, seconds),
      onBatch(jobs) {
        // Once a batch, as Hydra's launchers do: a log file of mode "w" begins anew.
        logAsHydra();
        board.batch(jobs);
      },
      onMessages(messages) {
        logAsHydra();
        for (const { level, logger, text } of messages) logging.logger(logger)[level](text);
      },
      onEvent: board.event,
      ...(redact !== undefined && { redact }),
    }).finally(board.close);
    interrupted = results.filter(isInterrupted);
    const [only] = results;
    if (isRun && only !== undefined) await callbacks.notify("onRunEnd", { ...event, result: only });
    if (!isRun && interrupted.length === 0)
      await callbacks.notify("onMultirunEnd", { ...event, results });
    if (conclusion?.text !== undefined) {
      logAsHydra();
      logging.logger(SWEEP_LOGGER).info(conclusion.text);
    }
    if (refused) return EXIT_ERROR;
    const toleratesFailures = conclusion?.toleratesFailures === true;
    if (toleratesFailures) record.tolerateFailures();
    const { directory } = sweep;
    const stoppedBy = gate.stoppedBy();
    const isStopped = stoppedBy !== undefined;
    const ended = {
      ...{ directory, goesOn, isPlain, isRun, isStopped },
      ...{ results, toleratesFailures, unfinished },
    };
    await endSweep(ended, session);
    const counted = results.filter((result) => !(toleratesFailures && isTolerated(result)));
    const ends = counted.map(endOfResult);
    const wasCutShort = unfinished > 0 || gate.isClosed();
    return sweepExitCode(wasCutShort ? [...ends, undefined] : ends, stoppedBy);
  } catch (error) {
    throw withResumeHint(error, sweep.directory, shownProgram(session));
  } finally {
    record.release();
    endInterrupted(interrupted);
  }
}

/** Hydra's message, including its unbalanced bracket. */
function logPlanned(
  logger: string | undefined,
  logging: Logging,
  jobs: number,
  seconds: number,
): void {
  if (logger === undefined) return;
  const took = `${seconds.toFixed(2)} seconds, ${(jobs / seconds).toFixed(2)} / second)`;
  logging.logger(logger).debug(`Validated configs of ${jobs} jobs in ${took}`);
}

const SWEEP_LOGGER = "hydraconf.sweep";

interface EndedSweep {
  /** The absolute path of its directory. */
  readonly directory: string;
  readonly results: readonly JobResult[];
  /** The number of jobs that never started because the sweep was stopped. */
  readonly unfinished: number;
  /** Whether unfinished jobs are left to a scheduler, with no launcher following them. */
  readonly goesOn: boolean;
  /** Whether a signal stopped it. */
  readonly isStopped: boolean;
  /** Whether the sweep counts as successful although jobs have failed. */
  readonly toleratesFailures: boolean;
  /** Whether it is a single run under a launcher, which has no table of jobs. */
  readonly isRun: boolean;
  /** Whether it prints and writes exactly what Hydra's sweeps do, apart from its record. */
  readonly isPlain: boolean;
}

/**
 * Reports how a sweep ended, and writes the table of its jobs as `sweep.json`, `sweep.csv` and `sweep.md`
 * into its directory. For a plain sweep they go into its record, since Hydra puts nothing else into the
 * directory.
 */
async function endSweep(sweep: EndedSweep, session: SweepSession): Promise<void> {
  const { directory, isPlain, isRun, results, unfinished } = sweep;
  const { invocation, options } = session;
  const { stderr, stdout } = invocation.console;
  showFailures(sweep, session);
  const isComplete = unfinished === 0 && !results.some(isUndone);
  if (!isRun) {
    // We still hold the claim, but start no more jobs.
    const rows = sweepRows(directory, { ...NO_ACTIVITY, isDriven: sweep.goesOn });
    const into = isPlain ? sweepFolder(directory) : directory;
    const files = [...writeSweepTables(into, rows), ...pageIfPossible(sweep, into, rows, session)];
    if (isPlain) return;
    const summary = await options.summarizeSweep?.(rows, {
      directory,
      readable: (path) => readablePath(path, invocation.cwd),
      concurrentJobs: concurrentJobs(sweepFolder(directory), rows),
    });
    if (summary !== undefined) stdout(summary);
    const [first = "", ...others] = files;
    const path = readablePath(join(directory, first), invocation.cwd);
    stderr(`The jobs as a table: ${[path, ...others].join(", ")}\n`);
  }
  const shown = shellQuote(readablePath(directory, invocation.cwd));
  if (!isComplete)
    stderr(
      isRun
        ? `The job has not ended by itself: ${shownProgram(session)} --resume ${shown} runs it\n`
        : `The sweep is incomplete: run the rest with ${shownProgram(session)} --resume ${shown}\n`,
    );
  const failed = results.map(statusOf).filter(isFailure);
  if (failed.length > 0 && !sweep.toleratesFailures)
    stderr(
      `Run the ${jobsToRetry(failed)} again with ${shownProgram(session)} --retry-failed ${shown}\n`,
    );
}

/** The sweep is over, and its tables are written: without its page it is as good. */
function pageIfPossible(
  { directory }: EndedSweep,
  into: string,
  rows: readonly SweepRow[],
  { invocation }: SweepSession,
): readonly string[] {
  try {
    return writeSweepPage(into, directory, rows, invocation.env);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    invocation.console.stderr(`Cannot write the page of the sweep: ${namedFileProblem(error)}\n`);
    return [];
  }
}

/** As in Hydra, the first error in full if it happened in this process; then a table of all failures. */
function showFailures(
  { isPlain, isRun, isStopped, results, toleratesFailures }: EndedSweep,
  session: SweepSession,
): void {
  const { invocation } = session;
  if (isPlain && isStopped) return;
  const thrown = results.find(({ error, status }) => status === "failed" && !isRecorded(error));
  const isShown = thrown !== undefined && !toleratesFailures && !isStopped;
  if (isShown) showFailure(thrown, session);
  const failed = results.filter((result) => !isSettledJob(result)).length;
  if ((isPlain || isRun) && !toleratesFailures && failed < 2) return;
  const { redact, stderr, terminal } = invocation.console;
  stderr(
    failureTable(results, {
      cwd: invocation.cwd,
      ...(terminal !== undefined && { columns: terminal.columns }),
      ...(redact !== undefined && { redact }),
    }),
  );
}

/** Whether an error is only a recorded line: it happened in another process, or in an earlier run. */
const isRecorded = (error: unknown): boolean => isConfigError(error) && error.code === "app.job";

/** `hydraconf sweep status` shows the others. */
const MOST_ROWS = 50;
const MOST_ERROR = 200;
/** What the overrides and the error of a job have at least, beside its number and its log. */
const NARROWEST = [Number.POSITIVE_INFINITY, 16, 24, Number.POSITIVE_INFINITY];
const GAP = "  ";

const tableWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, (widths.length - 1) * GAP.length);

const leastWidths = (widths: readonly number[]): number =>
  widths.reduce((sum, width, column) => sum + Math.min(width, NARROWEST[column] ?? width), 0);

/**
 * A table of the jobs of a sweep that failed, or that their scheduler ended: number, overrides, the first line of the
 * error, and the job's log. Empty if there are none.
 *
 * @param columns width of the terminal; undefined for no limit
 * @param redact removes secrets before texts are cut: part of a secret would not be recognised
 */
export function failureTable(
  results: readonly JobResult[],
  {
    columns,
    cwd,
    redact = (text) => text,
  }: {
    readonly columns?: number;
    readonly cwd: string;
    readonly redact?: (text: string) => string;
  },
): string {
  const failed = results.filter(
    (result) => !isSettledJob(result) && stopOfSweep(enderOf(result)) === undefined,
  );
  if (failed.length === 0) return "";
  const head = ["Job", "Overrides", "Error", "Log"];
  const rowsWith = (form: OverridesForm) =>
    failed
      .slice(0, MOST_ROWS)
      .map((result) => [
        `#${result.number}`,
        printable(redact(shownOverrides(result, form))),
        fitText(errorLine(result, redact), MOST_ERROR),
        printable(redact(readablePath(result.log ?? result.outputDir, cwd))),
      ]);
  const whole = rowsWith(asWritten);
  const isNarrow = columns !== undefined && tableWidth(columnWidths([head, ...whole])) > columns;
  const rows = isNarrow ? rowsWith(briefOverrides) : whole;
  const widths = columnWidths([head, ...rows]);
  const width = columns ?? Number.POSITIVE_INFINITY;
  // A path is shown whole, so that it can be copied: below its job if it takes the room of the others.
  const isBelow = leastWidths(widths) + (head.length - 1) * GAP.length > width;
  const beside = isBelow ? head.slice(0, -1) : head;
  const room = width - (beside.length - 1) * GAP.length;
  const path = widths.at(-1) ?? 0;
  const texts = fittedWidths(widths.slice(0, -1), head, isBelow ? room : room - path);
  const line = (cells: readonly string[], isHead = false): string => {
    const [texted, last = ""] = [cells.slice(0, -1), cells.at(-1)];
    const row = texted.map((cell, column) => {
      const most = texts[column] ?? 0;
      return padText(fitText(cell, most), most, "left");
    });
    if (!isBelow) return [...row, last].join(GAP);
    return `${row.join(GAP).trimEnd()}${isHead ? "" : `\n${GAP}${last}`}`;
  };
  const left = failed.length - rows.length;
  return [
    `${counted(failed, results.length)}:`,
    line(head, true),
    ...rows.map((cells) => line(cells)),
    ...(left > 0 ? [`and ${left} more`] : []),
    "",
  ].join("\n");
}

/** `2 of 4 jobs failed, 1 stopped`, `1 of 4 jobs timed_out` */
function counted(unfinished: readonly JobResult[], all: number): string {
  const statuses = unfinished.map(statusOf);
  const counts = JOB_STATUSES.flatMap((status) => {
    const count = statuses.filter((other) => other === status).length;
    return count === 0 ? [] : [{ count, status }];
  });
  return counts
    .map(({ count, status }, index) =>
      index === 0 ? `${count} of ${plural(all, "job")} ${status}` : `${count} ${status}`,
    )
    .join(", ");
}

/**
 * The numbers of jobs whose last attempt overlapped another job's on the same machine, according to their records: this
 * distorts their measurements.
 *
 * @param folder the sweep's `.sweep` folder
 */
export function concurrentJobs(
  folder: string,
  jobs: readonly { readonly number: number }[],
): readonly number[] {
  const stays = jobs.flatMap(({ number }) => {
    const last = undamagedState(folder, number)?.attempts.at(-1);
    return last === undefined ? [] : [{ number, ...stayOf(last) }];
  });
  return overlappingIntervals(stays).map(({ number }) => number);
}

const stayOf = ({ ended, host, started }: Attempt): HostInterval => ({
  host,
  from: Date.parse(started),
  until: ended === null ? Number.POSITIVE_INFINITY : Date.parse(ended),
});
