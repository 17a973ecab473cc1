import { join } from "node:path";
import { readablePath } from "../../system/files.ts";
import { shellQuote } from "../../text/shell-words.ts";
import { isConfigError } from "../../values/errors.ts";
import type { Session } from "../commands/command.ts";
import { showFailure } from "../errors/report-error.ts";
import { isUndone, type JobResult, wasStopped } from "../job/job.ts";
import { failureTable } from "../sweep/board/failure-table.ts";
import { hasFailed } from "../sweep/failure-policy.ts";
import { sweepFolder } from "../sweep/record/layout.ts";
import { jobsSideBySide } from "../sweep/record/side-by-side.ts";
import { NOBODY } from "../sweep/standing.ts";
import { sweepRows } from "../sweep/sweep-rows.ts";
import { writeSweepTables } from "../sweep/sweep-tables.ts";

export interface EndedSweep {
  /** The absolute path of its directory. */
  readonly directory: string;
  readonly results: readonly JobResult[];
  /** The number of jobs that never started because the sweep was stopped. */
  readonly unfinished: number;
  /** Whether unfinished jobs are left to a scheduler, with no launcher following them. */
  readonly goesOn: boolean;
  /** Whether the sweep counts as successful although jobs have failed. */
  readonly toleratesFailures: boolean;
  /** Whether it prints and writes exactly what Hydra's sweeps do, apart from its record. */
  readonly isPlain: boolean;
}

/**
 * Reports how a sweep ended, and writes the table of its jobs as `sweep.json`, `sweep.csv` and `sweep.md`
 * into its directory. For a plain sweep they go into its record, since Hydra puts nothing else into the
 * directory.
 */
export async function endSweep(sweep: EndedSweep, session: Session): Promise<void> {
  const { directory, isPlain, results, unfinished } = sweep;
  const { invocation, options } = session;
  const { stderr, stdout } = invocation.console;
  showFailures(sweep, session);
  const isComplete = unfinished === 0 && !results.some(isUndone);
  // We still hold the claim, but start no more jobs.
  const rows = sweepRows(directory, { ...NOBODY, isDriven: sweep.goesOn });
  const files = writeSweepTables(isPlain ? sweepFolder(directory) : directory, rows);
  if (isPlain) return;
  const summary = await options.summarizeSweep?.(rows, {
    directory,
    readable: (path) => readablePath(path, invocation.cwd),
    sideBySide: jobsSideBySide(sweepFolder(directory), rows),
  });
  if (summary !== undefined) stdout(summary);
  const [first = "", ...others] = files;
  const path = readablePath(join(directory, first), invocation.cwd);
  stderr(`The jobs as a table: ${[path, ...others].join(", ")}\n`);
  const shown = shellQuote(readablePath(directory, invocation.cwd));
  if (!isComplete)
    stderr(`The sweep is incomplete: run the rest with ${options.name} --resume ${shown}\n`);
  const failed = results.filter((one) => hasFailed(one) && !isUndone(one)).length;
  if (failed > 0 && !sweep.toleratesFailures)
    stderr(
      `Run the failed ${failed === 1 ? "job" : "jobs"} again with ${options.name} --retry-failed ${shown}\n`,
    );
}

/** As in Hydra, the first error in full if it happened in this process; then a table of all failures. */
function showFailures({ isPlain, results, toleratesFailures }: EndedSweep, session: Session): void {
  const { invocation } = session;
  const isStopped = results.some(wasStopped);
  if (isPlain && isStopped) return;
  const thrown = results.find(({ error, status }) => status === "failed" && !isRecorded(error));
  const isShown = thrown !== undefined && !toleratesFailures && !isStopped;
  if (isShown) showFailure(thrown, session);
  const failed = results.filter(hasFailed).length;
  if (isPlain && !toleratesFailures && failed < 2) return;
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
