/** The settings of launchers of local processes. */
import {
  ANY,
  BOOL,
  emptyMap,
  FLOAT,
  field,
  INT,
  optional,
  STR,
} from "../../../engine/compose/hydra/hydra-schema.ts";
import {
  type Refuse,
  readSettings,
  type Setting,
  type SettingsTable,
  type SettingValues,
} from "../../job/settings.ts";
import type { LauncherSettings } from "../launcher.ts";
import { ON_FAILURE } from "../launcher-settings.ts";
import type { Resource } from "./slots.ts";

/** What a launcher of local processes does. */
export interface LocalSettings {
  /** The largest number of parallel processes; -1 is one for each CPU that this process may use, -2 one less. */
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
  readonly slotScope: SlotScope;
}

export type SlotScope = "machine" | "sweep";

/** `auto`: the slots are the GPUs of this machine. */
export type AskedResource = Omit<Resource, "slots"> & {
  readonly slots: readonly string[] | "auto";
};

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** One job after the other, without slots, retries or a limit. */
export const STANDARD: LocalSettings = {
  jobs: 1,
  timeLimit: null,
  retries: 0,
  resources: new Map(),
  reusesWorkers: null,
  slotScope: "sweep",
};

/** Reads `hydra.launcher` of one of the launchers of local processes. */
export type SettingsReader = (section: LauncherSettings) => LocalSettings;

export const SECTION = { key: "hydra.launcher" } as const;

/** @throws ConfigError `value.wrong_type` */
export const readLauncher = <Table extends SettingsTable>(
  table: Table,
  plain: LauncherSettings,
): SettingValues<Table> => readSettings(table, { ...SECTION, valueOf: (name) => plain[name] });

/** The problem with a value, for `Refuse`. */
export const cannotBe = (value: unknown, wanted: string): string =>
  `cannot be '${String(value)}': it must be ${wanted}`;

/** Counts as joblib does: -1 is one process for each CPU that this process may use, -2 one less. */
export const PROCESSES: Setting<number> = {
  field: field(INT, -1n),
  help: "processes at a time; -1 is one per CPU that the sweep may use (by `taskset`, or a container's share: `--cpus`), -2 one less",
  read(value, refuse) {
    const number = Number(value ?? -1);
    if (!Number.isInteger(number) || number === 0)
      refuse(cannotBe(value, "a number of processes, or -1 for one per CPU"));
    return number;
  },
};

/** Reads a duration in milliseconds. @param unit unit of the setting, in milliseconds */
export const positive =
  (unit: number): Setting<number | null>["read"] =>
  (value, refuse) => {
    if (value === undefined || value === null) return null;
    const number = Number(value);
    if (number > 0) return number * unit;
    return refuse(cannotBe(value, "more than 0, or null for no limit"));
  };

/** The settings of `hydra/launcher=local`. */
export const LOCAL_SETTINGS = {
  n_jobs: PROCESSES,
  timeout_min: {
    field: field(optional(FLOAT), null),
    help: "minutes that an attempt at a job may take; then it gets SIGTERM, and 10 seconds later it is killed",
    read: positive(MINUTE),
  },
  max_retries: {
    field: field(INT, 0n),
    help: "how often a job that is `failed` or `timed_out` starts again; if the launcher was killed before that, `--resume` does it. One that is `stopped` does not start again",
    read(value: unknown, refuse: Refuse): number {
      const number = Number(value ?? 0);
      if (Number.isInteger(number) && number >= 0) return number;
      return refuse(cannotBe(value, "a whole number, 0 or more"));
    },
  },
  on_failure: ON_FAILURE,
  resources: {
    field: emptyMap(ANY),
    help: "what jobs share, as `+hydra.launcher.resources.gpu=[0,1]`: a job has one [slot](#slots) of each to itself; `gpu` sets `CUDA_VISIBLE_DEVICES`, any other `name` sets `HYDRACONF_SLOT_NAME`",
    read: resourcesOf,
  },
  reuse_workers: {
    field: field(optional(BOOL), null),
    help: "whether a process that has done a job [runs another](#one-process-for-many-jobs): true, false, or null for what suits the program: true for `hydraconf run`, false for others",
    read(value: unknown, refuse: Refuse): boolean | null {
      if (value === undefined || value === null || typeof value === "boolean") return value ?? null;
      return refuse(cannotBe(value, "true, false, or null for what suits the program"));
    },
  },
  warm: {
    field: field(optional(BOOL), null),
    help: "whether a reused process that runs a program of Python's Hydra [imports it once](run.md#one-import-for-many-jobs): true, false, or null for where that is safe",
    read(value: unknown, refuse: Refuse): boolean | null {
      if (value === undefined || value === null || typeof value === "boolean") return value ?? null;
      return refuse(cannotBe(value, "true, false, or null for where it is safe"));
    },
  },
  slot_scope: {
    field: field(STR, "machine"),
    help: "who shares the slots: all your sweeps on this `machine`, or the jobs of this `sweep`",
    read(value: unknown, refuse: Refuse): SlotScope {
      const scope = value ?? "machine";
      if (scope === "machine" || scope === "sweep") return scope;
      return refuse(cannotBe(scope, "machine or sweep"));
    },
  },
} satisfies SettingsTable;

/** The keys of `hydra/launcher=local`. */
export const readLocalSettings: SettingsReader = (section) => {
  const settings = readLauncher(LOCAL_SETTINGS, section);
  return {
    jobs: settings.n_jobs,
    timeLimit: settings.timeout_min,
    retries: settings.max_retries,
    resources: settings.resources,
    reusesWorkers: settings.reuse_workers,
    slotScope: settings.slot_scope,
  };
};

function resourcesOf(value: unknown, refuse: Refuse): ReadonlyMap<string, AskedResource> {
  const resources = new Map<string, AskedResource>();
  for (const [name, asked] of Object.entries((value ?? {}) as LauncherSettings))
    resources.set(name, resourceOf(name, asked, refuse));
  return resources;
}

/** The only resource that can be detected. */
const FOUND = "gpu";

/**
 * A resource as a list of slots, of which a job takes one; as a map with more options; or, for GPUs, as a number: how
 * many of all GPUs a job takes, or which fraction of one.
 */
function resourceOf(name: string, asked: unknown, refuse: Refuse): AskedResource {
  const wrong: WrongPart = (below, value, wanted) => refuse(cannotBe(value, wanted), { below });
  if (Array.isArray(asked)) return { slots: slotsOf(name, asked, wrong), perJob: 1, perSlot: 1 };
  const isFound = name === FOUND;
  if (isFound && asked === "auto") return { slots: "auto", perJob: 1, perSlot: 1 };
  const number = typeof asked === "bigint" || typeof asked === "number" ? Number(asked) : undefined;
  if (isFound && number !== undefined && number > 0) {
    if (number < 1) return { slots: "auto", perJob: 1, perSlot: Math.floor(1 / number + 1e-9) };
    if (Number.isInteger(number)) return { slots: "auto", perJob: number, perSlot: 1 };
  }
  if (typeof asked !== "object" || asked === null)
    return wrong(
      name,
      asked,
      isFound
        ? "a list of slots, such as [0, 1], auto, a number of GPUs, or a part of one, such as 0.5"
        : "a list of slots, such as [0, 1], or a map with slots, per_job and jobs_per_slot",
    );
  const { jobs_per_slot, per_job, slots, ...others } = asked as LauncherSettings;
  const [other] = Object.keys(others);
  if (other !== undefined)
    wrong(`${name}.${other}`, others[other], "one of slots, per_job and jobs_per_slot");
  const isAuto = isFound && (slots ?? "auto") === "auto";
  return {
    slots: isAuto ? "auto" : slotsOf(`${name}.slots`, slots, wrong),
    perJob: atLeastOne(`${name}.per_job`, per_job, wrong),
    perSlot: atLeastOne(`${name}.jobs_per_slot`, jobs_per_slot, wrong),
  };
}

/** Refuses a part of `resources`. */
type WrongPart = (below: string, value: unknown, wanted: string) => never;

function atLeastOne(below: string, value: unknown, wrong: WrongPart): number {
  const number = Number(value ?? 1);
  if (Number.isInteger(number) && number >= 1) return number;
  return wrong(below, value, "a whole number, 1 or more");
}

function slotsOf(below: string, slots: unknown, wrong: WrongPart): readonly string[] {
  if (!Array.isArray(slots) || slots.length === 0)
    return wrong(below, slots, "a list of slots, such as [0, 1]");
  const texts = slots.map(String);
  if (new Set(texts).size < texts.length)
    wrong(
      below,
      `[${texts}]`,
      "a list without repetitions: for several jobs at a time in each slot, use {slots: [...], jobs_per_slot: N}",
    );
  return texts;
}
