/**
 * Settings of launchers and sweepers. Each is declared once: its field in the config, the values that it may have, and
 * its meaning. The config group, the reader of a sweep and the table of the documentation are made from that.
 */
import type { Field } from "../../engine/compose/hydra/hydra-schema.ts";
import { ConfigError, type ErrorCode } from "../../engine/values/errors.ts";
import type { Origin } from "../../engine/values/origin.ts";

export interface Setting<Value = unknown> {
  /** Its type and its default in the config group. */
  readonly field: Field;
  /** What it means, as the documentation says it (Markdown). */
  readonly help: string;
  /**
   * The value that the sweep works with.
   *
   * @param value as in the config, interpolations resolved; undefined if the config lacks the key
   */
  readonly read: (value: unknown, refuse: Refuse) => Value;
}

/**
 * Refuses a value.
 *
 * @param problem completes a sentence that begins with the key: `must be an int`
 */
export type Refuse = (problem: string, details?: RefusalDetails) => never;

export interface RefusalDetails {
  readonly hint?: string;
  /** The values that it may have. */
  readonly available?: readonly string[];
  /** The one that is probably meant. */
  readonly nearest?: string | undefined;
  /** The path of the refused value below the setting, if it is a part of the setting's value. */
  readonly below?: string;
}

/** The settings of a launcher or sweeper by key, in the order of the config. */
export type SettingsTable = Readonly<Record<string, Setting>>;

/** The values that are read of a table. */
export type SettingValues<Table extends SettingsTable> = {
  readonly [Key in keyof Table]: ReturnType<Table[Key]["read"]>;
};

/** The fields of a config group. */
export const fieldsOf = <Table extends SettingsTable>(table: Table) =>
  Object.fromEntries(Object.entries(table).map(([key, { field }]) => [key, field])) as {
    readonly [Key in keyof Table]: Field;
  };

/** A node of the config that holds settings. */
export interface SettingsSection {
  readonly key: "hydra.launcher" | "hydra.sweeper";
  /** The value of a setting; undefined if the config lacks the key. */
  readonly valueOf: (name: string) => unknown;
  readonly originOf?: (name: string) => Origin | undefined;
  /** Of refusals; default: `value.wrong_type`. */
  readonly code?: ErrorCode;
}

/** @throws ConfigError for a value that a setting may not have */
export const readSettings = <Table extends SettingsTable>(
  table: Table,
  section: SettingsSection,
): SettingValues<Table> =>
  Object.fromEntries(
    Object.entries(table).map(([name, { read }]) => [
      name,
      read(section.valueOf(name), refusalIn(section, name)),
    ]),
  ) as SettingValues<Table>;

/** Refuses the value of a setting. */
export const refusalIn =
  ({ code = "value.wrong_type", key, originOf }: Omit<SettingsSection, "valueOf">, name: string) =>
  (problem: string, { available, below, hint, nearest }: RefusalDetails = {}): never => {
    const path = [key, name, ...(below === undefined ? [] : [below])].join(".");
    throw new ConfigError({
      code,
      message: `${path} ${problem}`,
      key: path,
      origin: originOf?.(name),
      available,
      ...(nearest !== undefined && { nearest }),
      hint,
    });
  };
