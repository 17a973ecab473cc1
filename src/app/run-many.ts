import { EXIT_ERROR, type Session } from "./commands/command.ts";
import { endSweep } from "./end-sweep.ts";
import { checkJobs } from "./job/check-jobs.ts";
import { textAt } from "./job/hydra-values.ts";
import { failedJob, type JobResult, wasStopped } from "./job/job.ts";
import type { PlannedJob } from "./job/plan-job.ts";
import { checkJobDirectories, setAside } from "./job/run-directory.ts";
import { type JobSurroundings, runJob, takeDirectory } from "./job/run-job.ts";
import { placeOf } from "./job-place.ts";
import { composedEvent, hydraLogging, surround } from "./job-surroundings.ts";
import { LAUNCHERS } from "./launchers/index.ts";
import type { SweepJob } from "./launchers/launcher.ts";
import type { Logging } from "./logging/logging.ts";
import type { Board } from "./sweep/board/board.ts";
import {
  endOfResult,
  failurePolicy,
  hasFailed,
  openGate,
  sweepExitCode,
} from "./sweep/failure-policy.ts";
import { chosenKind, type PlannedSweep, planSweep } from "./sweep/plan-sweep.ts";
import { sweepFingerprint } from "./sweep/record/fingerprint.ts";
import { readJobState } from "./sweep/record/job-state.ts";
import { openRecord } from "./sweep/record/sweep-record.ts";
import { runSweep } from "./sweep/run-sweep.ts";
import { warn } from "./warn.ts";
import { beginJob, endOf } from "./worker/recorded-job.ts";

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
): Promise<number> {
  const { composer, invocation, options } = session;
  const place = placeOf(session);
  const { resumed } = invocation;
  const sweep = planSweep(overrides, composer, place, resumed?.directory);
  const { master } = sweep;
  warn(master.warnings, invocation);
  const logAsHydra = hydraLogging(master, session, logging);
  logAsHydra();
  const surroundings = await surround(session, master, logging);
  const kind = chosenKind("hydra.launcher", LAUNCHERS, master, composer);
  const gate = openGate(failurePolicy(master.root, composer.context));
  const record = openRecord({
    sweep: sweepFacts(session, sweep, overrides),
    ...(resumed === undefined ? {} : { resumption: resumed }),
    ...(invocation.console.redact === undefined ? {} : { redact: invocation.console.redact }),
  });
  const launcher = kind.open({
    root: master.root,
    context: composer.context,
    logging,
    logAsHydra,
    record,
    gate,
    invocation,
    runHere: (job) => runHere(job, surroundings, record.folder, invocation.console.redact),
  });
  const isPlain = kind.inThisProcess === true && options.summarizeSweep === undefined;
  board.start(isPlain ? "none" : kind.inThisProcess === true ? "ends" : "jobs");
  const { callbacks } = surroundings;
  const event = composedEvent(master, overrides, session);
  await callbacks.notify("onComposeConfig", event);
  await callbacks.notify("onMultirunStart", event);
  const { conclusion, refused, results, unfinished } = await runSweep({
    sweep,
    launcher,
    record,
    gate,
    onBatch: board.batch,
    onEvent: board.event,
    ...(invocation.console.redact === undefined ? {} : { redact: invocation.console.redact }),
    check: async (jobs) => {
      // What an earlier attempt at a job left in its directory is put aside when it starts.
      const isNew = ({ number }: SweepJob) =>
        resumed === undefined || readJobState(record.folder, number) === undefined;
      checkJobDirectories(jobs.filter(isNew), place.resultFiles);
      const { check: _onThisMachine, ...elsewhere } = options;
      return checkJobs(jobs, kind.runsElsewhere === true ? elsewhere : options, invocation.console);
    },
  })
    .finally(board.close)
    .finally(record.release);
  await callbacks.notify("onMultirunEnd", { ...event, results });
  if (conclusion !== undefined) {
    logAsHydra();
    logging.logger(SWEEP_LOGGER).info(conclusion.text);
  }
  if (refused) return EXIT_ERROR;
  const toleratesFailures = conclusion?.toleratesFailures === true;
  endSweep({ directory: sweep.directory, results, toleratesFailures, isPlain }, session);
  const isTolerated = (result: JobResult) =>
    toleratesFailures && hasFailed(result) && !wasStopped(result);
  const ends = results.filter((result) => !isTolerated(result)).map(endOfResult);
  return sweepExitCode(unfinished > 0 ? [...ends, undefined] : ends);
}

const SWEEP_LOGGER = "hydraconf.sweep";

/** What the manifest says of a sweep. */
const sweepFacts = (
  { composer, invocation, options }: Session,
  { directory, master }: PlannedSweep,
  overrides: readonly string[],
) => ({
  program: {
    name: options.name,
    command: invocation.command ?? null,
    argv: invocation.argv,
  },
  cwd: invocation.cwd,
  now: invocation.now.toISOString(),
  directory,
  overrides,
  launcher: textAt(master.root, "hydra.launcher._target_", composer.context) ?? "",
  fingerprint: sweepFingerprint(master, directory),
});

/** What goes wrong before the task of one job fails that job, not the others. */
async function runHere(
  job: SweepJob,
  surroundings: JobSurroundings,
  folder: string,
  redact: ((text: string) => string) | undefined,
): Promise<JobResult> {
  const recorded = beginJob(folder, job.number);
  if (recorded.earlierAttempts > 0)
    setAside(job.outputDir, surroundings.resultFiles, recorded.earlierAttempts);
  const result = await runInDirectory(job, surroundings);
  recorded.end(endOf(result, redact));
  return result;
}

async function runInDirectory(job: PlannedJob, surroundings: JobSurroundings): Promise<JobResult> {
  try {
    const release = takeDirectory(job, surroundings.resultFiles);
    return await runJob(job, surroundings).finally(release);
  } catch (error) {
    return failedJob(job, error);
  }
}
