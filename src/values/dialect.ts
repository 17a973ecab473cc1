import { ConfigError } from "./errors.ts";

/** The versions of Hydra whose behaviour can be chosen, as `version_base` names them. */
export const DIALECT_NAMES = ["1.1", "1.2", "1.3", "1.4"] as const;

/** A version of Hydra, as `version_base` names it. */
export type DialectName = (typeof DIALECT_NAMES)[number];

/**
 * What a version of Hydra does in its own way. All that differs between versions is a field here: code asks for the field and
 * never for the version.
 */
export interface Dialect {
  readonly name: DialectName;
  /** What configs read as `${hydra.runtime.version}`. */
  readonly hydraVersion: string;
  /** Whether a job works in its run directory unless `hydra.job.chdir` says otherwise. */
  readonly changesDirectory: boolean;
  /** Functions of the override language beside those that every version has. */
  readonly addedFunctions: readonly string[];
  /** What the bounds of a float range count as: the decimal digits that are shown of a double, or its exact binary value. */
  readonly rangeDecimals: "shown" | "exact";
  /** Whether `sort(range(...))` sorts the values of the range; else it exchanges the bounds. */
  readonly sortsRangeValues: boolean;
}

/** `version_base="1.3"` of Hydra 1.3.5 with OmegaConf 2.3.1. */
const V1_3: Dialect = {
  name: "1.3",
  hydraVersion: "1.3.5",
  changesDirectory: false,
  addedFunctions: [],
  rangeDecimals: "exact",
  sortsRangeValues: false,
};

/** `version_base="1.2"` of Hydra 1.3.5. */
const V1_2: Dialect = { ...V1_3, name: "1.2" };

/** `version_base="1.1"` of Hydra 1.3.5, which is what a Python program without `version_base` gets. */
const V1_1: Dialect = { ...V1_2, name: "1.1", changesDirectory: true };

/** Hydra 1.4.0.dev9 with OmegaConf 2.4.0.dev14. */
const V1_4: Dialect = {
  ...V1_3,
  name: "1.4",
  hydraVersion: "1.4.0.dev9",
  addedFunctions: ["json_str", "extend_list"],
  rangeDecimals: "shown",
  sortsRangeValues: true,
};

/** By name. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  "1.1": V1_1,
  "1.2": V1_2,
  "1.3": V1_3,
  "1.4": V1_4,
};

/** The dialect where none is chosen. */
export const DEFAULT_DIALECT: Dialect = V1_3;

/**
 * The dialect of a name.
 *
 * @throws ConfigError `compose.unsupported` for another name
 */
export function dialectNamed(name: string): Dialect {
  const known = DIALECT_NAMES.find((candidate) => candidate === name);
  if (known !== undefined) return DIALECTS[known];
  throw new ConfigError({
    code: "compose.unsupported",
    message: `The dialect ${String(name)} is not supported`,
    available: DIALECT_NAMES,
  });
}
