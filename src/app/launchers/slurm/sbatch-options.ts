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

/** An argument of sbatch. */
export interface SbatchOption {
  /** `mem` of `--mem=4G`. */
  readonly name: string;
  readonly text: string;
  /** What it comes from, below `hydra.launcher`; null for what a sweep decides itself. */
  readonly key: string | null;
}

/** Options that say how much memory a job gets. */
export const MEMORY_OPTIONS: readonly string[] = ["mem", "mem-per-cpu", "mem-per-gpu"];

/** The key below `hydra.launcher` that one of these options comes from; undefined where none was given. */
export const keyGiven = (
  options: readonly SbatchOption[],
  names: readonly string[],
): string | undefined =>
  // Of one that is given twice, the last counts.
  options.findLast(({ key, name }) => key !== null && names.includes(name))?.key ?? undefined;

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
export function sbatchOptions(
  settings: SlurmSettings,
  request: ArrayRequest,
): readonly SbatchOption[] {
  const { array_parallelism, mem_gb, name, tasks_per_node, timeout_min } = settings;
  const { after, cwd, log, size } = request;
  return [
    option("array", `0-${size - 1}%${array_parallelism}`),
    option("job-name", name, "name"),
    option("time", timeout_min, "timeout_min"),
    option("ntasks-per-node", tasks_per_node, "tasks_per_node"),
    ...SAME_NAME.flatMap((key) =>
      settings[key] === null ? [] : [option(dashed(key), settings[key], key)],
    ),
    ...(mem_gb === null ? [] : [option("mem", `${mem_gb}G`, "mem_gb")]),
    option("signal", `B:USR2@${signalDelay(settings)}`),
    option("requeue", true),
    option("open-mode", "append"),
    option("chdir", cwd),
    option("output", `${escaped(log.folder)}/${log.name}`),
    ...additional(settings.additional_parameters),
    ...(after === undefined ? [] : [option("dependency", `afterany:${after}`)]),
  ];
}

/** Slurm signals a job at once whose time limit is shorter than the delay: at most half of it. */
export const signalDelay = ({ signal_delay_s, timeout_min }: SlurmSettings): number =>
  Math.min(signal_delay_s, timeout_min * 30);

/** @param value true for an option that takes none */
function option(name: string, value: string | number | true, key: string | null = null) {
  const [start, joint] = name.length === 1 ? [`-${name}`, ""] : [`--${name}`, "="];
  return { name, key, text: value === true ? start : `${start}${joint}${value}` };
}

/** In the name of a log, `%` begins one of Slurm's patterns. */
const escaped = (path: string): string => path.replaceAll("%", "%%");

const dashed = (key: string): string => key.replaceAll("_", "-");

function additional(parameters: SlurmSettings["additional_parameters"]): readonly SbatchOption[] {
  return Object.entries(parameters).flatMap(([key, value]) => {
    const name = dashed(key);
    if (OURS.includes(name)) throw wrong(key, `the sweep itself sets --${name}`);
    if (value === null || value === undefined || value === false) return [];
    if (typeof value === "object" && !Array.isArray(value))
      throw wrong(key, "expected a value or a list, not a map");
    const given = value === true || (Array.isArray(value) ? value.join(",") : String(value));
    return [option(name, given, `additional_parameters.${key}`)];
  });
}

const wrong = (key: string, what: string): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `hydra.launcher.additional_parameters.${key}: ${what}`,
    key: `hydra.launcher.additional_parameters.${key}`,
  });
