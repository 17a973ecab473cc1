/** The settings of sweepers that search a space. */

import {
  ANY,
  BOOL,
  FLOAT,
  field,
  INT,
  optional,
  STR,
} from "../../../engine/compose/hydra/hydra-schema.ts";
import { toPlain } from "../../../engine/compose/index.ts";
import { nearest } from "../../../engine/values/errors.ts";
import { type ConfigNode, MISSING, type ScalarValue, scalar } from "../../../engine/values/node.ts";
import { fromCode } from "../../../engine/values/origin.ts";
import { pyStr } from "../../../engine/values/python-text.ts";
import { asDeclared } from "../../../engine/values/resolution/context.ts";
import { selectNode } from "../../../engine/values/resolution/select.ts";
import { plainAt } from "../../job/hydra-values.ts";
import {
  type Refuse,
  readSettings,
  refusalIn,
  type Setting,
  type SettingsSection,
  type SettingsTable,
  type SettingValues,
} from "../../job/settings.ts";
import type { Direction, Objective } from "./objective.ts";
import type { PruningRule } from "./pruner.ts";
import type { SweeperRequest } from "./sweeper.ts";

type Read<Value> = Setting<Value>["read"];

/** Null counts as not set. */
const orNone =
  <Value>(read: Read<Value>): Read<Value | undefined> =>
  (value, refuse) =>
    value === undefined || value === null ? undefined : read(value, refuse);

const readText = orNone((value) =>
  typeof value === "string" ? value : pyStr(scalar(value as ScalarValue, fromCode("sweeper"))),
);

const readIntOrFloat: Read<bigint | number> = (value, refuse) =>
  typeof value === "bigint" || typeof value === "number"
    ? value
    : refuse(`must be a number, not '${String(value)}'`);

const readNumber =
  (least: number): Read<number> =>
  (value, refuse) => {
    const read = readIntOrFloat(value, refuse);
    const number = Number(read);
    return number >= least ? number : refuse(`must be at least ${least}, not ${read}`);
  };

const readInt =
  (least: number): Read<number> =>
  (value, refuse) =>
    typeof value === "number" ? refuse("must be an int") : readNumber(least)(value, refuse);

const required =
  <Value>(read: Read<Value>): Read<Value> =>
  (value, refuse) =>
    value === undefined || value === null ? refuse("is missing") : read(value, refuse);

/** A text, or none. */
export const text = (help: string): Setting<string | undefined> => ({
  field: field(optional(STR), null),
  help,
  read: readText,
});

/** A text that has to be given. */
const requiredText = (help: string, hint: string): Setting<string> => ({
  field: field(STR),
  help,
  read: (value, refuse) => {
    const read = readText(value, refuse);
    return read === undefined || read === MISSING ? refuse("is missing", { hint }) : read;
  },
});

/** An int, or none. */
const int = (least: number, help: string): Setting<number | undefined> => ({
  field: field(optional(INT), null),
  help,
  read: orNone(readInt(least)),
});

export const requiredInt = (standard: bigint, least: number, help: string): Setting<number> => ({
  field: field(INT, standard),
  help,
  read: required(readInt(least)),
});

const number = (standard: number, least: number, help: string): Setting<number> => ({
  field: field(FLOAT, standard),
  help,
  read: required(readNumber(least)),
});

/** A number above 0 that preserves whether it was an int. */
const budget = (help: string): Setting<bigint | number> => ({
  field: field(ANY),
  help,
  read: required((value, refuse) => {
    const read = readIntOrFloat(value, refuse);
    if (Number(read) > 0 && Number.isFinite(Number(read))) return read;
    return refuse(`must be above 0, not ${read}`);
  }),
});

/** The settings that all searches share. `hydra.sweeper.params` and `exclude` are read with the overrides. */
export const SEARCH_SETTINGS = {
  n_jobs: int(1, "jobs in a batch; null: all that do not depend on a result still to come"),
  direction: {
    field: field(ANY, "minimize"),
    help: "or `maximize`; a list of both for several numbers",
    read: readDirections,
  },
  objective: {
    field: field(ANY, null),
    help: "the key of the number in what the task returns, a list of keys for several directions; null: the number itself, or a list of numbers",
    read: readObjective,
  },
  max_failure_rate: {
    field: field(FLOAT, 0),
    help: "the share of a batch that may fail before the sweep ends; a job that exceeded its time limit, or without a finite number (NaN, an infinity) counts as failed",
    read: (value: unknown, refuse: Refuse) => orNone(readNumber(0))(value, refuse) ?? 0,
  },
  seed: int(-Infinity, "an int; null: from the directory of the sweep"),
  when: {
    field: field(ANY, null),
    help: "the [conditions](#keys-that-not-every-job-has) of keys that not every job has",
    read: () => undefined,
  },
} satisfies SettingsTable;

const PRUNERS: readonly PruningRule["kind"][] = ["median", "successive_halving"];

/** The settings of searches that may end jobs early. */
export const PRUNING_SETTINGS = {
  pruner: {
    field: field(optional(STR), null),
    help: "`median` or `successive_halving` end jobs that are not worth going on; null: none",
    read: (value: unknown, refuse: Refuse): PruningRule["kind"] | undefined =>
      value === undefined || value === null
        ? undefined
        : (PRUNERS.find((kind) => kind === value) ??
          refuse(`must be median or successive_halving, not '${String(value)}'`, {
            nearest: nearest(String(value), PRUNERS),
          })),
  },
  pruner_metric: text("the key of the number in the metrics that jobs report; null: `objective`"),
  pruner_min_step: number(1, 1, "no job ends before this step"),
  pruner_startup_jobs: requiredInt(
    5n,
    1,
    "`median`: no job ends before so many others are completed",
  ),
  pruner_eta: number(3, 2, "`successive_halving`: one of so many jobs goes on at each rung"),
} satisfies SettingsTable;

/** Whether jobs may be asked for twice. */
const UNIQUE: Setting<boolean> = {
  field: field(BOOL, false),
  help: "whether no job is asked for twice; the search ends when none is left",
  read: (value) => value === true,
};

/** `hydra/sweeper=random`. */
export const RANDOM_SETTINGS = {
  n_trials: requiredInt(20n, 1, "how many jobs are drawn"),
  sequence: {
    field: field(STR, "random"),
    help: "`random`, or `sobol`: points that cover the space more evenly than independent ones",
    read: (value: unknown, refuse: Refuse) =>
      value === "random" || value === "sobol"
        ? value
        : refuse(`must be random or sobol, not '${String(value)}'`, {
            nearest: nearest(String(value), ["random", "sobol"]),
          }),
  },
  unique: UNIQUE,
  ...SEARCH_SETTINGS,
  ...PRUNING_SETTINGS,
};

/** Those of `hydra/sweeper=tpe` that others do not have, or have with another default. */
export const TPE_OWN_SETTINGS = {
  n_trials: requiredInt(20n, 1, "how many jobs are asked for"),
  n_startup_trials: requiredInt(10n, 1, "so many jobs at first cover the space evenly"),
  n_jobs: requiredInt(1n, 1, "jobs in a batch, which are asked for before any of them has ended"),
  unique: UNIQUE,
};

/** `hydra/sweeper=tpe`. */
export const TPE_SETTINGS = { ...SEARCH_SETTINGS, ...TPE_OWN_SETTINGS, ...PRUNING_SETTINGS };

/** `hydra/sweeper=successive_halving`. */
export const HALVING_SETTINGS = {
  budget_key: requiredText(
    "the override that sets the budget (`+epochs` adds the key)",
    "name the key that limits a job: epochs",
  ),
  min_budget: budget("no budget is below it"),
  max_budget: budget("the last budget; budgets are ints if both limits are"),
  eta: number(3, 2, "each budget is this part of the next, and as many times more trials get it"),
  n_trials: int(1, "trials of the first round; null: just enough to leave one for the last round"),
  resume_key: text(
    "the override that tells a trial that [goes on](#trials-that-go-on) where its checkpoint is; null: none does",
  ),
  resume_file: text(
    "a file in `$HYDRACONF_CHECKPOINT` that `resume_key` names; null: the directory",
  ),
  ...SEARCH_SETTINGS,
};

function readDirections(value: unknown, refuse: Refuse): readonly Direction[] {
  const directions = Array.isArray(value) ? value : [value];
  for (const direction of directions)
    if (direction !== "minimize" && direction !== "maximize")
      refuse(`must be minimize or maximize, not '${String(direction)}'`, {
        nearest: nearest(String(direction), ["minimize", "maximize"]),
      });
  return directions.length === 0 ? refuse("must name a direction") : directions;
}

function readObjective(value: unknown, refuse: Refuse): Objective {
  if (!Array.isArray(value)) return readText(value, refuse);
  return value.map((key) => readText(key, refuse) ?? refuse("must be keys"));
}

/** `hydra.sweeper` of a sweep. */
const sectionOf = ({ context, master: { root } }: SweeperRequest): SettingsSection => ({
  key: "hydra.sweeper",
  valueOf: (name) => {
    const path = `hydra.sweeper.${name}`;
    const node = selectNode(root, path, context);
    const whole =
      node?.kind === "list" ? selectNode(root, path, asDeclared(context), { deep: true }) : node;
    return whole === undefined || whole.kind === "map"
      ? plainAt(root, path, context)
      : valueIn(whole);
  },
  originOf: (name) => selectNode(root, `hydra.sweeper.${name}`, context)?.origin,
});

/** Plain data would not tell ints from floats. */
const valueIn = (node: ConfigNode): unknown => {
  if (node.kind === "scalar") return node.value;
  return node.kind === "list" ? node.items.map(valueIn) : toPlain(node);
};

/** @throws ConfigError `value.wrong_type` */
export const readSweeper = <Table extends SettingsTable>(
  table: Table,
  request: SweeperRequest,
): SettingValues<Table> => readSettings(table, sectionOf(request));

/** Refuses a setting for a reason that lies outside of it. */
export const refuseSetting = (request: SweeperRequest, name: string): Refuse =>
  refusalIn(sectionOf(request), name);
