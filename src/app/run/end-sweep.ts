import { join } from "node:path";
import { readablePath } from "../../readable-path.ts";
import { shellQuote } from "../../shell-quote.ts";
import { isConfigError } from "../../values/errors.ts";
import type { Session } from "../commands/command.ts";
import { showFailure } from "../errors/report-error.ts";
import { isUndone, type JobResult, wasStopped } from "../job/job.ts";
import { failureTable } from "../sweep/board/failure-table.ts";
import { hasFailed } from "../sweep/failure-policy.ts";
import { sweepFolder } from "../sweep/record/layout.ts";
import { NOBODY } from "../sweep/standing.ts";
import { sweepRows } from "../sweep/sweep-rows.ts";
import { writeSweepTables } from "../sweep/sweep-tables.ts";

export interface EndedSweep {
  /** The absolute path of its directory. */
  readonly directory: string;
  readonly results: readonly JobResult[];
  /** Jobs that never started, since the sweep was stopped before them. */
  readonly unfinished: number;
  /** Whether a scheduler still has what has not ended, and nobody follows it any more. */
  readonly goesOn: boolean;
  /** Whether the sweeper counts failed jobs as no failure of the sweep. */
  readonly toleratesFailures: boolean;
  /** Whether it shows and leaves what Hydra's sweeps do and, but for its record, no more. */
  readonly isPlain: boolean;
}

/**
 * Tells what a sweep came to, and writes the table of its jobs: `sweep.json`, `sweep.csv` and
 * `sweep.md`, in its directory. Of a plain one they stand in its record, since Hydra leaves nothing
 * else there.
 */
export async function endSweep(sweep: EndedSweep, session: Session): Promise<void> {
  const { directory, isPlain, results, unfinished } = sweep;
  const { invocation, options } = session;
  const { stderr, stdout } = invocation.console;
  showFailures(sweep, session);
  const isComplete = unfinished === 0 && !results.some(isUndone);
  // We hold it still, but start nothing more.
  const rows = sweepRows(directory, { ...NOBODY, isDriven: sweep.goesOn });
  const files = writeSweepTables(isPlain ? sweepFolder(directory) : directory, rows);
  if (isPlain) return;
  const summary = await options.summarizeSweep?.(rows, {
    directory,
    readable: (path) => readablePath(path, invocation.cwd),
  });
  if (summary !== undefined) stdout(summary);
  const [first = "", ...others] = files;
  const path = readablePath(join(directory, first), invocation.cwd);
  stderr(`The jobs as a table: ${[path, ...others].join(", ")}\n`);
  const shown = shellQuote(readablePath(directory, invocation.cwd));
  if (!isComplete)
    stderr(`The sweep is not complete: ${options.name} --resume ${shown} runs the rest\n`);
  const failed = results.filter((one) => hasFailed(one) && !isUndone(one)).length;
  if (failed > 0 && !sweep.toleratesFailures)
    stderr(
      `${failed === 1 ? "The failed job runs" : "The failed jobs run"} again with ${options.name} --retry-failed ${shown}\n`,
    );
}

/** As Hydra, the first error in full, where it is of this process; then a table of all. */
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

/** The line that is left of an error of another process, or of an earlier time. */
const isRecorded = (error: unknown): boolean => isConfigError(error) && error.code === "app.job";
