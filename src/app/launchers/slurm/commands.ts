import type { ChildProcess } from "node:child_process";
import { execa } from "execa";
import { missing } from "./refusals.ts";

/** Runs one of Slurm's commands. With a signal, it is given up as soon as that comes. */
export type CallSlurm = (
  command: string,
  args: readonly string[],
  signal?: AbortSignal,
) => Promise<Answer>;

/** How long a command that only asks may take. A busy controller may need a minute. */
const ANSWER_MS = 90_000;
/** sbatch itself tries for two minutes while the queue is full, and its tries take their time. */
const SUBMIT_MS = 300_000;
const limitOf = (command: string): number => (command === "sbatch" ? SUBMIT_MS : ANSWER_MS);

/**
 * Slurm's commands in an environment.
 *
 * @throws ConfigError `slurm.missing`, when one is called that is not there
 */
export const slurmCommands =
  (env: Readonly<Record<string, string | undefined>>): CallSlurm =>
  async (command, args, signal) => {
    const running = execa(command, args, {
      env: outsideOfJobs(env),
      extendEnv: false,
      reject: false,
      stdin: "ignore",
      maxBuffer: 1 << 30,
    });
    const result = await Promise.race([running, givenUp(running, command, signal)]);
    if (result.code === "ENOENT") throw missing(command);
    return result;
  };

/** What a command came to. */
export interface Answer {
  readonly failed: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode?: number | undefined;
  readonly code?: string | undefined;
  readonly shortMessage?: string | undefined;
  /** Whether the command was not waited for any longer. */
  readonly isGivenUp?: true;
}

/** A command that runs. */
type Command = Pick<ChildProcess, "kill" | "stdout" | "stderr"> & PromiseLike<unknown>;

/**
 * No answer, as soon as the signal comes, or the time is up. The command is not waited for: where it is a script around the
 * real one, that one may hang on and hold what it prints to.
 */
const givenUp = (
  running: Command,
  command: string,
  signal: AbortSignal | undefined,
): Promise<Answer> =>
  new Promise((settle) => {
    const giveUp = (shortMessage: string) => {
      forget();
      running.kill("SIGKILL");
      running.stdout?.destroy();
      running.stderr?.destroy();
      settle({ failed: true, stdout: "", stderr: "", shortMessage, isGivenUp: true });
    };
    const onAbort = () => giveUp(`stopped waiting for ${command}`);
    const limit = limitOf(command);
    const timer = setTimeout(
      () => giveUp(`${command} has not answered within ${limit / 1000} s`),
      limit,
    );
    const forget = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    running.then(forget, forget);
  });

/**
 * The environment without what Slurm set for a job that we are ourselves in: sbatch would take it
 * for options. Where Slurm is configured is no such thing. Lists of indices are not to be cut.
 */
function outsideOfJobs(env: Readonly<Record<string, string | undefined>>) {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(SLURM|SLURMD|SRUN)_/.test(name) || name === "SLURM_CONF",
  );
  return { ...Object.fromEntries(kept), SLURM_BITSTR_LEN: "0", SLURM_TIME_FORMAT: "standard" };
}
