/** The versions of Hydra with their OmegaConf, and what each does differently. */
import type { OptionCheck } from "./check-options.ts";
import { ConfigError } from "./errors.ts";
import { pyRepr } from "./python-text.ts";

/** The versions of Hydra whose behaviour can be chosen, as `version_base` names them. */
export const DIALECT_NAMES: readonly DialectName[] = ["1.1", "1.2", "1.3", "1.4"];

/** A version of Hydra, as `version_base` names it. */
export type DialectName = "1.1" | "1.2" | "1.3" | "1.4";

/**
 * How one version of Hydra behaves where versions differ. Every difference is a field here: code asks for the field and
 * never for the version.
 */
export interface Dialect {
  readonly name: DialectName;
  /** The value of `${hydra.runtime.version}`. */
  readonly hydraVersion: string;
  /** The warning that a program gets for choosing this version; null for none. */
  readonly notice: string | null;
  /**
   * Whether a job works in its run directory unless `hydra.job.chdir` says otherwise.
   *
   * @see https://hydra.cc/docs/1.2/upgrades/1.1_to_1.2/changes_to_job_working_dir/
   */
  readonly changesDirectory: boolean;
  /**
   * The directory of configs if a program names none: relative to the program, or null for no directory.
   * @see https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_hydra_main_config_path
   */
  readonly defaultConfigPath: string | null;
  /**
   * Whether `_group_` and `_name_` in a `# @package` header stand for the config's group and name, and `_name_` in the
   * package of a defaults list or override, too. Otherwise they are names of packages.
   *
   * @see https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_package_header
   */
  readonly packageKeywords: boolean;
  /** Whether a name that ends in `.yml` names a `.yml` file; otherwise all config files are `.yaml`. */
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
   * Whether `${defaults.0.group}` is resolved in a defaults list; otherwise it is refused.
   *
   * @see https://hydra.cc/docs/1.1/upgrades/1.0_to_1.1/defaults_list_interpolation
   */
  readonly positionalInterpolation: boolean;
  /** YAML is read and written as by libyaml, and not as by PyYAML's Python code. */
  readonly libyaml: boolean;
  /** A path is written as a list that holds its text, and not as a list of its parts. */
  readonly pathsAsText: boolean;
  /** The default of `hydra.job.chdir`. With null (then an allowed value), `changesDirectory` decides. */
  readonly chdirDefault: boolean | null;
  /**
   * Whether `hydra.job.override_dirname` is an interpolation, `${hydra_override_dirname:}`; otherwise its value is
   * filled in as text.
   */
  readonly resolvesDirname: boolean;
  /** Whether the first line of an error about an override lists all overrides. */
  readonly listsOverrides: boolean;
  /** Whether an error mentions `HYDRA_FULL_ERROR`. */
  readonly mentionsFullErrorVariable: boolean;
  /** Whether an exception of a task is written to the job's own log. */
  readonly logsFailures: boolean;
  /** Whether callbacks are notified of the end of a job, and of its run, that Ctrl-C interrupts. */
  readonly notifiesOfInterrupts: boolean;
  /**
   * Whether the values of `hydra.job.env_set` are resolved one after the other, each with the variables set before it;
   * otherwise all are resolved first, as values of the config.
   */
  readonly setsVariablesInTurn: boolean;
  /**
   * Whether a job of a sweep that changes the launcher or the sweeper is refused; otherwise the change has no effect.
   */
  readonly fixesLauncher: boolean;
  /** Whether `glob` finds what `hydra.searchpath` adds. */
  readonly globsSearchPath: boolean;
  /** The oldest `version_base` that a program may name; null where the version itself decides. */
  readonly leastVersionBase: string | null;
  /** Whether completion accepts a word with hyphens after `python` as the script. */
  readonly hyphensInScripts: boolean;
  /**
   * Whether overrides and flags may be mixed where a line is completed, and `--` divides only overrides from each other; otherwise
   * mixed ones are refused there, and the words after `--` belong to the program.
   */
  readonly mixesFlags: boolean;
  /** Functions of the override language that not every version has. */
  readonly addedFunctions: readonly string[];
  /**
   * Whether the primary config can define short names for the keys of overrides: `hydra.override.aliases`.
   *
   * @see https://github.com/facebookresearch/hydra/issues/3224
   */
  readonly hasAliases: boolean;
  /**
   * Whether `hydra.sweeper.fail_fast` may be set: no job of a sweep starts after one has failed.
   *
   * @see https://github.com/facebookresearch/hydra/issues/2824
   */
  readonly failsFast: boolean;
  /** Whether `--experimental-rerun` composes a job anew from its output directory; otherwise it reads a pickled config. */
  readonly rerunsByComposition: boolean;
  /** Whether `--help` shows a config whose groups are not all chosen; otherwise the missing choice is an error. */
  readonly helpsWithoutChoices: boolean;
  /**
   * Whether `hydra.mode` is read from the primary config and the command line before anything is composed, and no other config may
   * change it; otherwise it is read from the composed config, and recorded as an override of each run.
   *
   * @see https://github.com/facebookresearch/hydra/issues/3440
   */
  readonly modeIsPrimary: boolean;
  /**
   * How the bounds of a float range are read: as the decimal digits that Python prints, or as the exact binary value.
   */
  readonly rangeDecimals: "shown" | "exact";
  /**
   * Whether a cast of a range converts each of its values, and casts and `json_str` keep the tags and the shuffling of a sweep;
   * otherwise the bounds are converted, and tags and shuffling are lost.
   *
   * @see https://github.com/facebookresearch/hydra/issues/3520
   */
  readonly castsEachValue: boolean;
  /** Whether `sort` of a shuffled sweep gives a sorted one; otherwise it is shuffled all the same. */
  readonly sortsShuffled: boolean;
  /** Whether `sort(range(...))` sorts the values of the range; otherwise it swaps the bounds. */
  readonly sortsRangeValues: boolean;
  /** Whether `_group_` in the package of a defaults list item stands for the config's group; otherwise it is a name. */
  readonly fillsGroup: boolean;
  /** Whether a slash in an option of a defaults list belongs to the group: `a: b/c` is `a/b: c`. */
  readonly slashInGroup: boolean;
  /** Whether `..` and backslashes in the paths of a defaults list are refused. */
  readonly checksPaths: boolean;
  /** Whether errors about choices name the configs whose defaults lists make them. */
  readonly namesChoosers: boolean;
  /** The second line of the error for a primary config module that is not found. */
  readonly moduleRemedy: string;
  /** Whether keywords before a group other than one of `optional` and `override` are refused; otherwise they are ignored. */
  readonly refusesKeywords: boolean;
  /**
   * Whether overrides in defaults lists affect only earlier items, and the last one of a group wins; otherwise they
   * affect all items, and the first one wins.
   */
  readonly lastOverrideWins: boolean;
  /**
   * Whether interpolations in defaults lists are resolved after all choices of the tree are known, and can refer only
   * to choices.
   */
  readonly defersChoices: boolean;
  /**
   * Whether the group in `+group=option` is relative to the root of the tree; otherwise to the primary config's group
   * and package.
   */
  readonly absoluteAppends: boolean;
  /** Whether `~path/to/config` removes the items of defaults lists that name that config. */
  readonly deletesConfigs: boolean;
  /** Whether `~key` can delete list items and values that are null or missing, and `~key=null` compares the value. */
  readonly deletesAnyValue: boolean;
  /** Whether a `.yml` file in a config directory is refused; otherwise it is ignored. */
  readonly refusesYml: boolean;
  /** Whether a config with content and a defaults list without `_self_` gets a warning. */
  readonly warnsAboutMissingSelf: boolean;
  /**
   * `\.`, `\[`, `\]` and `\=` in a key stand for the character itself, which does not separate components. The keys of overrides and
   * of interpolations may have such escapes, and those of overrides brackets.
   *
   * @see https://github.com/facebookresearch/hydra/issues/3250
   */
  readonly escapesInKeys: boolean;
  /**
   * Whether components of key paths that look like integers find integer keys, and a map may not have an integer and its text as keys.
   *
   * @see https://github.com/omry/omegaconf/issues/651
   */
  readonly findsIntegerKeys: boolean;
  /**
   * Whether `\???` is the text `???` and not a missing value, each further backslash one of the text, and a resolver's plain `???` is
   * refused.
   *
   * @see https://github.com/omry/omegaconf/issues/1302
   */
  readonly escapesMissing: boolean;
  /** Negative list indices count from the end in lookups: `${list.-1}`. */
  readonly indicesFromEnd: boolean;
  /**
   * For `select` and `oc.select`, a relative key with more dots than there are levels above is absent; otherwise it is
   * an error.
   */
  readonly absentAboveRoot: boolean;
  /** The error of a relative key that is not found also names the full key that was looked up. */
  readonly showsRelativeKeys: boolean;
  /** `update` follows a reference on the path to its target instead of replacing the reference. */
  readonly updatesReferred: boolean;
  /** Where OmegaConf's messages say that its issues are. */
  readonly omegaconfIssues: string;
  /** Resolvers that not every version has. */
  readonly addedResolvers: readonly string[];
  /** The message of the error for merging a map with a list. */
  readonly mergeRefusal: string;
  /**
   * Whether `merge` changes maps and lists that are read-only, or that an earlier config of the same merge made so, and they stay
   * read-only; otherwise they are refused, but for the first config's own root.
   */
  readonly mergesIntoReadonly: boolean;
  /** Whether the error for an unknown key of a map names similar keys. */
  readonly suggestsKeys: boolean;
  /**
   * `resolve` refuses a reference to a missing value, and `missing_keys` names it; otherwise the reference becomes
   * missing, and `missing_keys` fails.
   */
  readonly refusesToMissing: boolean;
  /** `resolve` keeps maps and lists that resolvers made; otherwise they are refused. */
  readonly keepsResolved: boolean;
  /** `!!omap` and `!!pairs` give tuples, which may not contain missing values. */
  readonly tuples: boolean;
  /** Aliases may not contain themselves, nor expand a document beyond OmegaConf's own limits. */
  readonly limitsAliases: boolean;
  /** Whether plugins have their configs of Hydra 1.4. */
  readonly newerPlugins: boolean;
  /** `instantiate` resolves a value when it is needed; otherwise all values before it calls the first target. */
  readonly instantiatesInTurn: boolean;
  /**
   * Map arguments of `instantiate` replace maps of the config that have no `_target_`; otherwise they are merged over
   * them.
   */
  readonly argumentsReplace: boolean;
  /**
   * A key of `<<` that the map also defines keeps the position of the map's own key, and not that of the merged one:
   * OmegaConf's loader, not libyaml, leaves out merged pairs whose string key the map has (recorded: `yaml-1052`).
   */
  readonly ownKeysStay: boolean;
  /**
   * What an interpolation of a declared map, list, object or union leads to is converted to this type when it is read,
   * and not only when it is written.
   */
  readonly convertsReferred: boolean;
  /**
   * Whether overrides may use what no version of Hydra has: the functions of ours, unions of sweeps and `key:=value`.
   */
  readonly extendsOverrides: boolean;
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
  mentionsFullErrorVariable: true,
  logsFailures: false,
  notifiesOfInterrupts: false,
  setsVariablesInTurn: true,
  fixesLauncher: false,
  globsSearchPath: false,
  leastVersionBase: null,
  hyphensInScripts: false,
  mixesFlags: false,
  addedFunctions: [],
  hasAliases: false,
  failsFast: false,
  rerunsByComposition: false,
  helpsWithoutChoices: false,
  modeIsPrimary: false,
  rangeDecimals: "exact",
  castsEachValue: false,
  sortsShuffled: false,
  sortsRangeValues: false,
  fillsGroup: true,
  slashInGroup: false,
  checksPaths: false,
  refusesKeywords: false,
  namesChoosers: false,
  moduleRemedy: "Check that it's correct and contains an __init__.py file",
  lastOverrideWins: false,
  defersChoices: false,
  absoluteAppends: false,
  deletesConfigs: false,
  deletesAnyValue: false,
  refusesYml: false,
  warnsAboutMissingSelf: true,
  escapesInKeys: false,
  findsIntegerKeys: false,
  escapesMissing: false,
  indicesFromEnd: false,
  absentAboveRoot: false,
  showsRelativeKeys: false,
  updatesReferred: false,
  omegaconfIssues: "https://github.com/omry/omegaconf/issues",
  addedResolvers: [],
  mergeRefusal: "Cannot merge DictConfig with ListConfig",
  mergesIntoReadonly: false,
  suggestsKeys: false,
  refusesToMissing: false,
  keepsResolved: false,
  tuples: false,
  limitsAliases: false,
  newerPlugins: false,
  instantiatesInTurn: false,
  argumentsReplace: false,
  ownKeysStay: false,
  convertsReferred: false,
  extendsOverrides: true,
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

/** Hydra 1.4.0rc1 with OmegaConf 2.4.0. */
const V1_4: Dialect = {
  ...V1_3,
  name: "1.4",
  hydraVersion: "1.4.0rc1",
  libyaml: true,
  pathsAsText: true,
  chdirDefault: false,
  resolvesDirname: true,
  listsOverrides: true,
  mentionsFullErrorVariable: false,
  logsFailures: true,
  notifiesOfInterrupts: true,
  setsVariablesInTurn: false,
  fixesLauncher: true,
  globsSearchPath: true,
  leastVersionBase: "1.3",
  hyphensInScripts: true,
  mixesFlags: true,
  addedFunctions: ["json_str", "extend_list"],
  hasAliases: true,
  failsFast: true,
  rerunsByComposition: true,
  helpsWithoutChoices: true,
  modeIsPrimary: true,
  rangeDecimals: "shown",
  castsEachValue: true,
  sortsShuffled: true,
  sortsRangeValues: true,
  fillsGroup: false,
  slashInGroup: true,
  checksPaths: true,
  refusesKeywords: true,
  namesChoosers: true,
  moduleRemedy: "Check that it's an importable regular Python package containing configs.",
  lastOverrideWins: true,
  defersChoices: true,
  absoluteAppends: true,
  deletesConfigs: true,
  deletesAnyValue: true,
  refusesYml: true,
  warnsAboutMissingSelf: false,
  escapesInKeys: true,
  findsIntegerKeys: true,
  escapesMissing: true,
  indicesFromEnd: true,
  absentAboveRoot: true,
  showsRelativeKeys: true,
  updatesReferred: true,
  omegaconfIssues: "https://github.com/hydra-ecosystem/omegaconf/issues",
  addedResolvers: ["oc.coerce"],
  mergeRefusal: "Cannot merge incompatible container types",
  mergesIntoReadonly: true,
  suggestsKeys: true,
  refusesToMissing: true,
  keepsResolved: true,
  tuples: true,
  limitsAliases: true,
  newerPlugins: true,
  instantiatesInTurn: true,
  argumentsReplace: true,
  ownKeysStay: true,
  convertsReferred: true,
};

/** All dialects by name. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = {
  "1.1": V1_1,
  "1.2": V1_2,
  "1.3": V1_3,
  "1.4": V1_4,
};

const HYDRA_ALONE = new Map(
  Object.values(DIALECTS).map((dialect) => [dialect, { ...dialect, extendsOverrides: false }]),
);

/** The same version of Hydra without what is ours in its override language: that of a program without plugins. */
export const withoutExtensions = (dialect: Dialect): Dialect => HYDRA_ALONE.get(dialect) ?? dialect;

/** The default dialect. */
export const DEFAULT_DIALECT: Dialect = V1_3;

/**
 * The dialect of a name.
 *
 * @throws ConfigError `compose.unsupported` for another name
 */
export function dialectNamed(name: string): Dialect {
  const dialectName = DIALECT_NAMES.find((candidate) => candidate === name);
  if (dialectName !== undefined) return DIALECTS[dialectName];
  throw new ConfigError({
    code: "compose.unsupported",
    message: `The dialect ${String(name)} is not supported`,
    available: DIALECT_NAMES,
  });
}

/** An option of public functions: the name of a dialect, or undefined. */
export const dialectOption: OptionCheck = (_by, _name, value) => {
  if (value !== undefined) dialectNamed(value as string);
};

/**
 * Options of a public function, with the name of the dialect replaced by the dialect.
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
 * @throws ConfigError `compose.unsupported` for an invalid version, or one older than the dialect accepts
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
