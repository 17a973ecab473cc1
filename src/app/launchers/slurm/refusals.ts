import { ConfigError } from "../../../values/errors.ts";

/** Nobody can be asked. */
export const missing = (command: string): ConfigError =>
  new ConfigError({
    code: "slurm.missing",
    message: `The Slurm launcher needs '${command}', which is not on PATH`,
    key: "hydra/launcher",
    hint: "start the sweep on a login node of the cluster, or run it on this machine with hydra/launcher=local or hydra/launcher=basic",
  });

/** sbatch was ended before it said whether there is a job now. */
export const unanswered = (problem: string): ConfigError =>
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

/** Slurm's words, without the name of the command in each line. */
export const said = (stderr: string): string =>
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

/** @param stderr what sbatch said */
export function rejected(stderr: string): ConfigError {
  const words = said(stderr);
  const [, key, hint] = REMEDIES.find(([pattern]) => pattern.test(words)) ?? [];
  return new ConfigError({
    code: "slurm.rejected",
    message: `Slurm did not accept the sweep: ${words}`,
    ...(key !== undefined && { key }),
    ...(hint !== undefined && { hint }),
  });
}
