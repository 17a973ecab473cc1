import type { ChildProcess } from "node:child_process";
import { execa } from "execa";
import { ConfigError } from "../../../values/errors.ts";
import { QUEUE_FORMAT, readQueueJson, readQueueLines, readShownJobs } from "./queue-answers.ts";
import type { TaskReport } from "./task-state.ts";

/** Slurm's commands, as far as a sweep needs them. With a signal, a question is given up as soon as that comes: nothing was answered. */
export interface SlurmClient {
  /**
   * Hands a script to sbatch.
   * @returns the number of the job
   * @throws ConfigError `slurm.missing`, `slurm.rejected`; `slurm.no_answer` where sbatch was ended before it said
   * whether there is a job now
   */
  submit(options: readonly string[], script: string): Promise<string>;
  /** How large an index of an array may be, plus one. */
  maxArraySize(): Promise<number>;
  /** What Slurm knows of the tasks of arrays; undefined while it does not answer. */
  tasks(
    arrays: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly TaskReport[] | undefined>;
  /** The same of one array, also of tasks that left the queue a short time ago; none where it is forgotten. */
  recentTasks(array: string, signal?: AbortSignal): Promise<readonly TaskReport[] | undefined>;
  /** Ends tasks, `ARRAY_INDEX`, or whole arrays; those that wait only, if asked so. */
  cancel(ids: readonly string[], options?: { readonly onlyWaiting?: boolean }): Promise<void>;
  /**
   * The number of the array that a script was submitted as; undefined for none in the queue.
   * @throws ConfigError `slurm.no_answer`
   */
  arrayOf(script: string, signal?: AbortSignal): Promise<string | undefined>;
}

const CANCELLED_AT_ONCE = 500;

const LONG_ANSWER = 1 << 20;

/** How long a command that only asks may take. A busy controller may need a minute. */
const ANSWER_MS = 90_000;

export function createSlurm(env: Readonly<Record<string, string | undefined>>): SlurmClient {
  const call = async (
    command: string,
    args: readonly string[],
    signal?: AbortSignal,
  ): Promise<Answer> => {
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
  /** Once it is known that there is none, squeue is not asked for JSON again. */
  let hasJson = true;
  return {
    async submit(options, script) {
      const { exitCode, failed, shortMessage, stderr, stdout } = await call("sbatch", [
        "--parsable",
        ...options,
        script,
      ]);
      const id = /^(\d+)(?:;|$)/m.exec(stdout)?.[1];
      if (id === undefined && exitCode === undefined) throw unanswered(shortMessage ?? "");
      if (failed || id === undefined) throw rejected(stderr.trim() || shortMessage || stdout);
      return id;
    },
    async maxArraySize() {
      const { stdout } = await call("scontrol", ["show", "config"]);
      // Slurm's own default.
      return Number(/^MaxArraySize\s*=\s*(\d+)/m.exec(stdout)?.[1] ?? 1001);
    },
    async tasks(arrays, signal) {
      if (hasJson) {
        const answer = await call("squeue", ["--json", `--jobs=${arrays.join(",")}`], signal);
        const read = answer.failed ? undefined : readQueueJson(answer.stdout);
        if (read !== undefined) {
          const asked = read.filter(({ array }) => arrays.includes(array));
          // Older versions answer with the whole queue whatever is asked for: once, where it is long.
          hasJson = asked.length === read.length || answer.stdout.length < LONG_ANSWER;
          return asked;
        }
        // Nor would it answer in other words.
        if (answer.isGivenUp === true) return undefined;
        hasJson = !/unrecognized|invalid|unknown|plugin|serializer/i.test(answer.stderr);
      }
      const { failed, stderr, stdout } = await call(
        "squeue",
        [
          "--array",
          "--noheader",
          "--states=all",
          `--format=${QUEUE_FORMAT}`,
          `--jobs=${arrays.join(",")}`,
        ],
        signal,
      );
      if (!failed) return readQueueLines(stdout);
      // A single job that has left the queue is an error to squeue, and an answer to us.
      return isForgotten(stderr) ? [] : undefined;
    },
    async recentTasks(array, signal) {
      const args = ["--oneliner", "show", "job", array];
      const { failed, stderr, stdout } = await call("scontrol", args, signal);
      if (failed) return isForgotten(stderr) || /not found/.test(stdout) ? [] : undefined;
      const tasks = readShownJobs(stdout);
      return tasks.length === 0 ? undefined : tasks;
    },
    async cancel(ids, { onlyWaiting = false } = {}) {
      const options = onlyWaiting ? ["--state=PENDING"] : [];
      // A command line holds only so much.
      for (let first = 0; first < ids.length; first += CANCELLED_AT_ONCE) {
        const some = ids.slice(first, first + CANCELLED_AT_ONCE);
        const { failed, shortMessage, stderr } = await call("scancel", [...options, ...some]);
        // What is over cannot be cancelled, and need not be.
        if (failed && !/invalid job id|already completing|completed/i.test(stderr))
          throw new ConfigError({
            code: "slurm.rejected",
            message: `scancel: ${said(stderr) || shortMessage}`,
          });
      }
    },
    async arrayOf(script, signal) {
      const args = ["--noheader", "--states=all", "--format=%F|%o"];
      const { failed, stderr, stdout } = await call("squeue", args, signal);
      if (failed) throw noAnswer(said(stderr));
      const line = stdout
        .split("\n")
        .find((one) => one.slice(one.indexOf("|") + 1).trim() === script);
      return line?.split("|")[0]?.trim();
    },
  };
}

/** What a command came to. */
interface Answer {
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
    const onAbort = () => giveUp(`${command} was not waited for`);
    const timer = setTimeout(
      () => giveUp(`${command} has not answered within ${ANSWER_MS / 1000} s`),
      ANSWER_MS,
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

const missing = (command: string): ConfigError =>
  new ConfigError({
    code: "slurm.missing",
    message: `The Slurm launcher needs '${command}', which is not on PATH`,
    key: "hydra/launcher",
    hint: "start the sweep on a login node of the cluster, or run it on this machine with hydra/launcher=local or hydra/launcher=basic",
  });

const unanswered = (problem: string): ConfigError =>
  new ConfigError({
    code: "slurm.no_answer",
    message: `Slurm does not say whether it has the jobs: ${problem}`,
    hint: "`scontrol ping` says whether its controller is up; --resume DIR goes on with what it has, and submits the rest",
  });

/** What is not known must not be taken for what is not there: jobs would be submitted a second time. */
export const noAnswer = (words = ""): ConfigError =>
  new ConfigError({
    code: "slurm.no_answer",
    message: `Slurm does not say what became of the sweep's jobs${words === "" ? "" : `: ${words}`}`,
    hint: "`scontrol ping` says whether its controller is up; try again then",
  });

/** Slurm's words for a job that it does not know any more. */
const isForgotten = (stderr: string): boolean => /invalid job id/i.test(stderr);

/** Slurm's words, without the name of the command in each line. */
const said = (stderr: string): string =>
  stderr
    .split("\n")
    .map((line) => line.replace(/^(sbatch|scancel|scontrol|squeue): (error|fatal): /, "").trim())
    .filter((line) => line !== "")
    .join("; ");

/** What to do about what sbatch does not accept, by its words. */
const REMEDIES: readonly (readonly [words: RegExp, key: string, hint: string])[] = [
  [/partition/i, "hydra.launcher.partition", "`sinfo --summarize` lists the partitions"],
  [
    /account/i,
    "hydra.launcher.account",
    "`sacctmgr show associations user=$USER` lists your accounts",
  ],
  [/qos/i, "hydra.launcher.qos", "`sacctmgr show qos` lists the qualities of service"],
  [
    /generic resource|gres/i,
    "hydra.launcher.gres",
    "`sinfo --Format=nodelist,gres` lists what nodes have",
  ],
  [/memory/i, "hydra.launcher.mem_gb", "`sinfo --Format=nodelist,memory` lists what nodes have"],
  [
    /feature|constraint/i,
    "hydra.launcher.constraint",
    "`sinfo --Format=nodelist,features` lists what nodes have",
  ],
  [/time limit/i, "hydra.launcher.timeout_min", "`sinfo --Format=partition,time` lists the limits"],
  [
    /node|cpu|processor/i,
    "hydra.launcher",
    "`sinfo --Node --long` lists the nodes and what they have",
  ],
  [/limit/i, "hydra.launcher", "hydra.sweeper.max_batch_size=N submits N jobs at a time"],
  [
    /option|usage|unrecognized/i,
    "hydra.launcher.additional_parameters",
    "`sbatch --help` lists the options that it has",
  ],
  [
    /connect|controller|configuration|munge|auth/i,
    "hydra/launcher",
    "`scontrol ping` says whether the cluster answers",
  ],
];

function rejected(stderr: string): ConfigError {
  const words = said(stderr);
  const [, key, hint] = REMEDIES.find(([pattern]) => pattern.test(words)) ?? [];
  return new ConfigError({
    code: "slurm.rejected",
    message: `Slurm did not accept the sweep: ${words}`,
    ...(key !== undefined && { key }),
    ...(hint !== undefined && { hint }),
  });
}
