/** The settings of launchers of this machine, and how many CPUs a process may use. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { ConfigError } from "../../../engine/values/errors.ts";
import { errorCode, isBelow } from "../../../foundation/system/files.ts";
import type { LauncherSettings } from "../launcher.ts";
import { mostSlots, type Resource } from "./slots.ts";

/**
 * How many CPUs this process may use: those of its affinity mask (`taskset`, a scheduler), limited by the CPU quota of
 * its control groups (`docker run --cpus=2`, Kubernetes), which Node 20 ignores.
 *
 * @param root the directory that contains `/proc` and `/sys`
 */
export const usableCpus = (root = "/"): number =>
  Math.max(1, Math.min(availableParallelism(), Math.ceil(cpuQuota(root))));

/** The CPU quota in CPUs: the smallest of this process's control groups; infinite without any. */
export function cpuQuota(root: string): number {
  const mounts = linesOf(join(root, "proc/self/mountinfo")).flatMap(mountIn);
  const shares = linesOf(join(root, "proc/self/cgroup")).flatMap((line) => {
    // `4:cpu,cpuacct:/docker/7f` in version 1, `0::/user.slice` in version 2.
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
  /** The control group that is mounted at `point`: in a container without a cgroup namespace, its own. */
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

/** The directories of a group and of its ancestors, as far as they are mounted. */
function groupsOf(path: string, { point, top }: Mount): readonly string[] {
  const below = relative(top, path);
  const found: string[] = [];
  // Groups outside of the mounted tree cannot be read.
  for (let at = isBelow(path, top) ? below || "." : "."; ; at = dirname(at)) {
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

/** Empty if the file does not exist: other systems have no control groups. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
}

/** The settings of a launcher of local processes. */
export interface LocalSettings {
  /** The largest number of parallel processes. */
  readonly jobs: number;
  /** The time limit of an attempt in milliseconds; null for none. */
  readonly timeLimit: number | null;
  /** How often a failed job starts again. */
  readonly retries: number;
  /** The share of each resource that a job takes. */
  readonly resources: ReadonlyMap<string, AskedResource>;
  /** Whether a process runs further jobs after its first; null: the program decides. */
  readonly reusesWorkers: boolean | null;
  /** The scope of slots: all sweeps of the user on this machine, or this sweep alone. */
  readonly slotScope: "machine" | "sweep";
}

/** `auto`: the slots are the GPUs of this machine. */
export type AskedResource = Omit<Resource, "slots"> & {
  readonly slots: readonly string[] | "auto";
};

/** Settings in which `auto` is replaced by the machine's slots. */
export interface PlacedSettings extends LocalSettings {
  readonly resources: ReadonlyMap<string, Resource>;
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
/** The settings of a launcher without slots. */
export const NO_RESOURCES: Pick<LocalSettings, "resources" | "reusesWorkers" | "slotScope"> = {
  resources: new Map(),
  reusesWorkers: null,
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
  reusesWorkers: trueOrFalse("reuse_workers", section["reuse_workers"]),
  slotScope: slotScope(section["slot_scope"] ?? "machine"),
});

/** Limits the number of parallel processes to the slots of the scarcest resource. */
export function withinSlots(settings: PlacedSettings): PlacedSettings {
  const jobs = [...settings.resources.values()].map(({ perJob, perSlot, slots }) =>
    Math.floor((slots.length * perSlot) / perJob),
  );
  return { ...settings, jobs: Math.min(settings.jobs, ...jobs) };
}

/**
 * Finds the GPUs that `auto` stands for: those in `CUDA_VISIBLE_DEVICES`, else all that `nvidia-smi` lists.
 *
 * @param env the environment of the program
 * @throws ConfigError `app.launcher` if there are none; `value.wrong_type` if a job needs more slots than there are
 */
export function onThisMachine(
  settings: LocalSettings,
  env: Readonly<Record<string, string | undefined>>,
): PlacedSettings {
  const resources = new Map<string, Resource>();
  for (const [name, asked] of settings.resources) {
    const slots = asked.slots === "auto" ? visibleGpus(env) : asked.slots;
    const most = mostSlots(slots);
    if (asked.perJob > most)
      throw invalid(
        `resources.${name}`,
        asked.perJob,
        `at most ${most}: there are no more slots that have nothing in common ([${slots.join("; ")}])`,
      );
    resources.set(name, { ...asked, slots });
  }
  return { ...settings, resources };
}

const NVIDIA_SMI_MS = 60_000;

function visibleGpus(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const given = env["CUDA_VISIBLE_DEVICES"];
  if (given !== undefined) {
    const listed = given.split(",").map((part) => part.trim());
    const visible = listed.slice(0, endOfList(listed));
    if (visible.length === 0) throw noGpus(`CUDA_VISIBLE_DEVICES is '${given}'`);
    return visible;
  }
  let answer: string;
  try {
    answer = execFileSync("nvidia-smi", ["--query-gpu=index", "--format=csv,noheader"], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: NVIDIA_SMI_MS,
    });
  } catch (error) {
    throw noGpus(errorCode(error) === "ENOENT" ? "nvidia-smi is not on PATH" : saidBy(error));
  }
  const found = answer.split("\n").map((line) => line.trim());
  const gpus = found.filter((line) => /^\d+$/.test(line));
  if (gpus.length === 0) throw noGpus(`nvidia-smi shows none: ${found[0] || "no line"}`);
  return gpus;
}

/** CUDA ignores the list from the first unknown device on: `-1` hides all after it. */
function endOfList(listed: readonly string[]): number {
  const end = listed.findIndex((part) => part === "" || part.startsWith("-"));
  return end === -1 ? listed.length : end;
}

const saidBy = (error: unknown): string => {
  const output = error as { readonly stdout?: unknown; readonly stderr?: unknown };
  const text = [output.stdout, output.stderr].map((part) => String(part ?? "").trim()).join("\n");
  return `nvidia-smi: ${text.trim().split("\n")[0] || "it has failed"}`;
};

const noGpus = (why: string): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `No GPU was found for hydra.launcher.resources.gpu: ${why}`,
    key: "hydra.launcher.resources.gpu",
    hint: "list the slots yourself: +hydra.launcher.resources.gpu=[0,1]",
  });

/** Counts as joblib does: -1 is one process for each CPU that this process may use, -2 one less. */
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

/** A duration in milliseconds. @param unit unit of the setting, in milliseconds */
export function positive(key: string, value: unknown, unit: number): number | null {
  if (value === undefined || value === null) return null;
  const number = Number(value);
  if (number > 0) return number * unit;
  throw invalid(key, value, "more than 0, or null for no limit");
}

function trueOrFalse(key: string, value: unknown): boolean | null {
  if (value === undefined || value === null || typeof value === "boolean") return value ?? null;
  throw invalid(key, value, "true, false, or null for what suits the program");
}

function slotScope(value: unknown): LocalSettings["slotScope"] {
  if (value === "machine" || value === "sweep") return value;
  throw invalid("slot_scope", value, "machine or sweep");
}

function resourcesOf(value: unknown): ReadonlyMap<string, AskedResource> {
  const resources = new Map<string, AskedResource>();
  for (const [name, asked] of Object.entries((value ?? {}) as LauncherSettings))
    resources.set(name, resourceOf(name, asked));
  return resources;
}

/** The only resource that can be detected. */
const FOUND = "gpu";

/**
 * A resource as a list of slots, of which a job takes one; as a map with more options; or, for GPUs, as a number: how
 * many of all GPUs a job takes, or which fraction of one.
 */
function resourceOf(name: string, asked: unknown): AskedResource {
  const key = `resources.${name}`;
  if (Array.isArray(asked)) return { slots: slotsOf(key, asked), perJob: 1, perSlot: 1 };
  const isFound = name === FOUND;
  if (isFound && asked === "auto") return { slots: "auto", perJob: 1, perSlot: 1 };
  const number = typeof asked === "bigint" || typeof asked === "number" ? Number(asked) : undefined;
  if (isFound && number !== undefined && number > 0) {
    if (number < 1) return { slots: "auto", perJob: 1, perSlot: Math.floor(1 / number + 1e-9) };
    if (Number.isInteger(number)) return { slots: "auto", perJob: number, perSlot: 1 };
  }
  if (typeof asked !== "object" || asked === null)
    throw invalid(
      key,
      asked,
      isFound
        ? "a list of slots, such as [0, 1], auto, a number of GPUs, or a part of one, such as 0.5"
        : "a list of slots, such as [0, 1], or a map with slots, per_job and jobs_per_slot",
    );
  const { jobs_per_slot, per_job, slots, ...others } = asked as LauncherSettings;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw invalid(`${key}.${other}`, others[other], "one of slots, per_job and jobs_per_slot");
  const isAuto = isFound && (slots ?? "auto") === "auto";
  return {
    slots: isAuto ? "auto" : slotsOf(`${key}.slots`, slots),
    perJob: atLeastOne(`${key}.per_job`, per_job),
    perSlot: atLeastOne(`${key}.jobs_per_slot`, jobs_per_slot),
  };
}

function atLeastOne(key: string, value: unknown): number {
  const number = Number(value ?? 1);
  if (Number.isInteger(number) && number >= 1) return number;
  throw invalid(key, value, "a whole number, 1 or more");
}

function slotsOf(key: string, slots: unknown): readonly string[] {
  if (!Array.isArray(slots) || slots.length === 0)
    throw invalid(key, slots, "a list of slots, such as [0, 1]");
  const texts = slots.map(String);
  if (new Set(texts).size < texts.length)
    throw invalid(
      key,
      `[${texts}]`,
      "a list without repetitions: for several jobs at a time in each slot, use {slots: [...], jobs_per_slot: N}",
    );
  return texts;
}

/** @param key below `hydra.launcher` */
export const invalid = (key: string, value: unknown, wanted: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `hydra.launcher.${key} cannot be '${String(value)}': it must be ${wanted}`,
    key: `hydra.launcher.${key}`,
  });
