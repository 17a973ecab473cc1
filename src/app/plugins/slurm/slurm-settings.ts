/** The settings of the Slurm launcher: submitit's keys. */
import { ConfigError, nearest } from "../../../engine/values/errors.ts";
import { readSettings, type SettingValues } from "../../job/settings.ts";
import type { InsteadOf } from "../../launch/launcher.ts";
import {
  count,
  option,
  optionalCount,
  optionalText,
  QUEUE_SETTINGS,
  type QueueSetting,
  record,
  texts,
} from "../submitit/submitit-settings.ts";

/**
 * `hydra.launcher` of a Slurm sweep. The keys, their meaning and their defaults are those of
 * Hydra's submitit launcher, so that a config made for it keeps its meaning.
 *
 * @see https://hydra.cc/docs/1.3/plugins/submitit_launcher/
 */
export const SLURM_SETTINGS = {
  ...QUEUE_SETTINGS,
  partition: option(optionalText("`--partition` of `sbatch`")),
  qos: option(optionalText("`--qos` of `sbatch`")),
  comment: option(optionalText("`--comment` of `sbatch`")),
  constraint: option(optionalText("`--constraint` of `sbatch`: features of the nodes")),
  exclude: option(optionalText("`--exclude` of `sbatch`: nodes to leave out")),
  gres: option(optionalText("`--gres` of `sbatch`: `gpu:2`")),
  cpus_per_gpu: option(optionalCount(1, "CPUs for each GPU")),
  gpus_per_task: option(optionalCount(0, "GPUs of a task")),
  mem_per_gpu: option(optionalText("memory for each GPU, with a unit: `4G`")),
  mem_per_cpu: option(optionalText("memory for each CPU, with a unit: `4G`")),
  account: option(optionalText("`--account` of `sbatch`")),
  signal_delay_s: count(0, 120, "how many seconds before its time limit a job is told"),
  max_num_timeout: count(0, 0, "how often a job that was told is then requeued"),
  additional_parameters: record(
    "sbatch options",
    "any other option of `sbatch`: `+hydra.launcher.additional_parameters={mail-type: FAIL}`",
  ),
  array_parallelism: count(1, 256, "how many jobs run at a time"),
  setup: texts("lines of shell before each job: `hydra.launcher.setup=['module load cuda']`"),
  srun_args: texts("more arguments of `srun`, which starts each job"),
};

export type SlurmSettings = SettingValues<typeof SLURM_SETTINGS>;

type Key = keyof SlurmSettings;

/** The keys that are options of sbatch with the same name. */
export const SBATCH_KEYS: readonly Key[] = (
  Object.entries(SLURM_SETTINGS) as readonly (readonly [Key, QueueSetting])[]
).flatMap(([key, { isOption }]) => (isOption ? [key] : []));

/** Keys of `hydra.launcher` that other parts of a sweep read. */
const NOT_OURS = ["_target_", "on_failure"];

/** Names in sbatch, submitit itself and other launchers of settings that have another name here. */
const OTHER_NAMES: ReadonlyMap<string, Key> = new Map(
  Object.entries({
    array: "array_parallelism",
    cpus: "cpus_per_task",
    error: "submitit_folder",
    gpus: "gpus_per_node",
    job_name: "name",
    max_retries: "max_num_timeout",
    mem: "mem_gb",
    n_jobs: "array_parallelism",
    ntasks: "tasks_per_node",
    ntasks_per_node: "tasks_per_node",
    output: "submitit_folder",
    signal: "signal_delay_s",
    time: "timeout_min",
    timeout: "timeout_min",
  } as const),
);

/** @param setting an unknown setting: for example sbatch's name, or one with submitit's prefix `slurm_` */
export function insteadOfSetting(setting: string): InsteadOf {
  const name = dashless(setting).replace(/^slurm_/, "");
  const ours = Object.hasOwn(SLURM_SETTINGS, name) ? name : OTHER_NAMES.get(name);
  if (ours !== undefined) return { nearest: ours };
  return {
    hint: `put sbatch options without a key of their own into +hydra.launcher.additional_parameters.${name}=...`,
  };
}

const dashless = (option: string): string => option.replace(/^-+/, "").replaceAll("-", "_");

/**
 * Reads `hydra.launcher`; absent keys get submitit's defaults.
 *
 * @param plain the resolved node as plain data
 * @param standardFolder the default folder for logs
 * @throws ConfigError `app.launcher` for an unsupported key or value
 */
export function readSlurmSettings(
  plain: Readonly<Record<string, unknown>>,
  standardFolder: string,
): SlurmSettings {
  const names = Object.keys(SLURM_SETTINGS);
  for (const key of Object.keys(plain)) {
    if (names.includes(key) || NOT_OURS.includes(key)) continue;
    const near = nearest(key, names);
    throw new ConfigError({
      code: "app.launcher",
      message: `hydra.launcher.${key}: the Slurm launcher has no such key`,
      key: `hydra.launcher.${key}`,
      nearest: near,
      ...insteadOfSetting(key),
    });
  }
  const all: Readonly<Record<string, unknown>> = { submitit_folder: standardFolder, ...plain };
  return readSettings(SLURM_SETTINGS, {
    key: "hydra.launcher",
    code: "app.launcher",
    valueOf: (name) => all[name],
  });
}
