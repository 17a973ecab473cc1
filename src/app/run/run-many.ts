import type { Suspension } from "../../system/process-signals.ts";
import { EXIT_ERROR, type Session } from "../commands/command.ts";
import { wasStopped } from "../job/job.ts";
import type { Logging } from "../logging/logging.ts";
import type { Board } from "../sweep/board/board.ts";
import { endOfResult, isTolerated, sweepExitCode } from "../sweep/failure-policy.ts";
import { runSweep } from "../sweep/run-sweep.ts";
import { brokenOff } from "./broken-off.ts";
import { endSweep } from "./end-sweep.ts";
import { composedEvent } from "./job-surroundings.ts";
import { openSweep } from "./open-sweep.ts";

/**
 * Runs the task of a program as a sweep.
 *
 * @returns the exit code
 */
export async function runMany(
  session: Session,
  overrides: readonly string[],
  logging: Logging,
  board: Board,
  suspension: Suspension,
): Promise<number> {
  const { invocation, options } = session;
  const { redact } = invocation.console;
  const open = await openSweep(session, overrides, logging, suspension);
  const { gate, inThisProcess, launcher, logAsHydra, record, surroundings, sweep } = open;
  const isPlain = inThisProcess && options.summarizeSweep === undefined;
  board.start(isPlain ? "none" : inThisProcess ? "ends" : "jobs");
  const { callbacks } = surroundings;
  const event = composedEvent(sweep.master, overrides, session);
  try {
    await callbacks.notify("onComposeConfig", event);
    await callbacks.notify("onMultirunStart", event);
    const { conclusion, refused, results, unfinished } = await runSweep({
      ...open,
      onPlanned: (jobs, seconds) => logPlanned(sweep.sweeper.logger, logging, jobs, seconds),
      onBatch: board.batch,
      onEvent: board.event,
      ...(redact !== undefined && { redact }),
    }).finally(board.close);
    await callbacks.notify("onMultirunEnd", { ...event, results });
    if (conclusion !== undefined) {
      logAsHydra();
      logging.logger(SWEEP_LOGGER).info(conclusion.text);
    }
    if (refused) return EXIT_ERROR;
    const toleratesFailures = conclusion?.toleratesFailures === true;
    if (toleratesFailures) record.tolerateFailures();
    const { directory } = sweep;
    const goesOn = launcher.submit !== undefined && results.some(wasStopped);
    const ended = { directory, goesOn, isPlain, results, toleratesFailures, unfinished };
    await endSweep(ended, session);
    const counted = results.filter((result) => !(toleratesFailures && isTolerated(result)));
    const ends = counted.map(endOfResult);
    const wasCutShort = unfinished > 0 || gate.isClosed();
    return sweepExitCode(wasCutShort ? [...ends, undefined] : ends);
  } catch (error) {
    throw brokenOff(error, sweep.directory, options.name);
  } finally {
    record.release();
  }
}

/** In Hydra's words, including its stray bracket. */
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
