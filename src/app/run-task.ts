import { type Composition, createConfig } from "../compose/index.ts";
import { isConfigError } from "../values/errors.ts";
import { pyRepr } from "../values/python-text.ts";
import type { ComposedEvent } from "./callbacks/callback.ts";
import { EXIT_ERROR, type Session } from "./commands/command.ts";
import { checkJobs } from "./job/check-jobs.ts";
import { textAt } from "./job/hydra-values.ts";
import { failedJob, type JobResult, wasStopped } from "./job/job.ts";
import { type PlannedJob, planJob } from "./job/plan-job.ts";
import { checkJobDirectories, setAside } from "./job/run-directory.ts";
import { type JobSurroundings, runJob, takeDirectory } from "./job/run-job.ts";
import { placeOf } from "./job-place.ts";
import { hydraLogging, surround } from "./job-surroundings.ts";
import { LAUNCHERS } from "./launchers/index.ts";
import type { SweepJob } from "./launchers/launcher.ts";
import { createLogging, type Logging } from "./logging/logging.ts";
import { reportError } from "./report-error.ts";
import { chooseMode } from "./run-mode.ts";
import { failurePolicy, openGate } from "./sweep/failure-policy.ts";
import { chosenKind, type PlannedSweep, planSweep } from "./sweep/plan-sweep.ts";
import { sweepFingerprint } from "./sweep/record/fingerprint.ts";
import { readJobState } from "./sweep/record/job-state.ts";
import { openRecord } from "./sweep/record/sweep-record.ts";
import { runSweep } from "./sweep/run-sweep.ts";
import { changesDirectoryByDefault, VERSION_WARNING } from "./version-base.ts";
import { warn, warnOf } from "./warn.ts";
import { beginJob, endOf } from "./worker/recorded-job.ts";

/** Runs the task of a program: one job, or a sweep. */
export async function runTask(session: Session): Promise<number> {
  const { composer, invocation, options, parsed } = session;
  const { mode, overrides, warning } = chooseMode(
    session.overrides,
    parsed.flags.has("multirun"),
    composer,
  );
  if (warning !== undefined) warnOf(warning, invocation);
  if (changesDirectoryByDefault(options.versionBase)) warnOf(VERSION_WARNING, invocation);
  const logging = createLogging({ console: invocation.console });
  try {
    const all = [...session.overrides, ...overrides];
    const results =
      mode === "run" ? await runOne(session, all, logging) : await runMany(session, all, logging);
    return results === null ? EXIT_ERROR : exitCodeOf(results, session);
  } finally {
    logging.close();
  }
}

/** @returns null for a job that was refused */
async function runOne(
  session: Session,
  overrides: readonly string[],
  logging: Logging,
): Promise<readonly JobResult[] | null> {
  const { composer } = session;
  const composition = composer.compose(overrides);
  warn(composition.warnings, session.invocation);
  const place = placeOf(session);
  const taken = await takePlace(session, () => planJob(composition, place));
  if (taken === null) return null;
  const { planned, release } = taken;
  try {
    hydraLogging(planned.composition, session, logging)();
    const surroundings = await surround(session, composition, logging);
    const { callbacks } = surroundings;
    const event = composedEvent(composition, overrides, session);
    await callbacks.notify("onComposeConfig", event);
    await callbacks.notify("onRunStart", event);
    const result = await runJob(planned, surroundings);
    await callbacks.notify("onRunEnd", { ...event, result });
    return [result];
  } finally {
    release();
  }
}

/** Plans a job and takes its directory; plans again where another run was faster. */
async function takePlace(
  session: Session,
  plan: () => PlannedJob,
): Promise<{ readonly planned: PlannedJob; readonly release: () => void } | null> {
  const { invocation, options } = session;
  for (let planned = plan(); ; ) {
    if (!(await checkJobs([planned], options, invocation.console))) return null;
    try {
      return { planned, release: takeDirectory(planned, options.resultFiles ?? []) };
    } catch (error) {
      if (!isConfigError(error) || error.code !== "app.run_directory") throw error;
      const again = plan();
      if (again.outputDir === planned.outputDir) throw error;
      planned = again;
    }
  }
}

async function runMany(
  session: Session,
  overrides: readonly string[],
  logging: Logging,
): Promise<readonly JobResult[] | null> {
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
  const { callbacks } = surroundings;
  const event = composedEvent(master, overrides, session);
  await callbacks.notify("onComposeConfig", event);
  await callbacks.notify("onMultirunStart", event);
  const { conclusion, refused, results } = await runSweep({
    sweep,
    launcher,
    record,
    gate,
    ...(invocation.console.redact === undefined ? {} : { redact: invocation.console.redact }),
    check: async (jobs) => {
      // What an earlier attempt at a job left in its directory is put aside when it starts.
      const isNew = ({ number }: SweepJob) =>
        resumed === undefined || readJobState(record.folder, number) === undefined;
      checkJobDirectories(jobs.filter(isNew), place.resultFiles);
      const { check: _onThisMachine, ...elsewhere } = options;
      return checkJobs(jobs, kind.runsElsewhere === true ? elsewhere : options, invocation.console);
    },
  }).finally(record.release);
  await callbacks.notify("onMultirunEnd", { ...event, results });
  if (conclusion !== undefined) {
    logAsHydra();
    logging.logger(SWEEP_LOGGER).info(conclusion.text);
  }
  if (refused) return null;
  return conclusion?.toleratesFailures === true ? withoutFailures(results, session) : results;
}

const SWEEP_LOGGER = "hydraconf.sweep";

/** What is left where the sweeper tolerates failed jobs: they are named and count no more. */
function withoutFailures(
  results: readonly JobResult[],
  { invocation }: Session,
): readonly JobResult[] {
  const isFailure = (result: JobResult) => result.status === "failed" && !wasStopped(result);
  for (const { error, number } of results.filter(isFailure))
    invocation.console.stderr(`Job #${number} failed: ${firstLine(error)}\n`);
  return results.filter((result) => !isFailure(result));
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

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

const composedEvent = (
  composition: Composition,
  overrides: readonly string[],
  { composer }: Session,
): ComposedEvent => ({
  config: createConfig(composition.root, composition, composer.context),
  configName: composition.configName,
  overrides,
});

/** Shows the first failure in full and the others in a line each. */
function exitCodeOf(results: readonly JobResult[], { invocation }: Session): number {
  const [first, ...others] = results.filter(({ status }) => status === "failed");
  const stopped = results.find(wasStopped);
  if (stopped !== undefined) return stopped.exitCode;
  if (first === undefined) return results.find(({ exitCode }) => exitCode !== 0)?.exitCode ?? 0;
  const { stderr } = invocation.console;
  stderr(`Error executing job with overrides: ${overridesText(first)}\n`);
  reportError(first.error, invocation);
  for (const { error, number } of others)
    stderr(`Job #${number} failed, too: ${firstLine(error)}\n`);
  return first.exitCode;
}

const overridesText = ({ overrides }: JobResult): string =>
  `[${overrides.map((override) => pyRepr(override)).join(", ")}]`;
