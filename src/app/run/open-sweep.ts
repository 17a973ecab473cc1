import type { Suspension } from "../../system/process-signals.ts";
import type { Session } from "../commands/command.ts";
import { coded } from "../errors/report-error.ts";
import { logInfo } from "../info/log-info.ts";
import { checkJobs } from "../job/check-jobs.ts";
import { textAt } from "../job/hydra-values.ts";
import { failedJob, type JobResult } from "../job/job.ts";
import type { PlannedJob } from "../job/plan-job.ts";
import { checkJobDirectories, setAside } from "../job/run-directory.ts";
import { type JobSurroundings, runJob, takeDirectory } from "../job/run-job.ts";
import { LAUNCHERS } from "../launchers/index.ts";
import type { Launcher, SweepJob } from "../launchers/launcher.ts";
import type { Logging } from "../logging/logging.ts";
import { chosenKind } from "../sweep/chosen-kind.ts";
import {
  type FailureGate,
  type FailurePolicy,
  failurePolicy,
  openGate,
} from "../sweep/failure-policy.ts";
import { composeMaster, type PlannedSweep, planSweep } from "../sweep/plan-sweep.ts";
import { isCancelled } from "../sweep/record/cancellation.ts";
import { sweepFingerprint } from "../sweep/record/fingerprint.ts";
import { readJobState } from "../sweep/record/job-state.ts";
import { awaitOrder, refuseIfRun } from "../sweep/record/launcher-claim.ts";
import { openRecord, type SweepRecord } from "../sweep/record/sweep-record.ts";
import { refuseScheduled } from "../sweep/refuse-scheduled.ts";
import { beginJob, endOf } from "../worker/recorded-job.ts";
import { placeOf } from "./job-place.ts";
import { hydraLogging, surround } from "./job-surroundings.ts";

/** A sweep, with everything needed to run it or to hand it to another process. */
export interface OpenSweep {
  readonly sweep: PlannedSweep;
  readonly surroundings: JobSurroundings;
  readonly launcher: Launcher;
  readonly record: SweepRecord;
  /** Whether jobs run in this process. */
  readonly inThisProcess: boolean;
  readonly policy: FailurePolicy;
  readonly gate: FailureGate;
  /** Checks jobs before they are recorded; false after showing what is wrong. */
  readonly check: (jobs: readonly SweepJob[]) => Promise<boolean>;
  /** Directs log messages to Hydra's own log again. */
  readonly logAsHydra: () => void;
}

/**
 * Plans a sweep and opens its launcher and its record. Creates no files.
 *
 * @throws ConfigError for what cannot be composed or launched, and `app.sweep_record` if another process runs
 * the sweep, or a scheduler still has jobs of it that this launcher does not know
 */
export async function openSweep(
  session: Session,
  overrides: readonly string[],
  logging: Logging,
  suspension?: Suspension,
): Promise<OpenSweep> {
  const { composer, invocation, options } = session;
  const place = placeOf(session);
  const { announce, console, resumed } = invocation;
  const wished = composeMaster(composer, overrides);
  const logAsHydra = hydraLogging(wished, session, logging);
  logAsHydra();
  await logInfo(composer, overrides, { mode: "multirun" }, logging);
  const sweep = planSweep(wished, overrides, composer, place, resumed?.directory);
  const { master } = sweep;
  const surroundings = await surround(session, master, logging);
  const kind = chosenKind("hydra.launcher", LAUNCHERS, master, composer);
  const policy = failurePolicy(master.root, composer.context);
  const record = openRecord({
    sweep: sweepFacts(session, sweep, overrides),
    isSearch: sweep.sweeper.judgesFailures === true,
    ...(sweep.sweeper.problemOf && { problemOf: sweep.sweeper.problemOf }),
    retries: kind.retries?.(master.root, composer.context) ?? 0,
    ...(resumed !== undefined && { resumption: resumed }),
    ...(console.redact !== undefined && { redact: console.redact }),
    ...(console.secretsKnown !== undefined && { secretsKnown: console.secretsKnown }),
    ...(announce !== undefined && { onAdmitted: announce }),
  });
  // A process started to continue the sweep has been handed the claim.
  if (announce === undefined) refuseIfRun(record.folder);
  await awaitOrder(record.folder, (line) => console.stderr(`${line}\n`));
  await refuseScheduled(sweep.directory, kind, invocation);
  const gate = openGate(policy, () => isCancelled(record.folder));
  const launcher = kind.open({
    root: master.root,
    context: composer.context,
    logging,
    logAsHydra,
    record,
    gate,
    invocation,
    ...(suspension !== undefined && { suspension }),
    runHere: (job) => runHere(job, surroundings, record.folder, console.redact),
  });
  const check = async (jobs: readonly SweepJob[]) => {
    // Files of a job's earlier attempt are moved aside when it starts.
    const isNew = ({ number }: SweepJob) =>
      resumed === undefined || readJobState(record.folder, number) === undefined;
    checkJobDirectories(jobs.filter(isNew), place.resultFiles);
    const { check: _onThisMachine, ...elsewhere } = options;
    return checkJobs(jobs, kind.runsElsewhere === true ? elsewhere : options, console);
  };
  const inThisProcess = kind.inThisProcess === true;
  return { sweep, surroundings, launcher, record, inThisProcess, policy, gate, check, logAsHydra };
}

/** The facts about a sweep that its manifest records. */
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
  launcher_choice: master.choices.get("hydra/launcher") ?? null,
  fingerprint: sweepFingerprint(master, directory),
});

/**
 * Runs one job of a sweep in this process. If its directory cannot be taken, the job fails; errors between
 * that and its task, such as a wrong log config, end the sweep, as in Hydra.
 */
async function runHere(
  job: SweepJob,
  surroundings: JobSurroundings,
  folder: string,
  redact: ((text: string) => string) | undefined,
): Promise<JobResult> {
  const recorded = beginJob(folder, job.number);
  if (recorded.earlierAttempts > 0)
    setAside(job.outputDir, surroundings.resultFiles, recorded.earlierAttempts);
  try {
    const result = await runInDirectory(job, surroundings);
    recorded.end(endOf(result, redact));
    return result;
  } catch (error) {
    recorded.end(endOf(failedJob(job, error), redact));
    throw error;
  }
}

async function runInDirectory(job: PlannedJob, surroundings: JobSurroundings): Promise<JobResult> {
  let release: () => void;
  try {
    release = takeDirectory(job, surroundings.resultFiles);
  } catch (error) {
    return failedJob(job, coded(error));
  }
  return runJob(job, surroundings).finally(release);
}
