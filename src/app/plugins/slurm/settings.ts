/** The settings of the Slurm launcher: submitit's keys. */
import { ConfigError, nearest } from "../../../engine/values/errors.ts";
import type { InsteadOf } from "../../launch/launcher.ts";

/**
 * `hydra.launcher` of a Slurm sweep. The keys, their meaning and their defaults are those of
 * Hydra's submitit launcher, so that a config made for it keeps its meaning.
 *
 * @see https://hydra.cc/docs/1.3/plugins/submitit_launcher/
 */
export interface SlurmSettings {
  /** The folder for logs; `%j` in it stands for the task, `ARRAY_INDEX`. */
  readonly submitit_folder: string;
  readonly timeout_min: number;
  readonly cpus_per_task: number | null;
  readonly gpus_per_node: number | null;
  readonly tasks_per_node: number;
  readonly mem_gb: number | null;
  readonly nodes: number;
  readonly name: string;
  readonly stderr_to_stdout: boolean;
  readonly partition: string | null;
  readonly qos: string | null;
  readonly comment: string | null;
  readonly constraint: string | null;
  readonly exclude: string | null;
  readonly gres: string | null;
  readonly cpus_per_gpu: number | null;
  readonly gpus_per_task: number | null;
  readonly mem_per_gpu: string | null;
  readonly mem_per_cpu: string | null;
  readonly account: string | null;
  /** How many seconds before its time limit a job gets a signal. */
  readonly signal_delay_s: number;
  /** How often a job that ran out of time is requeued. */
  readonly max_num_timeout: number;
  /** Options of sbatch without a key here, without the dashes. */
  readonly additional_parameters: Readonly<Record<string, unknown>>;
  /** How many jobs run at a time. */
  readonly array_parallelism: number;
  /** Lines of shell that run before a job. */
  readonly setup: readonly string[];
  readonly srun_args: readonly string[];
}

type Key = keyof SlurmSettings;

type Reader = (key: Key, value: unknown) => unknown;

const text: Reader = (key, value) => {
  if (typeof value === "string") return value;
  if (["number", "bigint", "boolean"].includes(typeof value)) return String(value);
  throw wrong(key, value, "a string");
};

/** A whole number not below `least`. */
const count =
  (least: number): Reader =>
  (key, value) => {
    const number = typeof value === "boolean" || value === "" ? Number.NaN : Number(value);
    if (value !== null && Number.isSafeInteger(number) && number >= least) return number;
    throw wrong(key, value, `a whole number from ${least} on`);
  };

const flag: Reader = (key, value) => {
  if (typeof value === "boolean") return value;
  throw wrong(key, value, "true or false");
};

const texts: Reader = (key, value) => {
  if (value === null) return [];
  if (Array.isArray(value)) return value.map((item) => text(key, item));
  throw wrong(key, value, "a list of strings");
};

const record: Reader = (key, value) => {
  if (value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw wrong(key, value, "a map of sbatch options");
};

const optional =
  (read: Reader): Reader =>
  (key, value) =>
    value === null ? null : read(key, value);

/** The reader of each key, and its default. */
const KEYS: Readonly<Record<Key, readonly [read: Reader, standard: unknown]>> = {
  submitit_folder: [text, null],
  timeout_min: [count(1), 60],
  cpus_per_task: [optional(count(1)), null],
  gpus_per_node: [optional(count(0)), null],
  tasks_per_node: [count(1), 1],
  mem_gb: [optional(count(1)), null],
  nodes: [count(1), 1],
  name: [text, "hydraconf"],
  stderr_to_stdout: [flag, false],
  partition: [optional(text), null],
  qos: [optional(text), null],
  comment: [optional(text), null],
  constraint: [optional(text), null],
  exclude: [optional(text), null],
  gres: [optional(text), null],
  cpus_per_gpu: [optional(count(1)), null],
  gpus_per_task: [optional(count(0)), null],
  mem_per_gpu: [optional(text), null],
  mem_per_cpu: [optional(text), null],
  account: [optional(text), null],
  signal_delay_s: [count(0), 120],
  max_num_timeout: [count(0), 0],
  additional_parameters: [record, {}],
  array_parallelism: [count(1), 256],
  setup: [texts, []],
  srun_args: [texts, []],
};

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
  const ours = Object.hasOwn(KEYS, name) ? name : OTHER_NAMES.get(name);
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
export function readSettings(
  plain: Readonly<Record<string, unknown>>,
  standardFolder: string,
): SlurmSettings {
  const names = Object.keys(KEYS);
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
  const all = { submitit_folder: standardFolder, ...plain };
  const read = Object.entries(KEYS).map(([name, [reader, standard]]) => {
    const value = (all as Readonly<Record<string, unknown>>)[name];
    return [name, value === undefined ? standard : reader(name as Key, value)];
  });
  return Object.fromEntries(read) as SlurmSettings;
}

const wrong = (key: Key, value: unknown, wanted: string): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `hydra.launcher.${key} must be ${wanted}, not ${JSON.stringify(String(value))}`,
    key: `hydra.launcher.${key}`,
  });
