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
  /** YAML is read and written as libyaml does it, and not as PyYAML does by itself. */
  readonly libyaml: boolean;
  /** A path is written as a list of its text, and not of its parts. */
  readonly pathsAsText: boolean;
  /** `\.`, `\[`, `\]` and `\=` in a key stand for the character itself, which separates nothing. */
  readonly escapesInKeys: boolean;
  /** Items of lists are also counted from the end where a key is looked up: `${list.-1}`. */
  readonly indicesFromEnd: boolean;
  /** A relative key with more dots than there are levels above is absent for `select` and `oc.select`, and no error. */
  readonly absentAboveRoot: boolean;
  /** The error of a relative key that is not found says from where it was looked up. */
  readonly showsRelativeKeys: boolean;
  /** `update` goes on in what a reference on the way leads to, and does not replace the reference. */
  readonly updatesReferred: boolean;
  /** `resolve` refuses a reference to a missing value, and `missing_keys` names it; else it is missing, and an error. */
  readonly refusesToMissing: boolean;
  /** `resolve` keeps maps and lists that resolvers made, which else are refused. */
  readonly keepsResolved: boolean;
  /** `!!omap` and `!!pairs` give tuples, which may hold nothing that is missing. */
  readonly tuples: boolean;
  /** Aliases may not contain themselves, nor make more of a document than OmegaConf's own limits. */
  readonly limitsAliases: boolean;
  /** What `<<` brings and the map says itself stands where the map says it, and not where it was brought. */
  readonly ownKeysStay: boolean;
}

/** `version_base="1.3"` of Hydra 1.3.5 with OmegaConf 2.3.1. */
const V1_3: Dialect = {
  name: "1.3",
  hydraVersion: "1.3.5",
  changesDirectory: false,
  libyaml: false,
  pathsAsText: false,
  escapesInKeys: false,
  indicesFromEnd: false,
  absentAboveRoot: false,
  showsRelativeKeys: false,
  updatesReferred: false,
  refusesToMissing: false,
  keepsResolved: false,
  tuples: false,
  limitsAliases: false,
  ownKeysStay: false,
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
  libyaml: true,
  pathsAsText: true,
  escapesInKeys: true,
  indicesFromEnd: true,
  absentAboveRoot: true,
  showsRelativeKeys: true,
  updatesReferred: true,
  refusesToMissing: true,
  keepsResolved: true,
  tuples: true,
  limitsAliases: true,
  ownKeysStay: true,
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
