import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import type { LauncherSettings } from "../launcher.ts";

/**
 * How many CPUs this process may use at a time: those that it may run on (`taskset`, a scheduler), and no more than the share of their time
 * that its control groups leave it (`docker run --cpus=2`, Kubernetes), which Node 20 does not look at.
 *
 * @param root where `/proc` and `/sys` are
 */
export const usableCpus = (root = "/"): number =>
  Math.max(1, Math.min(availableParallelism(), Math.ceil(cpuQuota(root))));

/** CPUs' worth of time: the least that one of the control groups gives in which this process is; infinite without any. */
export function cpuQuota(root: string): number {
  const mounts = linesOf(join(root, "proc/self/mountinfo")).flatMap(mountIn);
  const shares = linesOf(join(root, "proc/self/cgroup")).flatMap((line) => {
    // `4:cpu,cpuacct:/docker/7f`, `0::/user.slice`: the latter is of version 2.
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const mount = mounts.find(({ kind, options }) =>
      controllers === ""
        ? kind === "cgroup2"
        : kind === "cgroup" && isOfCpu(controllers) && isOfCpu(options),
    );
    return mount === undefined
      ? []
      : groupsOf(path, mount).map((group) => shareOf(join(root, group)));
  });
  return Math.min(...shares, Number.POSITIVE_INFINITY);
}

const isOfCpu = (controllers: string): boolean => controllers.split(",").includes("cpu");

interface Mount {
  readonly kind: string;
  /** The control group that is to be seen at `point`: in a container without a namespace for them, its own. */
  readonly top: string;
  readonly point: string;
  readonly options: string;
}

/** A line of `/proc/self/mountinfo`: `32 31 0:29 /top /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu`. */
function mountIn(line: string): readonly Mount[] {
  const [before = "", after = ""] = line.split(" - ");
  const [, , , top, point] = before.split(" ");
  const [kind = "", , options = ""] = after.split(" ");
  return kind.startsWith("cgroup") && top !== undefined && point !== undefined
    ? [{ kind, top, point, options }]
    : [];
}

/** The directories of a group and of those around it, as far as they are to be seen. */
function groupsOf(path: string, { point, top }: Mount): readonly string[] {
  const below = relative(top, path);
  const found: string[] = [];
  // What lies outside of what is mounted cannot be asked.
  for (let at = below.startsWith("..") ? "." : below || "."; ; at = dirname(at)) {
    found.push(join(point, at));
    if (at === ".") return found;
  }
}

/** Version 2: `max 100000` or `200000 100000`; version 1 has a file for each, and -1 for no quota. */
function shareOf(group: string): number {
  const both = linesOf(join(group, "cpu.max"))[0]?.split(" ");
  const [quota, period] = both ?? [
    linesOf(join(group, "cpu.cfs_quota_us"))[0],
    linesOf(join(group, "cpu.cfs_period_us"))[0],
  ];
  const share = Number(quota) / Number(period);
  return share > 0 ? share : Number.POSITIVE_INFINITY;
}

/** None of a file that is not there: on other systems there are no control groups. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

/** What the launcher of local processes goes by. */
export interface LocalSettings {
  /** Processes at a time. */
  readonly jobs: number;
  /** Milliseconds that an attempt may take; null for any. */
  readonly timeLimit: number | null;
  /** How often a job that failed starts again. */
  readonly retries: number;
  /** Slots by resource: a job takes one of each and has it to itself. */
  readonly resources: ReadonlyMap<string, readonly string[]>;
  /** Who shares them out together: all sweeps of the user on this machine, or this one alone. */
  readonly slotScope: "machine" | "sweep";
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
/** Of a launcher without slots. */
export const NO_RESOURCES: Pick<LocalSettings, "resources" | "slotScope"> = {
  resources: new Map(),
  slotScope: "sweep",
};

/** Reads `hydra.launcher` of one of the launchers of local processes. */
export type SettingsReader = (section: LauncherSettings) => LocalSettings;

/** The keys of `hydra/launcher=local`. */
export const readLocalSettings: SettingsReader = (section) => ({
  jobs: processes(section["n_jobs"]),
  timeLimit: positive("timeout_min", section["timeout_min"], MINUTE),
  retries: count("max_retries", section["max_retries"]),
  resources: resourcesOf(section["resources"]),
  slotScope: slotScope(section["slot_scope"] ?? "machine"),
});

/** No more processes at a time than there are slots of the rarest resource. */
export function withinSlots(settings: LocalSettings): LocalSettings {
  const slots = [...settings.resources.values()].map(({ length }) => length);
  return { ...settings, jobs: Math.min(settings.jobs, ...slots) };
}

/** As joblib counts: -1 is one for each CPU that this process may use, -2 one less. */
export function processes(value: unknown): number {
  const number = Number(value ?? -1);
  if (!Number.isInteger(number) || number === 0)
    throw invalid("n_jobs", value, "a number of processes, or -1 for one per CPU");
  return number > 0 ? number : Math.max(1, usableCpus() + 1 + number);
}

function count(key: string, value: unknown): number {
  const number = Number(value ?? 0);
  if (Number.isInteger(number) && number >= 0) return number;
  throw invalid(key, value, "a whole number, 0 or more");
}

/** A time, in milliseconds. @param unit of the setting, in milliseconds */
export function positive(key: string, value: unknown, unit: number): number | null {
  if (value === undefined || value === null) return null;
  const number = Number(value);
  if (number > 0) return number * unit;
  throw invalid(key, value, "more than 0, or null for no limit");
}

function slotScope(value: unknown): LocalSettings["slotScope"] {
  if (value === "machine" || value === "sweep") return value;
  throw invalid("slot_scope", value, "machine or sweep");
}

function resourcesOf(value: unknown): ReadonlyMap<string, readonly string[]> {
  const resources = new Map<string, readonly string[]>();
  for (const [name, slots] of Object.entries((value ?? {}) as LauncherSettings)) {
    const key = `resources.${name}`;
    if (!Array.isArray(slots) || slots.length === 0)
      throw invalid(key, slots, "a list of slots, such as [0, 1]");
    const texts = slots.map(String);
    if (new Set(texts).size < texts.length)
      throw invalid(
        key,
        `[${texts}]`,
        "a list without repetitions: only one job can use a slot at a time",
      );
    resources.set(name, texts);
  }
  return resources;
}

/** @param key below `hydra.launcher` */
export const invalid = (key: string, value: unknown, wanted: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `hydra.launcher.${key} cannot be '${String(value)}': it must be ${wanted}`,
    key: `hydra.launcher.${key}`,
  });
