import { join } from "node:path";
import { maskSecrets } from "../../compose/secrets.ts";
import { writeFileAtomicSync } from "../../system/atomic-write.ts";
import { INTERRUPTS } from "../../system/process-signals.ts";
import { plural } from "../../text/plural.ts";
import { shellQuote } from "../../text/shell-words.ts";
import { writeYaml } from "../../values/yaml/writer.ts";
import { EXIT_ERROR, EXIT_OK, type Session } from "../commands/command.ts";
import { makeSweepDirectory } from "../job/run-directory.ts";
import type { SweepJob } from "../launchers/launcher.ts";
import type { Logging } from "../logging/logging.ts";
import { listenForInterrupt } from "../process/interrupt.ts";
import type { Invocation } from "../process/invocation.ts";
import { cancelSweep } from "../sweep/cancel.ts";
import { nextCommands } from "../sweep/next-commands.ts";
import { SWEEP_FILE } from "../sweep/plan-sweep.ts";
import { launcherLog } from "../sweep/record/layout.ts";
import { startDriver } from "../sweep/start-driver.ts";
import { refuseUnstartable } from "../worker/worker-command.ts";
import { brokenOff } from "./broken-off.ts";
import { type OpenSweep, openSweep } from "./open-sweep.ts";

/**
 * `--detach`: composes, checks and records every job known so far, hands the jobs to a scheduler or to a separate
 * process, and prints how to follow them. The separate process calls the sweep's callbacks. What asks this process to
 * end takes the sweep back as long as it is not completely handed over; closing the terminal does not.
 *
 * @returns the exit code: 0 once the sweep is on its way, 128 + N if signal N took it back
 * @throws ConfigError for what a sweep in the foreground would refuse before its first job, and `app.launcher`
 * if the process ended before it took over
 */
export async function leaveSweep(
  session: Session,
  overrides: readonly string[],
  logging: Logging,
): Promise<number> {
  const { invocation } = session;
  const open = await openSweep(session, overrides, logging);
  const { record, sweep } = open;
  try {
    const admitted = await admitAll(open);
    if (admitted === null) return EXIT_ERROR;
    refuseUnstartable(record.facts());
    const interrupt = listenForInterrupt(TAKE_BACK);
    const handed = canLeaveAll(open, admitted)
      ? submit(open, admitted, interrupt.signal)
      : leaveToDriver(open, invocation, interrupt.signal);
    const who = await handed.catch((error: unknown) => {
      if (interrupt.exitCode() === undefined) throw error;
    });
    const exitCode = interrupt.exitCode();
    if (exitCode !== undefined) {
      // Cancelling signals the holder of the claim, which must not be this process.
      record.release();
      await takeBack(sweep.directory, invocation, session.options.name);
    }
    interrupt.release();
    if (exitCode !== undefined) return exitCode;
    const { stdout } = invocation.console;
    stdout(`${who}\n${nextCommands(sweep.directory)}`);
    return EXIT_OK;
  } catch (error) {
    throw brokenOff(error, sweep.directory, session.options.name);
  } finally {
    record.release();
  }
}

/** A closed terminal is what `--detach` is for. */
const TAKE_BACK = INTERRUPTS.filter((signal) => signal !== "SIGHUP");

/** Cancels the whole sweep: the user has not been told yet that it is on its way. */
async function takeBack(
  directory: string,
  { console, env }: Invocation,
  program: string,
): Promise<void> {
  await cancelSweep({ directory, env, say: (line) => console.stderr(`${line}\n`) });
  console.stderr(
    `The sweep in ${shellQuote(directory)} was stopped before it started\n` +
      `  ${program} --resume ${shellQuote(directory)}   runs it\n`,
  );
}

/** The known jobs that are to run, by batch. */
interface Admitted {
  readonly batches: readonly (readonly SweepJob[])[];
}

/**
 * Checks all batches and records them in the manifest. A search needs results for its next batch, so only its
 * first one is recorded.
 *
 * @returns null if jobs were refused
 */
async function admitAll({ check, record, sweep }: OpenSweep): Promise<Admitted | null> {
  const { directory, master, planBatch, sweeper } = sweep;
  if (record.isResumed) makeSweepDirectory(directory, record);
  const planned: (readonly SweepJob[])[] = [];
  let count = 0;
  for (let batch = sweeper.ask(); batch !== undefined; batch = sweeper.ask()) {
    const jobs = planBatch(batch, count, record.numberOf);
    count += jobs.length;
    planned.push(jobs);
    if (sweeper.judgesFailures === true) break;
  }
  const batches = planned.map((jobs) => record.due(jobs));
  if (!(await check(batches.flat()))) return null;
  makeSweepDirectory(directory, record);
  writeFileAtomicSync(join(directory, SWEEP_FILE), writeYaml(maskSecrets(master.root, master)));
  record.admit(planned.flat(), sweeper.judgesFailures === true);
  record.conclude(sweeper.judgesFailures !== true);
  return { batches };
}

/**
 * Whether a scheduler alone can finish the sweep: nothing depends on the outcome of its jobs, neither the next
 * batch nor (with `on_failure`) whether waiting jobs may start, and no callback waits for the sweep's end.
 */
const canLeaveAll = (
  { launcher, policy, surroundings, sweep }: OpenSweep,
  { batches }: Admitted,
): boolean =>
  launcher.submit !== undefined &&
  batches.length === 1 &&
  sweep.sweeper.judgesFailures !== true &&
  policy.kind !== "stop" &&
  !surroundings.callbacks.hasAny(SWEEP_METHODS);

/** The callbacks that the process running the sweep calls, and not its jobs. */
const SWEEP_METHODS = ["onComposeConfig", "onMultirunStart", "onMultirunEnd"] as const;

async function submit(
  { launcher, sweep }: OpenSweep,
  { batches }: Admitted,
  signal: AbortSignal,
): Promise<string> {
  const jobs = batches.flat();
  if (jobs.length > 0) await launcher.submit?.(jobs, signal);
  return `${plural(jobs.length, "job")} of the sweep in ${shellQuote(sweep.directory)} handed to the scheduler`;
}

async function leaveToDriver(
  { record, sweep }: OpenSweep,
  invocation: Invocation,
  signal: AbortSignal,
): Promise<string> {
  const log = launcherLog(record.folder);
  const pid = await startDriver({
    command: invocation.command ?? [],
    args: driverArguments(sweep.directory, invocation.resumed),
    cwd: invocation.cwd,
    env: invocation.env,
    log,
    onStart: record.handOver,
    signal,
  });
  return `Process ${pid} runs the sweep in ${shellQuote(sweep.directory)}; it logs to ${shellQuote(log)}`;
}

/** The arguments with which another process continues the sweep, as `--resume` would. */
function driverArguments(directory: string, resumed: Invocation["resumed"]): readonly string[] {
  if (resumed === undefined) return ["--resume", directory];
  const { acceptChanges, added = [], failed, missing } = resumed;
  return [
    ...(missing ? ["--resume", directory] : []),
    ...(failed ? ["--retry-failed", directory] : []),
    ...(acceptChanges ? ["--accept-changes"] : []),
    ...added,
  ];
}
