import { ConfigError } from "./errors.ts";

/** The versions of Hydra whose behaviour can be chosen, as `version_base` names them. */
export const DIALECT_NAMES: readonly DialectName[] = ["1.1", "1.2", "1.3", "1.4"];

/** A version of Hydra, as `version_base` names it. */
export type DialectName = "1.1" | "1.2" | "1.3" | "1.4";

/**
 * What a version of Hydra does in its own way. All that differs between versions is a field here: code asks for the field and
 * never for the version.
 */
export interface Dialect {
  readonly name: DialectName;
  /** What configs read as `${hydra.runtime.version}`. */
  readonly hydraVersion: string;
  /** What a program is warned of for choosing this version; null for nothing. */
  readonly notice: string | null;
  /**
   * Whether a job works in its run directory unless `hydra.job.chdir` says otherwise.
   *
   * @see https://hydra.cc/docs/1.2/upgrades/1.1_to_1.2/changes_to_job_working_dir/
   */
  readonly changesDirectory: boolean;
  /**
   * Where a program's configs are if it names no directory: one relative to the program, or null for nowhere.
   *
   * @see https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_hydra_main_config_path
   */
  readonly defaultConfigPath: string | null;
  /**
   * Whether `_group_` and `_name_` in a `# @package` header stand for the config's group and name, and `_name_` in the
   * package of a defaults list or override, too. Elsewhere they are names of packages.
   *
   * @see https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_package_header
   */
  readonly packageKeywords: boolean;
  /** Whether a name that ends in `.yml` is that of a file; elsewhere all config files are `.yaml`. */
  readonly readsYml: boolean;
  /** Whether `optional: true` beside a group in one item of a defaults list makes the item optional. */
  readonly optionalEntry: boolean;
  /**
   * Whether an item of a group `hydra/...` in a defaults list overrides it without the keyword `override`.
   *
   * @see https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/defaults_list_override
   */
  readonly implicitHydraOverrides: boolean;
  /**
   * Whether `${defaults.0.group}` is resolved in a defaults list; elsewhere it is refused.
   *
   * @see https://hydra.cc/docs/1.1/upgrades/1.0_to_1.1/defaults_list_interpolation
   */
  readonly positionalInterpolation: boolean;
}

/** `version_base="1.3"` of Hydra 1.3.5 with OmegaConf 2.3.1. */
const V1_3: Dialect = {
  name: "1.3",
  hydraVersion: "1.3.5",
  notice: null,
  changesDirectory: false,
  defaultConfigPath: null,
  packageKeywords: false,
  readsYml: false,
  optionalEntry: false,
  implicitHydraOverrides: false,
  positionalInterpolation: false,
};

/** `version_base="1.2"` of Hydra 1.3.5. */
const V1_2: Dialect = { ...V1_3, name: "1.2" };

/** `version_base="1.1"` of Hydra 1.3.5, which is what a Python program without `version_base` gets. */
const V1_1: Dialect = {
  ...V1_2,
  name: "1.1",
  notice:
    '\nversion_base="1.1" selects Hydra 1.1 compatibility behavior.\n' +
    "Hydra 1.4 will remove this compatibility behavior.\n" +
    'Before upgrading to Hydra 1.4, set version_base="1.3" and test your application.\n' +
    "See https://hydra.cc/docs/upgrades/1.3_to_1.4/prepare_for_1_4/ for preparation instructions.",
  changesDirectory: true,
  defaultConfigPath: ".",
  packageKeywords: true,
  readsYml: true,
  optionalEntry: true,
  implicitHydraOverrides: true,
  positionalInterpolation: true,
};

/** Hydra 1.4.0.dev9 with OmegaConf 2.4.0.dev14. */
const V1_4: Dialect = { ...V1_3, name: "1.4", hydraVersion: "1.4.0.dev9" };

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
