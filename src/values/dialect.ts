import type { OptionCheck } from "./check-options.ts";
import { ConfigError } from "./errors.ts";
import { pyRepr } from "./python-text.ts";

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
  /** YAML is read and written as libyaml does it, and not as PyYAML does by itself. */
  readonly libyaml: boolean;
  /** A path is written as a list of its text, and not of its parts. */
  readonly pathsAsText: boolean;
  /** What `hydra.job.chdir` is unless something sets it; null, which it may be then, leaves it to `changesDirectory`. */
  readonly chdirDefault: boolean | null;
  /** Whether `hydra.job.override_dirname` is an interpolation, `${hydra_override_dirname:}`; else a text that is filled in. */
  readonly resolvesDirname: boolean;
  /** Whether the first line of an error about an override lists all overrides. */
  readonly listsOverrides: boolean;
  /** Whether an error mentions `HYDRA_FULL_ERROR`. */
  readonly tellsOfFullError: boolean;
  /** Whether what a task throws is written to the job's own log. */
  readonly logsFailures: boolean;
  /** Whether callbacks are notified of the end of a job that Ctrl-C ends, and of its run; else of neither. */
  readonly tellsOfInterrupts: boolean;
  /** Whether the values of `hydra.job.env_set` see variables that stand before them in it; else each other, as values. */
  readonly setsVariablesInTurn: boolean;
  /** Whether a job of a sweep is refused that changes the launcher or the sweeper; else the change means nothing. */
  readonly fixesLauncher: boolean;
  /** Whether `glob` finds what `hydra.searchpath` adds. */
  readonly globsSearchPath: boolean;
  /** The oldest `version_base` that a program may name; null where the version itself decides. */
  readonly leastVersionBase: string | null;
  /** Whether completion takes a word with hyphens behind `python` for the script. */
  readonly hyphensInScripts: boolean;
  /** Whether `--` on a command line means nothing; else what stands behind it is no flag. */
  readonly ignoresDashes: boolean;
  /** Functions of the override language beside those that every version has. */
  readonly addedFunctions: readonly string[];
  /** What the bounds of a float range count as: the decimal digits that are shown of a double, or its exact binary value. */
  readonly rangeDecimals: "shown" | "exact";
  /** Whether `sort(range(...))` sorts the values of the range; else it exchanges the bounds. */
  readonly sortsRangeValues: boolean;
  /** Whether `_group_` in the package of an item of a defaults list stands for the config's group; else it is a name. */
  readonly fillsGroup: boolean;
  /** Whether a slash in an option of a defaults list belongs to the group: `a: b/c` is `a/b: c`. */
  readonly slashInGroup: boolean;
  /** Whether `..` and backslashes in the paths of a defaults list are refused. */
  readonly checksPaths: boolean;
  /** Whether words before a group other than `optional` and `override` are refused; else they mean nothing. */
  readonly refusesKeywords: boolean;
  /**
   * Whether overrides in defaults lists reach only what stands before them, and the last one of a group wins; else they reach
   * all, and the first one wins.
   */
  readonly lastOverrideWins: boolean;
  /** Whether interpolations in defaults lists wait for the choices of the whole tree, and name nothing but choices. */
  readonly defersChoices: boolean;
  /** Whether `+group=option` counts from the root of the tree; else from the primary config's group and package. */
  readonly absoluteAppends: boolean;
  /** Whether `~path/to/config` takes items out of defaults lists that name that config. */
  readonly deletesConfigs: boolean;
  /** Whether `~key` takes out items of lists and values that are null or missing, and `~key=null` compares. */
  readonly deletesAnyValue: boolean;
  /** Whether files `.yml` where configs are looked for are refused; else they are no configs. */
  readonly refusesYml: boolean;
  /** Whether a defaults list without `_self_` beside content of the file is warned about. */
  readonly warnsOfMissingSelf: boolean;
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
  /** What the refusal to merge a map with a list says. */
  readonly mergeRefusal: string;
  /** Whether the refusal of a key that a map does not have names those that are like it. */
  readonly suggestsKeys: boolean;
  /** `resolve` refuses a reference to a missing value, and `missing_keys` names it; else it is missing, and an error. */
  readonly refusesToMissing: boolean;
  /** `resolve` keeps maps and lists that resolvers made, which else are refused. */
  readonly keepsResolved: boolean;
  /** `!!omap` and `!!pairs` give tuples, which may hold nothing that is missing. */
  readonly tuples: boolean;
  /** Aliases may not contain themselves, nor make more of a document than OmegaConf's own limits. */
  readonly limitsAliases: boolean;
  /** Whether plugins have the configs that they have from Hydra 1.4 on. */
  readonly newerPlugins: boolean;
  /** `instantiate` resolves each value when its turn comes; else all of them before it calls the first target. */
  readonly instantiatesInTurn: boolean;
  /** Maps among the arguments of `instantiate` replace those of the config that are no targets; else they are merged over them. */
  readonly argumentsReplace: boolean;
  /** What `<<` brings and the map says itself stands where the map says it, and not where it was brought. */
  readonly ownKeysStay: boolean;
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
  libyaml: false,
  pathsAsText: false,
  chdirDefault: null,
  resolvesDirname: false,
  listsOverrides: false,
  tellsOfFullError: true,
  logsFailures: false,
  tellsOfInterrupts: false,
  setsVariablesInTurn: true,
  fixesLauncher: false,
  globsSearchPath: false,
  leastVersionBase: null,
  hyphensInScripts: false,
  ignoresDashes: false,
  addedFunctions: [],
  rangeDecimals: "exact",
  sortsRangeValues: false,
  fillsGroup: true,
  slashInGroup: false,
  checksPaths: false,
  refusesKeywords: false,
  lastOverrideWins: false,
  defersChoices: false,
  absoluteAppends: false,
  deletesConfigs: false,
  deletesAnyValue: false,
  refusesYml: false,
  warnsOfMissingSelf: true,
  escapesInKeys: false,
  indicesFromEnd: false,
  absentAboveRoot: false,
  showsRelativeKeys: false,
  updatesReferred: false,
  mergeRefusal: "Cannot merge DictConfig with ListConfig",
  suggestsKeys: false,
  refusesToMissing: false,
  keepsResolved: false,
  tuples: false,
  limitsAliases: false,
  newerPlugins: false,
  instantiatesInTurn: false,
  argumentsReplace: false,
  ownKeysStay: false,
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
const V1_4: Dialect = {
  ...V1_3,
  name: "1.4",
  hydraVersion: "1.4.0.dev9",
  libyaml: true,
  pathsAsText: true,
  chdirDefault: false,
  resolvesDirname: true,
  listsOverrides: true,
  tellsOfFullError: false,
  logsFailures: true,
  tellsOfInterrupts: true,
  setsVariablesInTurn: false,
  fixesLauncher: true,
  globsSearchPath: true,
  leastVersionBase: "1.3",
  hyphensInScripts: true,
  ignoresDashes: true,
  addedFunctions: ["json_str", "extend_list"],
  rangeDecimals: "shown",
  sortsRangeValues: true,
  fillsGroup: false,
  slashInGroup: true,
  checksPaths: true,
  refusesKeywords: true,
  lastOverrideWins: true,
  defersChoices: true,
  absoluteAppends: true,
  deletesConfigs: true,
  deletesAnyValue: true,
  refusesYml: true,
  warnsOfMissingSelf: false,
  escapesInKeys: true,
  indicesFromEnd: true,
  absentAboveRoot: true,
  showsRelativeKeys: true,
  updatesReferred: true,
  mergeRefusal: "Cannot merge incompatible container types",
  suggestsKeys: true,
  refusesToMissing: true,
  keepsResolved: true,
  tuples: true,
  limitsAliases: true,
  newerPlugins: true,
  instantiatesInTurn: true,
  argumentsReplace: true,
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

/** An option of public functions: the name of a dialect, or nothing. */
export const dialectOption: OptionCheck = (_by, _name, value) => {
  if (value !== undefined) dialectNamed(value as string);
};

/**
 * Options of a public function, with the dialect that they name.
 *
 * @throws ConfigError `compose.unsupported`
 */
export const withDialect = <Options extends { readonly dialect?: DialectName }>({
  dialect,
  ...rest
}: Options): Omit<Options, "dialect"> & { readonly dialect?: Dialect } => ({
  ...rest,
  ...(dialect !== undefined && { dialect: dialectNamed(dialect) }),
});

/**
 * The `version_base` that a program of a dialect reports, where the dialect does not depend on it.
 *
 * @throws ConfigError `compose.unsupported` for what is no version, or an older one than the dialect takes
 */
export function reportedBase(
  versionBase: string | undefined,
  dialect: Dialect,
): string | undefined {
  const { hydraVersion, leastVersionBase, name } = dialect;
  if (leastVersionBase === null || versionBase === undefined) return undefined;
  const version = /^(\d+)\.(\d+)(?:\.\d+(?:rc\d+|\.dev\d+)?)?$/.exec(versionBase);
  const refused = (message: string): ConfigError =>
    new ConfigError({
      code: "compose.unsupported",
      message,
      key: "versionBase",
      hint: `Hydra ${hydraVersion} behaves in one way only: leave versionBase out`,
    });
  if (version === null) throw refused(`Invalid version: ${pyRepr(versionBase)}`);
  const [major = 0, minor = 0] = version.slice(1, 3).map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastVersionBase.split(".").map(Number);
  if (major < leastMajor || (major === leastMajor && minor < leastMinor))
    throw refused(
      `version_base=${pyRepr(versionBase)} is not supported in Hydra ${name}; omit version_base to use the current behavior`,
    );
  return `${major}.${minor}`;
}
