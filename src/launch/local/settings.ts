import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { errorCode } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";
import type { LauncherSettings } from "../launcher.ts";
import { mostSlots, type Resource } from "./slots.ts";

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
  /** What a job takes of each resource. */
  readonly resources: ReadonlyMap<string, AskedResource>;
  /** Whether a process that has done a job runs another; null where that is left to the program. */
  readonly reusesWorkers: boolean | null;
  /** Who shares them out together: all sweeps of the user on this machine, or this one alone. */
  readonly slotScope: "machine" | "sweep";
}

/** `auto`: the slots are the GPUs that this machine has. */
export type AskedResource = Omit<Resource, "slots"> & {
  readonly slots: readonly string[] | "auto";
};

/** Settings with the slots that the machine has. */
export interface PlacedSettings extends LocalSettings {
  readonly resources: ReadonlyMap<string, Resource>;
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
/** Of a launcher without slots. */
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

/** No more processes at a time than the slots of the rarest resource leave place for. */
export function withinSlots(settings: PlacedSettings): PlacedSettings {
  const jobs = [...settings.resources.values()].map(({ perJob, perSlot, slots }) =>
    Math.floor((slots.length * perSlot) / perJob),
  );
  return { ...settings, jobs: Math.min(settings.jobs, ...jobs) };
}

/**
 * Finds the GPUs that `auto` stands for: those that `CUDA_VISIBLE_DEVICES` leaves, else all that `nvidia-smi` shows.
 *
 * @param env the environment of the program
 * @throws ConfigError `app.launcher` where there are none; `value.wrong_type` for fewer slots than a job is to have
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

/** CUDA sees those before the first one that it does not know: `-1` hides all behind it. */
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

/** The machine can be asked for these. */
const FOUND = "gpu";

/**
 * A list of slots, of which a job has one; a map with more to say; and of GPUs also how many of all that there are a job has, or which
 * part of one.
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
