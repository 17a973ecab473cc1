import { ConfigError } from "../../../values/errors.ts";
import type { SlurmSettings } from "./settings.ts";

export interface ArrayRequest {
  /** How many tasks; their indices start at 0. */
  readonly size: number;
  readonly cwd: string;
  /** The file for what Slurm itself says of a task; `%A` and `%a` in its name are Slurm's. */
  readonly log: { readonly folder: string; readonly name: string };
  /** The array that must have ended before. */
  readonly after?: string;
}

/** sbatch's option for a key that it knows under its own name. */
const SAME_NAME = [
  "partition",
  "qos",
  "comment",
  "constraint",
  "exclude",
  "gres",
  "account",
  "nodes",
  "cpus_per_task",
  "cpus_per_gpu",
  "gpus_per_node",
  "gpus_per_task",
  "mem_per_gpu",
  "mem_per_cpu",
] as const satisfies readonly (keyof SlurmSettings)[];

/** What a sweep decides itself. */
const OURS = ["array", "a", "wrap", "parsable", "wait", "W", "test-only"];

/**
 * The arguments of sbatch for a job array. They are passed as they are, through no shell; options of
 * `additional_parameters` come last, so that they win.
 *
 * @throws ConfigError `app.launcher` for additional parameters that a sweep decides itself
 */
export function sbatchOptions(settings: SlurmSettings, request: ArrayRequest): readonly string[] {
  const { array_parallelism, mem_gb, name, tasks_per_node, timeout_min } = settings;
  const { after, cwd, log, size } = request;
  return [
    `--array=0-${size - 1}%${array_parallelism}`,
    `--job-name=${name}`,
    `--time=${timeout_min}`,
    `--ntasks-per-node=${tasks_per_node}`,
    ...SAME_NAME.flatMap((key) =>
      settings[key] === null ? [] : [`--${dashed(key)}=${settings[key]}`],
    ),
    ...(mem_gb === null ? [] : [`--mem=${mem_gb}G`]),
    `--signal=B:USR2@${signalDelay(settings)}`,
    "--requeue",
    "--open-mode=append",
    `--chdir=${cwd}`,
    `--output=${escaped(log.folder)}/${log.name}`,
    ...additional(settings.additional_parameters),
    ...(after === undefined ? [] : [`--dependency=afterany:${after}`]),
  ];
}

/** Slurm signals a job at once whose time limit is shorter than the delay: at most half of it. */
export const signalDelay = ({ signal_delay_s, timeout_min }: SlurmSettings): number =>
  Math.min(signal_delay_s, timeout_min * 30);

/** The key below `hydra.launcher` that an option comes from: `--mem=4G` from `mem_gb`. */
export function settingOf(option: string): string {
  const name = optionName(option);
  if (name === "mem") return "mem_gb";
  return SAME_NAME.find((key) => dashed(key) === name) ?? `additional_parameters.${name}`;
}

/** `mem` of `--mem=4G`. */
export const optionName = (option: string): string =>
  option.replace(/^--?/, "").split("=", 1)[0] ?? "";

/** In the name of a log, `%` begins one of Slurm's patterns. */
const escaped = (path: string): string => path.replaceAll("%", "%%");

const dashed = (key: string): string => key.replaceAll("_", "-");

function additional(parameters: SlurmSettings["additional_parameters"]): readonly string[] {
  return Object.entries(parameters).flatMap(([key, value]) => {
    const name = dashed(key);
    if (OURS.includes(name)) throw wrong(key, `the sweep itself decides --${name}`);
    if (value === null || value === undefined || value === false) return [];
    const [option, joint] = name.length === 1 ? [`-${name}`, ""] : [`--${name}`, "="];
    if (value === true) return [option];
    if (typeof value === "object" && !Array.isArray(value))
      throw wrong(key, "a value or a list is wanted, not a map");
    return [`${option}${joint}${Array.isArray(value) ? value.join(",") : String(value)}`];
  });
}

const wrong = (key: string, what: string): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `hydra.launcher.additional_parameters.${key}: ${what}`,
    key: `hydra.launcher.additional_parameters.${key}`,
  });
