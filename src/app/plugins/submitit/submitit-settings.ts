/** The settings of submitit's queues, and the kinds of values that they have. */
import {
  ANY,
  BOOL,
  emptyMap,
  field,
  INT,
  listOf,
  optional,
  STR,
} from "../../../engine/compose/hydra/hydra-schema.ts";
import type { NodeType } from "../../../engine/values/node.ts";
import type { Refuse, Setting } from "../../job/settings.ts";

/** A setting of a queue. */
export interface QueueSetting<Value = unknown> extends Setting<Value> {
  /** Whether it is the option of sbatch with the same name. */
  readonly isOption?: true;
}

type Read<Value> = (value: unknown, refuse: Refuse) => Value;

const readText: Read<string> = (value, refuse) => {
  if (typeof value === "string") return value;
  if (["number", "bigint", "boolean"].includes(typeof value)) return String(value);
  return refuse(mustBe("a string", value));
};

/** A whole number not below `least`. */
const readCount =
  (least: number): Read<number> =>
  (value, refuse) => {
    const number = typeof value === "boolean" || value === "" ? Number.NaN : Number(value);
    if (value !== null && Number.isSafeInteger(number) && number >= least) return number;
    return refuse(mustBe(`a whole number from ${least} on`, value));
  };

const mustBe = (wanted: string, value: unknown): string =>
  `must be ${wanted}, not ${JSON.stringify(String(value))}`;

/** @param standard the value if the config lacks the key */
const orElse =
  <Value, Standard>(standard: Standard, read: Read<Value>): Read<Value | Standard> =>
  (value, refuse) =>
    value === undefined ? standard : read(value, refuse);

/** A setting that is null by default. */
const unset = <Value>(
  type: NodeType,
  read: Read<Value>,
  help: string,
): QueueSetting<Value | null> => ({
  field: field(optional(type), null),
  help,
  read: (value, refuse) => (value === undefined || value === null ? null : read(value, refuse)),
});

/** @param inConfig the default in the config group; @param absent the value if the config lacks the key */
const text = (inConfig: string, absent: string, help: string): QueueSetting<string> => ({
  field: field(STR, inConfig),
  help,
  read: orElse(absent, readText),
});

export const count = (least: number, standard: number, help: string): QueueSetting<number> => ({
  field: field(INT, BigInt(standard)),
  help,
  read: orElse(standard, readCount(least)),
});

export const optionalText = (help: string): QueueSetting<string | null> =>
  unset(STR, readText, help);

export const optionalCount = (least: number, help: string): QueueSetting<number | null> =>
  unset(INT, readCount(least), help);

/** None by default. */
export const texts = (help: string): QueueSetting<readonly string[]> => ({
  field: field(optional(listOf(STR)), null),
  help,
  read: (value = null, refuse) => {
    if (value === null) return [];
    if (Array.isArray(value)) return value.map((item) => readText(item, refuse));
    return refuse(mustBe("a list of strings", value));
  },
});

export const record = (
  what: string,
  help: string,
): QueueSetting<Readonly<Record<string, unknown>>> => ({
  field: emptyMap(ANY),
  help,
  read: (value = null, refuse) => {
    if (value === null) return {};
    if (typeof value === "object" && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
    return refuse(mustBe(`a map of ${what}`, value));
  },
});

const flag = (standard: boolean, help: string): QueueSetting<boolean> => ({
  field: field(BOOL, standard),
  help,
  read: (value = standard, refuse) =>
    typeof value === "boolean" ? value : refuse(mustBe("true or false", value)),
});

/** Marks the setting that is the option of sbatch with the same name. */
export const option = <Value>(setting: QueueSetting<Value>): QueueSetting<Value> => ({
  ...setting,
  isOption: true,
});

/**
 * The settings of every queue, in submitit's order and with its defaults.
 *
 * @see https://hydra.cc/docs/1.3/plugins/submitit_launcher/
 */
export const QUEUE_SETTINGS = {
  submitit_folder: text(
    "${hydra.sweep.dir}/.submitit/%j",
    "",
    "where jobs log; `%j` stands for the task, `ARRAY_INDEX`",
  ),
  timeout_min: count(1, 60, "the time limit of a job, in minutes"),
  cpus_per_task: option(optionalCount(1, "CPUs of a task")),
  gpus_per_node: option(optionalCount(0, "GPUs on each node")),
  tasks_per_node: count(1, 1, "processes of a job on each node"),
  mem_gb: optionalCount(1, "memory of a node, in GB"),
  nodes: option(count(1, 1, "nodes of a job")),
  name: text("${hydra.job.name}", "hydraconf", "the name of the jobs in the queue"),
  stderr_to_stdout: flag(false, "whether standard error goes into the log of standard output"),
};
