/** The errors of Slurm: refusals with their remedies, no answers, busy controllers. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { keyGiven, MEMORY_OPTIONS, type SbatchOption } from "./batch-script.ts";

/** A Slurm command does not exist. */
export const missing = (command: string): ConfigError =>
  new ConfigError({
    code: "slurm/missing",
    message: `The Slurm launcher needs '${command}', which is not on PATH`,
    key: "hydra/launcher",
    hint: "start the sweep on a login node of the cluster, or run it on this machine with hydra/launcher=local or hydra/launcher=basic",
  });

/** sbatch was killed before it reported whether there is a job. */
export const unanswered = (problem: string): ConfigError =>
  new ConfigError({
    code: "slurm/no_answer",
    message: `Slurm does not report whether it has the jobs: ${problem}`,
    hint: "check its controller with `scontrol ping`; --resume DIR follows the jobs that it has and submits the rest",
  });

/**
 * Slurm does not accept jobs for now; if its answer was lost, it may have them all the same.
 *
 * @param words Slurm's message
 */
export const busy = (words: string): ConfigError =>
  new ConfigError({
    code: "slurm/busy",
    message: `Slurm does not accept jobs at the moment: ${words}`,
    key: "hydra/launcher",
    hint: "check its controller with `scontrol ping` and its queue with `squeue`, then continue with --resume DIR: nothing is submitted twice",
  });

/**
 * The same error for a refusal because no more jobs may be submitted (`slurm/full`), once some jobs are about to leave.
 */
export const busyForNow = (full: ConfigError): ConfigError =>
  busy(full.message.replace(REFUSED, ""));

const REFUSED = "Slurm did not accept the sweep: ";

/** Messages of a command when the controller is absent, has no room, or does not answer: a retry may succeed. */
const BUSY =
  /unable to contact slurm controller|backup controller in standby|socket timed out|zero bytes were transmitted|communication (connection|shutdown) failure|message (send|receive) failure|temporarily (unable|unavailable|disabled)|unable to create job record|job queue full/i;

/**
 * @param stderr output of sbatch, or of another of Slurm's commands
 * @returns undefined for a permanent refusal
 */
export const busyBy = (stderr: string): ConfigError | undefined =>
  BUSY.test(stderr) ? busy(said(stderr)) : undefined;

/** Unknown jobs must not count as absent: they would be submitted a second time. */
export const noAnswer = (words = ""): ConfigError =>
  new ConfigError({
    code: "slurm/no_answer",
    message: `Slurm does not report the state of the sweep's jobs${words === "" ? "" : `: ${words}`}`,
    hint: "check its controller with `scontrol ping`, then try again",
  });

/** Slurm's message, without the name of the command in each line. */
export const said = (stderr: string): string =>
  stderr
    .split("\n")
    .map((line) =>
      line
        .replace(/^((sbatch|scancel|scontrol|squeue): (error|fatal)|slurm_load_\w+ error): /, "")
        .trim(),
    )
    .filter((line) => line !== "")
    .join("; ");

/** The hint for an error of sbatch. */
interface Remedy {
  /** Matches the message. */
  readonly words: RegExp;
  /** Options that may cause the error: one that was given is the one to change. */
  readonly options?: readonly string[];
  /** The key to change if none of them was given. */
  readonly key: string;
  readonly hint: string;
}

/** Limits on submitted jobs: QOSMaxSubmitJobPerUserLimit, AssocMaxSubmitJobLimit, AssocGrpSubmitJobsLimit. */
const SUBMIT_LIMIT = /max ?submit|submit ?jobs|job submit limit/i;

/** The suffix that Slurm adds for any limit of its accounting. */
const ANY_LIMIT = /; [^;]*violates accounting\/QOS policy[^;]*/i;

const LIMITS = "`sacctmgr show qos` and `sacctmgr show associations user=$USER` list the limits";

const GRES_OPTIONS: readonly string[] = [
  "gres",
  "gpus-per-node",
  "gpus-per-task",
  "gpus",
  "gpus-per-socket",
  "cpus-per-gpu",
  "mem-per-gpu",
];

const REMEDIES: readonly Remedy[] = [
  // Limits first: their names contain words of other messages.
  {
    words: SUBMIT_LIMIT,
    key: "hydra.launcher",
    hint: `each job of the sweep counts, even while it waits: hydra.sweeper.max_batch_size=N submits N at a time; ${LIMITS}`,
  },
  { words: /\b(qos|assoc)\w+minutes/i, key: "hydra.launcher.account", hint: LIMITS },
  { words: /\b(qos|assoc)\w+wall/i, key: "hydra.launcher.timeout_min", hint: LIMITS },
  {
    words: /\b(qos|assoc)\w+mem/i,
    options: MEMORY_OPTIONS,
    key: "hydra.launcher.mem_gb",
    hint: LIMITS,
  },
  { words: /\b(qos|assoc)\w+node/i, key: "hydra.launcher.nodes", hint: LIMITS },
  {
    words: /\b(qos|assoc)\w+gres/i,
    options: GRES_OPTIONS,
    key: "hydra.launcher.gres",
    hint: LIMITS,
  },
  {
    words: /\b(qos|assoc)\w+cpu/i,
    options: ["cpus-per-task", "cpus-per-gpu"],
    key: "hydra.launcher.cpus_per_task",
    hint: LIMITS,
  },
  {
    words: /\b(qos|assoc)\w+(limit|satisfied|perjob)/i,
    key: "hydra.launcher",
    hint: LIMITS,
  },
  {
    words: /invalid account/i,
    options: ["account", "partition"],
    key: "hydra.launcher.account",
    hint: "`sacctmgr show associations user=$USER` lists your accounts and where they may run",
  },
  {
    words: /license/i,
    options: ["licenses", "L"],
    key: "hydra.launcher.additional_parameters",
    hint: "`scontrol show licenses` lists the licenses",
  },
  {
    words: /reservation/i,
    options: ["reservation"],
    key: "hydra.launcher.additional_parameters",
    hint: "`scontrol show reservation` lists the reservations",
  },
  {
    words: /partition/i,
    key: "hydra.launcher.partition",
    hint: "`sinfo --summarize` lists the partitions",
  },
  {
    words: /account/i,
    key: "hydra.launcher.account",
    hint: "`sacctmgr show associations user=$USER` lists your accounts",
  },
  {
    words: /qos/i,
    key: "hydra.launcher.qos",
    hint: "`sacctmgr show qos` lists the qualities of service",
  },
  {
    words: /generic resource|gres/i,
    options: GRES_OPTIONS,
    key: "hydra.launcher.gres",
    hint: "`sinfo --Format=nodelist,gres` lists what nodes have",
  },
  {
    words: /--mem.* mutually exclusive/i,
    key: "hydra.launcher.mem_gb",
    hint: "set only one of mem_gb, mem_per_cpu and mem_per_gpu",
  },
  {
    words: /memory/i,
    options: MEMORY_OPTIONS,
    key: "hydra.launcher.mem_gb",
    hint: "`sinfo --Format=nodelist,memory` lists what nodes have",
  },
  {
    words: /feature|constraint/i,
    key: "hydra.launcher.constraint",
    hint: "`sinfo --Format=nodelist,features` lists what nodes have",
  },
  {
    words: /time limit/i,
    key: "hydra.launcher.timeout_min",
    hint: "`sinfo --Format=partition,time` lists the limits",
  },
  {
    words: /node|cpu|processor/i,
    key: "hydra.launcher",
    hint: "`sinfo --Node --long` lists the nodes and what they have",
  },
  {
    words: /limit/i,
    key: "hydra.launcher",
    hint: "hydra.sweeper.max_batch_size=N submits N jobs at a time",
  },
  {
    words: /option|usage|unrecognized/i,
    key: "hydra.launcher.additional_parameters",
    hint: "`sbatch --help` lists its options",
  },
  {
    words: /connect|controller|configuration|munge|auth/i,
    key: "hydra/launcher",
    hint: "check with `scontrol ping` whether the cluster answers",
  },
];

/**
 * `slurm/full` if no more jobs may be submitted for now, else `slurm/rejected`.
 *
 * @param stderr output of sbatch
 * @param options its options
 */
export function rejected(stderr: string, options: readonly SbatchOption[]): ConfigError {
  const words = said(stderr);
  const message = `${REFUSED}${words}`;
  const subject = words.replace(ANY_LIMIT, "");
  const remedy = REMEDIES.find((candidate) => candidate.words.test(subject));
  if (remedy === undefined) return new ConfigError({ code: "slurm/rejected", message });
  const { hint, key, options: names = [] } = remedy;
  const keyName = keyGiven(options, names);
  return new ConfigError({
    code: remedy.words === SUBMIT_LIMIT ? "slurm/full" : "slurm/rejected",
    message,
    key: keyName === undefined ? key : `hydra.launcher.${keyName}`,
    hint,
  });
}
