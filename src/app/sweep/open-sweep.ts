/** Opens a sweep: its plan, its launcher and its record. */
import { ConfigError } from "../../engine/values/errors.ts";
import type { Suspension } from "../../foundation/system/process-signals.ts";
import { firstFewOf, plural } from "../../foundation/text/plural.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { checkJobs, factsOf } from "../job/check-jobs.ts";
import { textAt } from "../job/hydra-values.ts";
import { failedJob, type JobResult } from "../job/job.ts";
import { hydraLogging, openJobContext } from "../job/job-context.ts";
import type { Logging } from "../job/logging/logging.ts";
import { jobPlace, type PlannedJob, type SweepJob } from "../job/plan-job.ts";
import type { Invocation, WorkerRequest } from "../job/process/invocation.ts";
import { coded, isRefusalOfSystem } from "../job/report-error.ts";
import { checkJobDirectories, setAside, sweepMode } from "../job/run-directory.ts";
import { type JobContext, runJob, takeDirectory } from "../job/run-job.ts";
import { type FailureGate, failsFast, failurePolicy, openGate } from "../launch/failure-policy.ts";
import type { Launcher, LauncherDefinition, LauncherRequest, Pruning } from "../launch/launcher.ts";
import type { FailurePolicy } from "../launch/launcher-settings.ts";
import { completeLauncher } from "../launch/scheduler.ts";
import { refuseUnstartable, workerCommand } from "../launch/worker.ts";
import { endWithProcess } from "../record/end-with-process.ts";
import { readJobState } from "../record/job-state.ts";
import { awaitHandover, awaitOrder, isCancelled, refuseIfRun } from "../record/launcher-claim.ts";
import { launcherFolder } from "../record/layout.ts";
import { nextCommand, typedCommand } from "../record/next-commands.ts";
import { orphanOf } from "../record/orphans.ts";
import { beginJob, endOf, firstLine, signalledBy } from "../record/recorded-job.ts";
import {
  isRecorded,
  openRecord,
  type SweepRecord,
  sweepFingerprint,
} from "../record/sweep-record.ts";
import {
  type BatchChecks,
  jobOfProgram,
  type LaunchedTask,
  type PlannedSweep,
  planTask,
  SWEEP_FILE,
} from "./plan-sweep.ts";
import { createPruning } from "./pruning.ts";
import { backendOf, chosenOne, type SweepSession } from "./registry.ts";

/** A sweep with everything needed to run it or to hand it to another process. */
export interface OpenSweep extends BatchChecks {
  readonly sweep: PlannedSweep;
  readonly surroundings: JobContext;
  readonly launcher: Launcher & Pick<Required<Launcher>, "launch">;
  readonly record: SweepRecord;
  /** Whether jobs run in this process. */
  readonly inThisProcess: boolean;
  readonly policy: FailurePolicy;
  readonly gate: FailureGate;
  readonly pruning?: Pruning;
  /** Directs log messages to Hydra's own log again. */
  readonly logAsHydra: () => void;
}

/**
 * Plans a sweep and opens its launcher and its record. Creates no files.
 *
 * @throws ConfigError if the sweep cannot be composed or launched, and `app.sweep_record` if another process runs the
 * sweep, or a scheduler still has jobs of it that this launcher does not know
 */
export async function openSweep(
  session: SweepSession,
  task: LaunchedTask,
  logging: Logging,
  suspension?: Suspension,
): Promise<OpenSweep> {
  const { composer, invocation, options } = session;
  const { composition: wished, overrides } = task;
  const isRun = task.mode === "run";
  const place = jobPlace(session);
  const { announce, console, resumed } = invocation;
  const logAsHydra = hydraLogging(wished, session, logging);
  logAsHydra();
  // A program with a `delegate` logs this of a run itself.
  if (!isRun || options.delegate === undefined) await session.logInfo(wished, overrides, logging);
  const registry = await session.registry();
  const { launchers } = registry;
  const sweep = planTask(task, composer, place, registry, {
    resumed,
  });
  const { master } = sweep;
  const surroundings = await openJobContext(session, master, logging);
  const chosen = chosenOne("hydra.launcher", launchers, master, composer);
  const settings = sweep.launcherSettings;
  const policy = failurePolicy(master.root, composer.context);
  const rights = sweepMode(master.root, composer.context);
  const record = openRecord({
    ...(rights !== undefined && { mode: rights }),
    sweep: sweepFacts(session, sweep, overrides),
    isSearch: sweep.sweeper.judgesFailures === true,
    ...(sweep.sweeper.problemOf && { problemOf: sweep.sweeper.problemOf }),
    retries: chosen.retries?.(settings) ?? 0,
    ...(resumed !== undefined && { resumption: resumed }),
    ...(console.redact !== undefined && { redact: console.redact }),
    ...(console.secretsKnown !== undefined && { secretsKnown: console.secretsKnown }),
    ...(announce !== undefined && { onAdmitted: announce }),
  });
  // A process that was started to continue the sweep receives the claim.
  if (announce === undefined) refuseIfRun(record.folder);
  else await awaitHandover(record.folder);
  await awaitOrder(record.folder, (line) => console.stderr(`${line}\n`));
  await refuseScheduled(sweep.directory, chosen, launchers, invocation);
  const { pruning: rule } = sweep.sweeper;
  if (rule !== undefined && chosen.prunes !== true) throw unprunable(chosen);
  const pruning = rule && createPruning(rule, record.resultOf);
  const gate = openGate(policy, () => isCancelled(record.folder));
  const request: LauncherRequest = {
    settings,
    directory: sweep.directory,
    notes: launcherFolder(record.folder, chosen.name),
    env: invocation.env,
    isResumed: resumed !== undefined,
    logger: (name) => logging.logger(name),
    say: (line) => console.stderr(`${line}\n`),
    mayStart() {
      const may = gate.mayStart();
      if (may) record.refuseIfLost();
      return may;
    },
    async runHere(job) {
      const result = await runHere(
        job,
        jobOfProgram(sweep, job),
        surroundings,
        record,
        console.redact,
      );
      logAsHydra();
      return result;
    },
    workerCommand({ number }) {
      refuseUnstartable(record.facts());
      return workerCommand(record.facts(), {
        folder: record.folder,
        number,
        ...trustOf(invocation),
      });
    },
    resultOf: record.resultOf,
    async endOfEarlier(job) {
      await orphanOf(record.folder, job.number)?.ended;
      return record.endedSince(job);
    },
    internals: {
      record,
      invocation,
      reusesWorkers: options.reusesWorkers ?? false,
      failsFast: failsFast(master.root, composer.context),
      isRun,
      ...(pruning !== undefined && { pruning }),
      ...(suspension !== undefined && { suspension }),
    },
  };
  const launcher = completeLauncher(chosen.open(request), request, () =>
    backendOf([chosen], sweep.directory, invocation.env),
  );
  const check: OpenSweep["check"] = async (planned, owners) => {
    // The results of a job's earlier attempt are moved aside when it starts.
    const isNew = ({ number }: SweepJob) =>
      resumed === undefined || readJobState(record.folder, number) === undefined;
    // A run must not take the place of a sweep.
    const taken = isRun ? [...place.resultFiles, SWEEP_FILE] : place.resultFiles;
    checkJobDirectories(planned.filter(isNew), taken, owners);
    const jobs = planned.map((job) => jobOfProgram(sweep, job));
    const { check: _onThisMachine, ...elsewhere } = options;
    const { inspection } = options.delegate ?? {};
    const checked = chosen.runsElsewhere === true ? elsewhere : options;
    const isFit = await checkJobs(jobs, checked, console, place);
    if (isFit && inspection !== undefined)
      for (const job of jobs) {
        place.publish(job.root);
        inspection.note({ ...factsOf(job), context: place.context });
      }
    return isFit;
  };
  const inspect = async () => options.delegate?.inspection?.finish({ isPlan: false });
  const inThisProcess = chosen.inThisProcess === true;
  return {
    ...{ sweep, surroundings, launcher, record, inThisProcess, policy, gate, check, inspect },
    ...(pruning !== undefined && { pruning }),
    logAsHydra,
  };
}

const unprunable = ({ name }: LauncherDefinition): ConfigError =>
  new ConfigError({
    code: "app.unsupported",
    message: `hydra/launcher=${name} cannot end jobs early`,
    key: "hydra.sweeper.pruner",
    hint: "use hydra/launcher=local",
  });

const trustOf = ({ trust }: Invocation): Partial<Pick<WorkerRequest, "trust">> =>
  trust === undefined ? {} : { trust };

/** The record of a resumed sweep whose jobs are only shown: it is not claimed, and nothing is written. */
export async function openShownRecord(
  session: SweepSession,
  sweep: PlannedSweep,
  overrides: readonly string[],
): Promise<SweepRecord | undefined> {
  const { composer, invocation, registry } = session;
  const { resumed } = invocation;
  if (resumed === undefined) return undefined;
  const { launchers } = await registry();
  const chosen = chosenOne("hydra.launcher", launchers, sweep.master, composer);
  return openRecord({
    sweep: sweepFacts(session, sweep, overrides),
    isSearch: sweep.sweeper.judgesFailures === true,
    ...(sweep.sweeper.problemOf && { problemOf: sweep.sweeper.problemOf }),
    retries: chosen.retries?.(sweep.launcherSettings) ?? 0,
    resumption: resumed,
    isPlan: true,
  });
}

/** The facts about a sweep that its manifest records. */
const sweepFacts = (
  { composer, invocation, options }: SweepSession,
  { directory, earlierJobs, master, mode }: PlannedSweep,
  overrides: readonly string[],
  typed = typedCommand(invocation),
) => ({
  program: {
    name: options.name,
    ...(typed && { typed: typed.program }),
    command: invocation.command ?? null,
    argv: invocation.argv,
  },
  cwd: invocation.cwd,
  now: invocation.now.toISOString(),
  dialect: composer.context.dialect.name,
  directory,
  ...(mode === "run" && { mode }),
  overrides,
  launcher: textAt(master.root, "hydra.launcher._target_", composer.context) ?? "",
  launcher_choice: master.choices.get("hydra/launcher") ?? null,
  fingerprint: sweepFingerprint(master, directory),
  ...(earlierJobs !== undefined && { earlier_jobs: earlierJobs }),
});

/**
 * Runs one job of a sweep in this process. If its directory cannot be claimed, the job fails; errors between that and
 * its task, such as a wrong log config, end the sweep, as in Hydra.
 */
async function runHere(
  { number }: Pick<SweepJob, "number">,
  job: PlannedJob,
  surroundings: JobContext,
  { folder }: Pick<SweepRecord, "folder">,
  redact: ((text: string) => string) | undefined,
): Promise<JobResult> {
  const recorded = beginJob(folder, number);
  const watched = endWithProcess({
    recorded,
    firstLine: (error) => firstLine(error, redact),
    enderOf: (signal) => signalledBy(folder, number, { by: "launcher", signal }),
  });
  try {
    if (recorded.earlierAttempts > 0)
      setAside(job.outputDir, surroundings.resultFiles, recorded.earlierAttempts);
    const result = watched.judged(await runInDirectory(job, surroundings));
    recorded.end(endOf(result, redact));
    return result;
  } catch (error) {
    recorded.end(endOf(failedJob(job, error), redact));
    throw error;
  } finally {
    watched.release();
  }
}

async function runInDirectory(job: PlannedJob, surroundings: JobContext): Promise<JobResult> {
  let release: () => void;
  try {
    const { context, resultFiles } = surroundings;
    release = takeDirectory(job, resultFiles, sweepMode(job.root, context));
  } catch (error) {
    return failedJob(job, coded(error));
  }
  return runJob(job, surroundings).finally(release);
}

/** The command with which the user started the program. */
export const shownProgram = ({
  invocation,
  options,
}: {
  readonly invocation: Parameters<typeof typedCommand>[0];
  readonly options: Pick<SweepSession["options"], "name">;
}): string => typedCommand(invocation)?.program ?? options.name;

/**
 * Adds a hint how to resume the sweep to a system error that ended it, such as a full disk or a directory that became
 * read-only: finished jobs are not lost. Other errors are returned unchanged.
 */
export function withResumeHint(error: unknown, directory: string, program: string): unknown {
  if (!isRefusalOfSystem(error)) return error;
  const shown = shellQuote(directory);
  return new ConfigError({
    code: "app.system",
    message: error.message,
    hint: isRecorded(directory)
      ? `finished jobs are recorded; fix this, then run the rest with ${program} --resume ${shown}, and failed jobs with --retry-failed ${shown}`
      : "no job has started; fix this, or choose another directory with hydra.sweep.dir=DIR",
    cause: error,
  });
}

/**
 * Refuses jobs that a scheduler still has: it runs them even while a sweep is started or resumed, so they must not run
 * twice, nor in the directories of another sweep. Only the scheduler's own launcher continues with them.
 *
 * @throws ConfigError `app.sweep_record`
 */
async function refuseScheduled(
  directory: string,
  chosen: LauncherDefinition,
  launchers: readonly LauncherDefinition[],
  invocation: Invocation,
): Promise<void> {
  const { env, resumed } = invocation;
  if (resumed !== undefined && chosen.backend !== undefined) return;
  const backend = await backendOf(launchers, directory, env);
  if (backend === undefined) return;
  // Jobs that the scheduler lost, and that are not recorded yet, are no reason to refuse.
  await backend.reconcile();
  const live = (await backend.status()).filter(({ phase }) => phase !== "over");
  if (live.length === 0) return;
  throw new ConfigError({
    code: "app.sweep_record",
    message: `The scheduler still has ${plural(live.length, "job")} of ${resumed === undefined ? "an earlier sweep" : "the sweep"} in '${directory}': ${firstFewOf(live, 3, ({ id }) => id)}`,
    key: resumed === undefined ? "hydra.sweep.dir" : "hydra/launcher",
    hint: `cancel them with '${nextCommand("cancel", directory, typedCommand(invocation)?.hydraconf)}', or ${resumed === undefined ? "choose another directory for this sweep" : "continue with the same hydra/launcher"}`,
  });
}
