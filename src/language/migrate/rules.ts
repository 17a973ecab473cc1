/** The rules of a migration as data: what changed between versions, how it is recognised, and what makes it right. */
import { basename } from "node:path";
import {
  type DefaultsTreeChild,
  type DefaultsTreeNode,
  pathText,
} from "../../engine/compose/index.ts";
import type { DefaultsItem, GroupItem } from "../../engine/compose/sources/config-source.ts";
import {
  DIALECT_NAMES,
  DIALECTS,
  type Dialect,
  type DialectName,
} from "../../engine/values/dialect.ts";
import type { ConfigNode } from "../../engine/values/node.ts";
import type { FileOrigin } from "../../engine/values/origin.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { FoundOverride } from "../found-lines.ts";
import type { PrimaryConfig } from "../tree-index.ts";
import {
  addedItem,
  headerParts,
  hydraKeyEdit,
  itemLines,
  itemParts,
  rewrittenItem,
  withoutKeywords,
} from "./list-edits.ts";
import type { Change, ComposedOutcome } from "./outcome.ts";
import { argumentEdit, MAIN_ARGUMENTS, type NamedArgument } from "./python-edits.ts";
import { type Edit, type FileSpan, type Fix, spanOf } from "./text-edits.ts";

/** A version that a migration begins with: a dialect, or 1.0, of which only texts tell. */
export type FromVersion = DialectName | "1.0";

/** A place that a rule is about, and what makes it right there. */
export interface Site {
  readonly span: FileSpan;
  readonly fix?: Fix;
  /** Those of the changes that this place makes, if the rule can tell. */
  readonly changes?: readonly Change[];
}

/** What a rule finds its places in: a line whose outcome it changes. */
export interface SiteContext {
  readonly primary: PrimaryConfig;
  readonly older: ComposedOutcome;
  readonly from: FromVersion;
  readonly changes: readonly Change[];
  /** The overrides of a line in a file, which can be rewritten there. */
  readonly words: readonly FoundOverride[];
  readonly wordsFile?: string;
  readonly cwd: string;
  /** The text of a file; undefined if it cannot be read. */
  readonly textOf: (file: string) => string | undefined;
}

/** One change between versions of Hydra or OmegaConf. */
export interface Rule {
  /** Stable: suppressions, SARIF and links name it. */
  readonly id: string;
  readonly title: string;
  /** What to do where there is no automatic fix, or why. */
  readonly remedy: string;
  /** Issues and pages that describe the change. */
  readonly sources: readonly string[];
  /**
   * How it is recognised: `composition`, by composing with the old behaviour of `fields` alone; `text`, by a pattern;
   * `warning`, by a warning of the new version.
   */
  readonly by: "composition" | "text" | "warning";
  /** The fields of a dialect that say it; for texts and warnings none. */
  readonly fields: readonly (keyof Dialect)[];
  /** The versions that a text rule is about; others follow from their fields. */
  readonly since?: { readonly from: FromVersion; readonly to: DialectName };
  /** The places in the files of a line; without it, those that the changes name. */
  readonly sites?: (context: SiteContext) => readonly Site[];
  /** Whether a rewritten place is chosen by another key on command lines. */
  readonly renamesKeys?: true;
  /** Whether it is about overrides that people write, and not about any that could be. */
  readonly onlyWritten?: true;
  /** Whether it concerns jobs: a program that only composes (`initialize`, `compose`) has none. */
  readonly ofJobs?: true;
  /** Whether there are places that `--fix` mends. */
  readonly hasFix: boolean;
}

const hydra = (number: number): string =>
  `https://github.com/facebookresearch/hydra/issues/${number}`;
const omegaconf = (number: number): string => `https://github.com/omry/omegaconf/issues/${number}`;
const upgrade = (page: string): string => `https://hydra.cc/docs/upgrades/${page}`;

/** Every rule, in the order in which a reader meets what it is about: programs, lists, files, overrides, values, sweeps. */
export const RULES: readonly Rule[] = [
  {
    id: "config-path",
    title: "A program without config_path has no config directory",
    remedy: 'give the decorator config_path=".", the directory that was the default',
    sources: [upgrade("1.1_to_1.2/hydra_main_config_path"), hydra(3345)],
    hasFix: true,
    by: "composition",
    fields: ["defaultConfigPath"],
    sites: ({ primary, textOf }) =>
      argumentSites(primary, MAIN_ARGUMENTS.configPath, '"."', textOf),
  },
  {
    id: "job-chdir",
    title: "A job no longer works in its own directory",
    remedy: "set hydra.job.chdir to true where the program relies on it, else to false",
    sources: [upgrade("1.1_to_1.2/changes_to_job_working_dir"), hydra(3345), hydra(3346)],
    hasFix: true,
    by: "composition",
    fields: ["changesDirectory", "chdirDefault"],
    ofJobs: true,
    sites: chdirSites,
  },
  {
    id: "package-keywords",
    title: "_group_ and _name_ in packages are plain names",
    remedy:
      "write the group or the name itself; without a header a config has the package of its group",
    sources: [upgrade("1.0_to_1.1/changes_to_package_header"), hydra(3345)],
    hasFix: true,
    by: "composition",
    fields: ["packageKeywords", "fillsGroup"],
    sites: keywordSites,
  },
  {
    id: "yml-files",
    title: "Config files end in .yaml; .yml is not read",
    remedy: "rename the file, and name it without its ending",
    sources: [hydra(2889), hydra(3345)],
    hasFix: true,
    by: "composition",
    fields: ["readsYml", "refusesYml"],
    sites: ymlSites,
  },
  {
    id: "optional-entry",
    title: "`optional: true` beside a group is refused",
    remedy: "write the keyword in front of the group: `- optional db: mysql`",
    sources: [hydra(3345)],
    hasFix: true,
    by: "composition",
    fields: ["optionalEntry"],
    sites: (context) => itemSites(context, optionalFix),
  },
  {
    id: "hydra-override",
    title: "A group of Hydra's own in a defaults list needs `override`",
    remedy: "write `- override hydra/launcher: x`, behind all other items",
    sources: [upgrade("1.0_to_1.1/defaults_list_override"), hydra(3345)],
    hasFix: true,
    by: "composition",
    fields: ["implicitHydraOverrides"],
    sites: (context) => itemSites(context, overrideFix),
  },
  {
    id: "positional-interpolation",
    title: "`${defaults.0.db}` is refused in a defaults list",
    remedy: "name the group: `${db}`",
    sources: [upgrade("1.0_to_1.1/defaults_list_interpolation_changes"), hydra(3345)],
    hasFix: true,
    by: "composition",
    fields: ["positionalInterpolation"],
    sites: (context) => itemSites(context, positionFix),
  },
  {
    id: "default-slash",
    title: "`- db: a/b` is the option b of the group db/a",
    remedy:
      "write `- db/a@db: b`, which keeps the package; command lines then choose it by db/a@db instead of db",
    sources: [hydra(3222), upgrade("1.3_to_1.4/slash_in_default")],
    hasFix: true,
    by: "composition",
    fields: ["slashInGroup"],
    sites: (context) => itemSites(context, slashFix),
    renamesKeys: true,
  },
  {
    id: "default-path",
    title: "`..` and backslashes in the paths of a defaults list are refused",
    remedy: "write the path from the root of the configs: `- /db: mysql`",
    sources: [hydra(3202), hydra(3362)],
    hasFix: true,
    by: "composition",
    fields: ["checksPaths"],
    sites: (context) => itemSites(context, pathFix),
    renamesKeys: true,
  },
  {
    id: "default-keyword",
    title: "Keywords in a defaults list are `optional` or `override`, and not both",
    remedy: "leave the other words out; `optional` belongs to the item that is overridden",
    sources: [hydra(1951), hydra(3405)],
    hasFix: true,
    by: "composition",
    fields: ["refusesKeywords"],
    sites: (context) => itemSites(context, keywordFix),
  },
  {
    id: "last-override",
    title: "Of several `override` of a group the last one counts, and only for items before it",
    remedy: "keep one override of the group in the lists that are composed together",
    sources: [hydra(3229), hydra(3318)],
    hasFix: false,
    by: "composition",
    fields: ["lastOverrideWins"],
    sites: repeatedOverrides,
  },
  {
    id: "default-interpolation",
    title: "Interpolations in a defaults list see choices only, and no resolver",
    remedy: "choose the option on the command line, or name a group that the lists choose",
    sources: [hydra(1855), hydra(1899), hydra(3036)],
    hasFix: false,
    by: "composition",
    fields: ["defersChoices"],
    sites: (context) => itemSites(context, interpolatedItem),
  },
  {
    id: "nested-append",
    title: "`+db=x` adds a group of the root, whatever the group of the primary config",
    remedy: "name the whole group and its package: `+server/db@server.db=x`",
    sources: [hydra(2875)],
    hasFix: true,
    by: "composition",
    fields: ["absoluteAppends"],
    sites: appendSites,
    onlyWritten: true,
  },
  {
    id: "deletion",
    title: "`~key` also deletes null and missing values, list items and configs of lists",
    remedy: "check what the line deletes: `--diff` shows it",
    sources: [hydra(2829), hydra(2477), hydra(2843)],
    hasFix: false,
    by: "composition",
    fields: ["deletesConfigs", "deletesAnyValue"],
  },
  {
    id: "integer-keys",
    title: "Integers in key paths find integer keys; `1` beside `'1'` is refused",
    remedy: "give one of the two keys another name",
    sources: [omegaconf(651)],
    hasFix: false,
    by: "composition",
    fields: ["findsIntegerKeys"],
  },
  {
    id: "negative-index",
    title: "Negative indices count from the end, and keys above the root are absent",
    remedy: "check the key that the interpolation names",
    sources: [omegaconf(755), omegaconf(1127)],
    hasFix: false,
    by: "composition",
    fields: ["indicesFromEnd", "absentAboveRoot"],
  },
  {
    id: "referred-update",
    title: "An override below an interpolation changes what it refers to",
    remedy: "replace the interpolation as a whole, or override the key that it refers to",
    sources: [omegaconf(1329)],
    hasFix: false,
    by: "composition",
    fields: ["updatesReferred"],
  },
  {
    id: "missing-literal",
    title: "`\\???` is the text ???, without its backslash",
    remedy:
      "with the new version, write one backslash more to keep it (`\\\\???`); the old one reads that as another text",
    sources: [omegaconf(1302), hydra(3480)],
    hasFix: false,
    by: "composition",
    fields: ["escapesMissing"],
    sites: literalSites,
  },
  {
    id: "tuples",
    title: "`!!omap` and `!!pairs` give tuples",
    remedy: "write a list, or make the program accept tuples",
    sources: [omegaconf(392), hydra(3287)],
    hasFix: false,
    by: "composition",
    fields: ["tuples"],
  },
  {
    id: "yaml-reader",
    title: "YAML is read by libyaml, and keys of `<<` are kept in their places",
    remedy: "write the value as `hydraconf` prints it",
    sources: [omegaconf(1194)],
    hasFix: false,
    by: "composition",
    fields: ["libyaml", "pathsAsText", "ownKeysStay"],
  },
  {
    id: "alias-limit",
    title: "Aliases of YAML may not contain themselves, and are limited",
    remedy: "write what the alias stands for, or use an interpolation",
    sources: [omegaconf(794)],
    hasFix: false,
    by: "composition",
    fields: ["limitsAliases"],
  },
  {
    id: "cast-range",
    title: "A cast of a range casts each of its values; casts keep tags and shuffling",
    remedy: "write the values, or cast the bounds yourself: range(0,5,1)",
    sources: [hydra(3520), hydra(3456)],
    hasFix: true,
    by: "composition",
    fields: ["castsEachValue"],
    sites: sweepSites,
  },
  {
    id: "sort-sweep",
    title: "`sort` sorts the values of a range, and of a shuffled sweep",
    remedy: "write the values in the order that they are to have",
    sources: [hydra(3516), hydra(3228)],
    hasFix: true,
    by: "composition",
    fields: ["sortsShuffled", "sortsRangeValues"],
    sites: sweepSites,
  },
  {
    id: "range-decimals",
    title: "A range of floats is computed in decimals, not in doubles",
    remedy: "write the values if they must be exactly those",
    sources: [upgrade("1.3_to_1.4/breaking_changes")],
    hasFix: true,
    by: "composition",
    fields: ["rangeDecimals"],
    sites: sweepSites,
  },
  {
    id: "glob-search-path",
    title: "`glob` also selects options that hydra.searchpath adds",
    remedy: "name the options, or exclude those that are added",
    sources: [hydra(1942)],
    hasFix: true,
    by: "composition",
    fields: ["globsSearchPath"],
    sites: sweepSites,
  },
  {
    id: "swept-launcher",
    title: "A job of a sweep that changes the launcher or the sweeper is refused",
    remedy: "choose hydra/launcher and hydra/sweeper in the primary config or on the command line",
    sources: [hydra(3231)],
    hasFix: false,
    by: "composition",
    fields: ["fixesLauncher"],
  },
  {
    id: "run-mode",
    title: "Only the primary config and the command line choose hydra.mode",
    remedy: "move hydra.mode into the primary config, or call the program with --multirun",
    sources: [hydra(3440)],
    hasFix: false,
    by: "composition",
    fields: ["modeIsPrimary"],
  },
  {
    id: "plugin-configs",
    title: "The configs of Hydra's plugins have other keys",
    remedy:
      "see the page of the plugin; keys that are gone must leave the config (hydra.sweeper.search_space of optuna is hydra.sweeper.params)",
    sources: [upgrade("1.3_to_1.4/breaking_changes")],
    hasFix: false,
    by: "composition",
    fields: ["newerPlugins"],
    sites: pluginSites,
  },
  {
    id: "override-dirname",
    title: "hydra.job.override_dirname is deprecated",
    remedy: "from 1.4 on, write `${hydra_override_dirname:}`",
    sources: [hydra(3018), upgrade("1.3_to_1.4/hydra_job_override_dirname")],
    hasFix: false,
    by: "text",
    fields: ["resolvesDirname"],
  },
  {
    id: "environment",
    title: "Values of hydra.job.env_set are resolved before any of them is set",
    remedy: "write the value itself instead of ${oc.env:NAME} of a variable that env_set sets",
    sources: [hydra(2800)],
    hasFix: false,
    by: "text",
    fields: ["setsVariablesInTurn"],
  },
  {
    id: "version-base",
    title: "An older version_base is refused by 1.4, and keeps the old behaviour up to 1.3",
    remedy: 'name the new version; version_base="1.3" is accepted by 1.3 and 1.4',
    sources: [hydra(3345), hydra(3346), upgrade("1.3_to_1.4/prepare_for_1_4")],
    hasFix: true,
    by: "text",
    fields: [],
    since: { from: "1.2", to: "1.3" },
  },
  {
    id: "experimental-api",
    title: "hydra.experimental has no compose and no initialize",
    remedy: "import them from hydra",
    sources: [hydra(3346)],
    hasFix: true,
    by: "text",
    fields: [],
    since: { from: "1.3", to: "1.4" },
  },
  {
    id: "compose-strict",
    title: "compose(strict=...) is gone",
    remedy: "leave the argument out: composed configs are always strict",
    sources: [hydra(3345)],
    hasFix: false,
    by: "text",
    fields: [],
    since: { from: "1.3", to: "1.4" },
  },
  {
    id: "target-conf",
    title: "hydra.types.TargetConf is gone",
    remedy: "use a structured config with a field _target_",
    sources: [hydra(3346)],
    hasFix: false,
    by: "text",
    fields: [],
    since: { from: "1.3", to: "1.4" },
  },
  {
    id: "pickle-callback",
    title: "PickleJobInfoCallback is gone: a rerun composes anew from the output directory",
    remedy: "remove the callback; --experimental-rerun DIR needs none",
    sources: [hydra(3248)],
    hasFix: false,
    by: "text",
    fields: [],
    since: { from: "1.3", to: "1.4" },
  },
  {
    id: "schema-match",
    title: "A config is not merged into the entry of the ConfigStore with its name",
    remedy: "register the entry under another name, and put that name first into the defaults list",
    sources: [upgrade("1.0_to_1.1/automatic_schema_matching"), hydra(3345)],
    hasFix: false,
    by: "warning",
    fields: [],
    since: { from: "1.3", to: "1.4" },
  },
  {
    id: "missing-self",
    title: "A primary config with content has no _self_ in its defaults list",
    remedy: "add `- _self_` at the end, where the content is merged without it",
    sources: [upgrade("1.0_to_1.1/changes_to_default_composition_order")],
    hasFix: true,
    by: "warning",
    fields: ["warnsAboutMissingSelf"],
    since: { from: "1.0", to: "1.1" },
  },
  {
    id: "main-arguments",
    title: "hydra.main takes no config file as config_path, and no strict",
    remedy:
      'name the directory and the config: config_path="conf", config_name="config"; configs are always strict',
    sources: [hydra(1010), upgrade("0.11_to_1.0/config_path_changes")],
    hasFix: true,
    by: "text",
    fields: [],
    since: { from: "1.0", to: "1.1" },
  },
  {
    id: "composition-order",
    title: "The content of a primary config overrides its defaults list, not the other way around",
    remedy: "add `- _self_` as the first item to keep the order of 1.0",
    sources: [upgrade("1.0_to_1.1/changes_to_default_composition_order")],
    hasFix: true,
    by: "text",
    fields: [],
    since: { from: "1.0", to: "1.1" },
  },
  {
    id: "package-header",
    title: "A config of a group without a header has the package of its group, not the global one",
    remedy: "write `# @package _global_` at the top to keep its keys where they are",
    sources: [upgrade("1.0_to_1.1/changes_to_package_header")],
    hasFix: true,
    by: "text",
    fields: [],
    since: { from: "1.0", to: "1.1" },
  },
];

/** Fields of a dialect that change nothing of what a config is composed to, and why. */
export const WITHOUT_RULE: Readonly<Partial<Record<keyof Dialect, string>>> = {
  name: "the name of the version",
  hydraVersion: "the name of the version",
  notice: "a warning about version_base",
  leastVersionBase: "read from the sources of programs: version-base",
  listsOverrides: "texts of errors",
  mentionsFullErrorVariable: "texts of errors",
  namesChoosers: "texts of errors",
  moduleRemedy: "texts of errors",
  showsRelativeKeys: "texts of errors",
  omegaconfIssues: "texts of errors",
  mergeRefusal: "texts of errors",
  suggestsKeys: "texts of errors",
  logsFailures: "logs of failed jobs",
  notifiesOfInterrupts: "callbacks on Ctrl-C",
  hyphensInScripts: "completion",
  extendsOverrides: "the same in every version",
  convertsReferred: "only classes of a program and Hydra's own settings declare types",
  mixesFlags: "command lines with --, and completion",
  addedFunctions: "accepts more",
  addedResolvers: "accepts more",
  hasAliases: "accepts more",
  failsFast: "accepts more",
  rerunsByComposition: "accepts more",
  helpsWithoutChoices: "accepts more",
  escapesInKeys: "accepts more",
  mergesIntoReadonly: "accepts more",
  refusesToMissing: "what a program resolves as a whole",
  keepsResolved: "what a program resolves as a whole",
  instantiatesInTurn: "objects that programs make of a config",
  argumentsReplace: "objects that programs make of a config",
};

/** The rule of an id. */
export function ruleNamed(id: string): Rule {
  const rule = RULES.find((each) => each.id === id);
  if (rule === undefined) throw new Error(`There is no rule '${id}'`);
  return rule;
}

/** The rules by composition in which two dialects differ. */
export const differingRules = (older: Dialect, newer: Dialect): readonly Rule[] =>
  RULES.filter(
    ({ by, fields }) =>
      by === "composition" &&
      fields.some((field) => JSON.stringify(older[field]) !== JSON.stringify(newer[field])),
  );

/** The new dialect with the old behaviour of some rules. */
export const withOld = (newer: Dialect, older: Dialect, rules: readonly Rule[]): Dialect => ({
  ...newer,
  ...Object.fromEntries(
    rules.flatMap(({ fields }) => fields.map((field) => [field, older[field]])),
  ),
});

/** The first version that behaves in the new way, and the last that does not. */
export function versionsOf({ fields, since }: Rule): {
  readonly from: FromVersion;
  readonly to: DialectName;
} {
  if (since !== undefined) return since;
  for (const [index, to] of DIALECT_NAMES.entries()) {
    const from = DIALECT_NAMES[index - 1];
    if (from !== undefined && fields.some((field) => DIALECTS[from][field] !== DIALECTS[to][field]))
      return { from, to };
  }
  return { from: "1.0", to: "1.1" };
}

const ORDER: readonly FromVersion[] = ["1.0", ...DIALECT_NAMES];

/** Whether a step from one version to another passes the versions of a rule. */
export function appliesTo(
  { from: last, to: first }: ReturnType<typeof versionsOf>,
  from: FromVersion,
  to: DialectName,
): boolean {
  return ORDER.indexOf(from) <= ORDER.indexOf(last) && ORDER.indexOf(to) >= ORDER.indexOf(first);
}

// The places of rules.

/** A config that takes part in a composition, with its place in the tree. */
function nodesOf(older: ComposedOutcome): readonly DefaultsTreeNode[] {
  const below = (node: DefaultsTreeNode): readonly DefaultsTreeNode[] => [
    node,
    ...node.children.flatMap((child) => (child.kind === "config" ? below(child) : [])),
  ];
  return older.composition.tree.roots.flatMap(below);
}

/** An item of a defaults list in a file, with the config whose list it is in and the config that it includes. */
interface ListedItem {
  readonly item: DefaultsItem;
  readonly origin: FileOrigin;
  readonly list: readonly DefaultsItem[];
  readonly holder: DefaultsTreeNode;
  /** Absent for an item that includes nothing, such as an override. */
  readonly included: DefaultsTreeNode | undefined;
}

function listedItems(older: ComposedOutcome): readonly ListedItem[] {
  return nodesOf(older).flatMap((holder) =>
    (holder.loaded?.defaults ?? []).flatMap((item, _, list): readonly ListedItem[] => {
      if (item.origin.kind !== "file") return [];
      const included = holder.children.find(
        (child): child is DefaultsTreeNode =>
          child.kind === "config" &&
          (child.placed.item.origin === item.origin || isChoiceOf(child, item)),
      );
      return [{ item, origin: item.origin, list, holder, included }];
    }),
  );
}

/** Whether an override of the command line chooses for an item. */
function isChoiceOf({ placed }: DefaultsTreeNode, item: DefaultsItem): boolean {
  const { item: chosen, parentGroup } = placed;
  if (item.kind !== "group" || item.override || chosen.kind !== "group") return false;
  return (
    chosen.origin.kind === "override" &&
    chosen.package === item.package &&
    placed.group === normalized(parentGroup, item.group)
  );
}

/** A fix of an item; null for a place without one, undefined for an item that the rule is not about. */
type ItemFix = (listed: ListedItem, context: SiteContext) => Fix | null | undefined;

function itemSites(context: SiteContext, fixOf: ItemFix): readonly Site[] {
  return listedItems(context.older).flatMap((listed) => {
    const fix = fixOf(listed, context);
    if (fix === undefined) return [];
    const span = spanOf(listed.origin, context.cwd);
    return [{ span, ...(fix !== null && { fix }) }];
  });
}

const partsOf = ({ origin }: ListedItem, { cwd }: SiteContext) => itemParts(origin, cwd);

/** The words before a group in an item's key. */
const keywordsIn = (key: string): readonly string[] => key.split(/\s+/).slice(0, -1);

const optionalFix: ItemFix = (listed, context) => {
  const { item, origin } = listed;
  if (
    item.kind !== "group" ||
    !(item.deprecations ?? []).some((text) => text.includes("'optional: true'"))
  )
    return undefined;
  const { start, end, source } = origin;
  const text = source.text.slice(start, end).trimEnd();
  const entry = /(,\s*|\n\s*)optional\s*:\s*\w+|optional\s*:\s*\w+\s*(,|\n)\s*/.exec(text);
  if (entry === null) return null;
  const { file } = spanOf(origin, context.cwd);
  const removed = {
    file,
    start: start + entry.index,
    end: start + entry.index + entry[0].length,
    text: "",
  };
  const keyAt =
    entry.index === 0 || /^\{\s*optional/.test(text)
      ? removed.end
      : start + (/^\{?\s*/.exec(text)?.[0].length ?? 0);
  if (!item.optional) return { edits: [removed] };
  return {
    edits:
      keyAt === removed.end
        ? [{ ...removed, text: "optional " }]
        : [{ file, start: keyAt, end: keyAt, text: "optional " }, removed],
  };
};

const overrideFix: ItemFix = (listed, context) => {
  const { item, list, origin } = listed;
  if (item.kind !== "group" || item.override || !isOfHydra(item, listed.holder)) return undefined;
  const parts = partsOf(listed, context);
  if (parts === undefined) return null;
  const key = [
    "override",
    ...keywordsIn(parts.key).filter((word) => word !== "optional"),
    item.group,
  ]
    .join(" ")
    .concat(item.package === null ? "" : `@${item.package}`);
  const edits = rewrittenItem(parts, key);
  const later = list.slice(list.indexOf(item) + 1);
  const isMoved = later.some(
    (other) => other.kind !== "group" || (!other.override && !isOfHydra(other, listed.holder)),
  );
  const lines = itemLines(origin);
  const last = list.at(-1);
  if (!isMoved || last === undefined) return { edits };
  if (lines === undefined || parts.value === "") return null;
  const rest = origin.source.text.slice(parts.valueSpan.start, lines.end).trimEnd();
  const added = addedItem(last, `${key}: ${rest}`, "after", context.cwd);
  if (added === undefined) return null;
  return { edits: [{ ...parts.whole, ...lines, text: "" }, added] };
};

const isOfHydra = ({ group }: GroupItem, holder: DefaultsTreeNode): boolean =>
  /^\/?hydra\//.test(group) && !/^hydra(\/|$)/.test(holder.placed.group);

const positionFix: ItemFix = (listed, context) => {
  const { list, origin } = listed;
  const { end, source, start } = origin;
  const text = source.text.slice(start, end).trimEnd();
  const found = [...text.matchAll(/\$\{defaults\.(\d+)\.([^}]+)\}/g)];
  if (found.length === 0) return undefined;
  const { file } = spanOf(origin, context.cwd);
  const edits = found.flatMap((match): readonly Edit[] => {
    const item = list[Number(match[1])];
    if (item?.kind !== "group") return [];
    const key = item.package === null ? item.group : `${item.group}@${item.package}`;
    const from = start + match.index;
    return [{ file, start: from, end: from + match[0].length, text: `\${${key}}` }];
  });
  return edits.length === found.length ? { edits } : null;
};

const slashFix: ItemFix = (listed, context) => {
  const { item, included } = listed;
  if (item.kind !== "group" || typeof item.value !== "string") return undefined;
  if (!item.value.includes("/") || item.value.includes("${")) return undefined;
  const parts = partsOf(listed, context);
  if (parts === undefined || parts.value !== item.value) return null;
  const names = item.value.split("/");
  const option = names.pop() ?? "";
  const group = [item.group, ...names].join("/");
  const hasHeader = included?.loaded?.package != null;
  const pkg = item.package ?? (hasHeader ? null : dotted(item.group));
  const key = [...keywordsIn(parts.key), pkg === null ? group : `${group}@${pkg}`].join(" ");
  // What the included config names is then found from its own group, unless it is named from the root.
  const named = (included?.children ?? []).flatMap((child) => absoluteItem(child, context.cwd));
  return { edits: [...rewrittenItem(parts, key, option), ...named] };
};

/** The edits that name what a list includes from the root, in the package that it has. */
function absoluteItem(child: DefaultsTreeChild, cwd: string): readonly Edit[] {
  if (child.kind === "self") return [];
  const { configPath, defaultPackage, group, item } = child.placed;
  const { origin } = item;
  const path = item.kind === "group" ? item.group : item.path;
  if (origin.kind !== "file" || path.startsWith("/")) return [];
  const pkg = item.package ?? (child.loaded?.package != null ? null : defaultPackage);
  const suffix = pkg === null ? "" : `@${pkg === "" ? "_here_" : pkg}`;
  if (item.kind === "config") {
    const span = spanOf(origin, cwd);
    const text = origin.source.text.slice(span.start, span.end).trimEnd();
    return [{ ...span, end: span.start + text.length, text: `/${configPath}${suffix}` }];
  }
  const parts = itemParts(origin, cwd);
  if (parts === undefined) return [];
  return rewrittenItem(parts, [...keywordsIn(parts.key), `/${group}${suffix}`].join(" "));
}

const dotted = (group: string): string => group.replace(/^\//, "").replaceAll("/", ".");

const pathFix: ItemFix = (listed, context) => {
  const { holder, included, item } = listed;
  if (item.kind === "self") return undefined;
  const path = item.kind === "group" ? item.group : item.path;
  const option = item.kind === "group" && typeof item.value === "string" ? item.value : "";
  if (!/(^|\/)\.\.(\/|$)|\\/.test(`${path}/${option}`)) return undefined;
  const parts = partsOf(listed, context);
  const absolute = normalized(holder.placed.group, path);
  if (absolute === undefined || option.includes("..") || included === undefined) return null;
  const pkg =
    item.package === null
      ? `@_global_${included.package === "" ? "" : `.${included.package}`}`
      : `@${item.package}`;
  if (item.kind === "config") {
    const span = spanOf(listed.origin, context.cwd);
    const text = listed.origin.source.text.slice(span.start, span.end).trimEnd();
    return { edits: [{ ...span, end: span.start + text.length, text: `/${absolute}${pkg}` }] };
  }
  if (parts === undefined) return null;
  const key = [...keywordsIn(parts.key), `/${absolute}${pkg}`].join(" ");
  return { edits: rewrittenItem(parts, key) };
};

/** A path from the root; undefined for one above it. */
function normalized(group: string, path: string): string | undefined {
  const way: string[] = path.startsWith("/") ? [] : group.split("/").filter((part) => part !== "");
  for (const part of path.replaceAll("\\", "/").split("/"))
    if (part === "..") {
      if (way.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") way.push(part);
  return way.join("/");
}

const keywordFix: ItemFix = (listed, context) => {
  const { item } = listed;
  if (item.kind !== "group") return undefined;
  const parts = partsOf(listed, context);
  if (parts === undefined) return undefined;
  const words = keywordsIn(parts.key);
  const keywords = words.filter((word) => word === "optional" || word === "override");
  const isBoth = keywords.includes("optional") && keywords.includes("override");
  if (keywords.length === words.length && !isBoth) return undefined;
  // A keyword counted only in front of the first unknown word.
  const counted = new Set([
    ...(item.optional ? ["optional"] : []),
    ...(item.override ? ["override"] : []),
  ]);
  return {
    edits: withoutKeywords(parts, (word) => !counted.has(word) || (isBoth && word === "optional")),
  };
};

const interpolatedItem: ItemFix = ({ item, origin: { end, source, start } }) =>
  item.kind !== "self" && source.text.slice(start, end).includes("${") ? null : undefined;

/** The items that choose the configs of plugins which changed: of `hydra/sweeper` and `hydra/sweeper/sampler` the inner one. */
function pluginSites({ changes, ...context }: SiteContext): readonly Site[] {
  if (changes.some(({ kind }) => kind === "fails")) return [];
  const items = listedItems(context.older).flatMap((listed) =>
    listed.item.kind === "group" && isOfHydra(listed.item, listed.holder)
      ? [{ ...listed, path: dotted(listed.item.group) }]
      : [],
  );
  const innermost = (change: Change): string | undefined =>
    items
      .map(({ path }) => path)
      .filter(
        (path) =>
          change.kind === "value" && `${pathText(change.difference.path)}.`.startsWith(`${path}.`),
      )
      .sort((left, right) => right.length - left.length)[0];
  return items.flatMap(({ origin, path }): readonly Site[] => {
    const innermostChanges = changes.filter((change) => innermost(change) === path);
    return innermostChanges.length === 0
      ? []
      : [{ span: spanOf(origin, context.cwd), changes: innermostChanges }];
  });
}

function repeatedOverrides(context: SiteContext): readonly Site[] {
  const overrides = listedItems(context.older).filter(
    ({ item }) => item.kind === "group" && item.override,
  );
  const groupOf = ({ item }: ListedItem): string =>
    item.kind === "group" ? item.group.replace(/^\//, "") : "";
  return overrides
    .filter((listed) =>
      overrides.some((other) => other !== listed && groupOf(other) === groupOf(listed)),
    )
    .map(({ origin }) => ({ span: spanOf(origin, context.cwd) }));
}

/** Headers, items and overrides with `_group_` or `_name_`. */
function keywordSites(context: SiteContext): readonly Site[] {
  const { cwd, from, older } = context;
  const headers = nodesOf(older).flatMap(({ loaded, placed }): readonly Site[] => {
    const header = loaded?.package ?? null;
    if (loaded?.origin.kind !== "file" || header === null || !KEYWORDS.test(header)) return [];
    const parts = headerParts(loaded.origin);
    const { file } = spanOf(loaded.origin, cwd);
    if (parts === undefined) return [];
    // Without a header, 1.0 would put the config of a group into the global package.
    const isDefault = header === "_group_" && (from !== "1.0" || placed.group === "");
    const edit = isDefault
      ? { file, ...parts.line, text: "" }
      : {
          file,
          start: parts.start,
          end: parts.end,
          text: filled(header, placed.group, placed.name),
        };
    return [{ span: { file, start: parts.start, end: parts.end }, fix: { edits: [edit] } }];
  });
  const items = itemSites(context, (listed) => {
    const { included, item } = listed;
    if (item.kind === "self" || item.package === null || !KEYWORDS.test(item.package))
      return undefined;
    const parts = partsOf(listed, context);
    if (parts === undefined || included === undefined) return null;
    const { group, name } = included.placed;
    const [groupText = ""] = parts.key.split("@", 1);
    return { edits: rewrittenItem(parts, `${groupText}@${filled(item.package, group, name)}`) };
  });
  const nodes = nodesOf(older);
  const words = wordSites(context, (word) => {
    const [, sign = "", group = "", pkg = "", value = ""] =
      /^(\+*)([^@=]+)@([^=]*)(=.*)$/.exec(word.text) ?? [];
    if (!KEYWORDS.test(pkg)) return undefined;
    const node = nodes.find(({ placed }) => placed.group === group);
    return node === undefined
      ? null
      : `${sign}${group}@${filled(pkg, group, node.placed.name)}${value}`;
  });
  return [...headers, ...items, ...words];
}

const KEYWORDS = /_group_|_name_/;

const filled = (header: string, group: string, name: string | null): string =>
  header.replaceAll("_group_", dotted(group)).replaceAll("_name_", name ?? "");

/** Files with the ending `.yml`, renamed together with what names them. */
function ymlSites(context: SiteContext): readonly Site[] {
  const { cwd, older, primary, textOf } = context;
  return nodesOf(older).flatMap(({ loaded, placed }): readonly Site[] => {
    if (!placed.configPath.endsWith(".yml") || loaded?.origin.kind !== "file") return [];
    const { file } = spanOf(loaded.origin, cwd);
    const renames = [{ file, name: basename(file).replace(/\.yml$/, ".yaml") }];
    const { origin } = placed.item;
    const named =
      origin.kind === "file"
        ? editsOfItem(origin, cwd)
        : origin.kind === "override"
          ? wordSites(context, ({ text }) =>
              text === origin.text ? text.replace(/\.yml$/, "") : undefined,
            ).flatMap(({ fix }) => fix?.edits ?? [])
          : argumentSites(
              primary,
              MAIN_ARGUMENTS.configName,
              JSON.stringify(primary.configName?.replace(/\.yml$/, "")),
              textOf,
            ).flatMap(({ fix }) => fix?.edits ?? []);
    const span = { file, start: 0, end: 0 };
    return [{ span, fix: { edits: named, renames } }];
  });
}

function editsOfItem(origin: FileOrigin, cwd: string): readonly Edit[] {
  const span = spanOf(origin, cwd);
  const text = origin.source.text.slice(span.start, span.end);
  const index = text.indexOf(".yml");
  return index < 0
    ? []
    : [{ ...span, start: span.start + index, end: span.start + index + ".yml".length, text: "" }];
}

function chdirSites(context: SiteContext): readonly Site[] {
  const { changes, cwd, older, textOf } = context;
  const node = nodesOf(older).find(({ primary }) => primary);
  if (node?.loaded?.origin.kind !== "file") return [];
  const { file } = spanOf(node.loaded.origin, cwd);
  const text = textOf(file);
  const isDirectory = changes.some(({ kind }) => kind === "directory");
  const edit =
    text === undefined
      ? undefined
      : hydraKeyEdit(file, text, ["job", "chdir"], String(older.changesDirectory));
  const span = edit ?? { file, start: 0, end: 0 };
  return isDirectory || edit !== undefined
    ? [
        {
          span: { file, start: span.start, end: span.start },
          ...(edit && { fix: { edits: [edit] } }),
        },
      ]
    : [];
}

/** The declaration of a program, with an argument that it and all like it should have. */
function argumentSites(
  { alike = [], app }: PrimaryConfig,
  argument: NamedArgument,
  value: string,
  textOf: SiteContext["textOf"],
): readonly Site[] {
  if (app === undefined || app.kind === "script") return [];
  const sources = [app, ...alike].map(({ file, line }) => ({
    file,
    line,
    source: textOf(file) ?? "",
  }));
  const [site] = sources;
  if (site === undefined || site.source === "") return [];
  const start = lineStart(site.source, site.line);
  const edits = sources.flatMap((place) => argumentEdit(place, argument, value) ?? []);
  const isWhole = edits.length === sources.length;
  return [{ span: { file: site.file, start, end: start }, ...(isWhole && { fix: { edits } }) }];
}

/** The offset of a line, from 1. */
export function lineStart(text: string, line: number): number {
  let offset = 0;
  for (let index = 1; index < line; index++) offset = text.indexOf("\n", offset) + 1;
  return offset;
}

/** `+db=x` as it is written for a tree whose primary config is in a group. */
function appendSites(context: SiteContext): readonly Site[] {
  const nodes = nodesOf(context.older);
  return wordSites(context, ({ text }) => {
    const [, group = "", name] = /^\+([^@=]+)=(.*)$/.exec(text) ?? [];
    if (name === undefined) return undefined;
    const node = nodes.find(({ placed }) => {
      const { item } = placed;
      return item.kind === "group" && item.appended && item.group === group;
    });
    if (node === undefined) return undefined;
    return `+${node.placed.group}@${node.package === "" ? "_global_" : node.package}=${name}`;
  });
}

/** Texts such as `\???` in files. */
function literalSites({ changes, cwd }: SiteContext): readonly Site[] {
  return changes.flatMap((change): readonly Site[] => {
    if (change.kind !== "value" || change.difference.kind !== "changed") return [];
    const { before: literal } = change.difference;
    return leaves(literal).flatMap((node): readonly Site[] => {
      if (node.origin.kind !== "file" || node.kind !== "scalar") return [];
      if (typeof node.value !== "string" || !/^\\+\?\?\?$/.test(node.value)) return [];
      // No text means the same in both versions: a fix made twice would add a backslash each time.
      return [{ span: spanOf(node.origin, cwd) }];
    });
  });
}

const leaves = (node: ConfigNode): readonly ConfigNode[] =>
  node.kind === "scalar"
    ? [node]
    : node.kind === "list"
      ? node.items.flatMap(leaves)
      : [...node.entries.values()].flatMap(({ value }) => leaves(value));

/** More values are not written out. */
const MOST_WRITTEN = 40;

/** Sweeps whose values changed, with those that they had. */
function sweepSites(context: SiteContext): readonly Site[] {
  const { changes, cwd, words, wordsFile } = context;
  return changes.flatMap((change): readonly Site[] => {
    if (change.kind !== "sweep") return [];
    const { key, older } = change;
    const values = writtenValues(older);
    if (older.node?.origin.kind === "file") {
      const span = spanOf(older.node.origin, cwd);
      const text = older.node.origin.source.text.slice(span.start, span.end).trimEnd();
      const whole = { ...span, end: span.start + text.length };
      const isPlain = !text.includes("\n");
      return [
        {
          span: whole,
          ...(values !== undefined &&
            isPlain && {
              fix: { edits: [{ ...whole, text: `'${values.replaceAll("'", "''")}'` }] },
            }),
        },
      ];
    }
    const word = words[Number(key)];
    if (word === undefined || wordsFile === undefined) return [];
    const span = { file: wordsFile, start: word.start, end: word.end };
    if (values === undefined || !word.isLiteral) return [{ span }];
    const text = shellQuote(`${word.text.slice(0, word.text.indexOf("="))}=${values}`);
    return [{ span, fix: { edits: [{ ...span, text }] } }];
  });
}

/** The values of a sweep as a choice; undefined for too many, and in a random order. */
function writtenValues({
  text,
  values,
}: Extract<Change, { kind: "sweep" }>["older"]): string | undefined {
  if (typeof values === "string" || values.length === 0 || values.length > MOST_WRITTEN)
    return undefined;
  if (/\bshuffle\b/.test(text) || values.some((value) => value.includes("\0"))) return undefined;
  return values.map((value) => value.slice(value.indexOf("=") + 1)).join(",");
}

/**
 * The overrides of the line in a file.
 *
 * @param rewritten the override as it should be; null if it cannot be said, undefined for one that is right
 */
function wordSites(
  { words, wordsFile }: SiteContext,
  rewritten: (word: FoundOverride) => string | null | undefined,
): readonly Site[] {
  if (wordsFile === undefined) return [];
  return words.flatMap((word): readonly Site[] => {
    const text = rewritten(word);
    if (text === undefined) return [];
    const span = { file: wordsFile, start: word.start, end: word.end };
    return text === null || !word.isLiteral
      ? [{ span }]
      : [{ span, fix: { edits: [{ ...span, text: shellQuote(text) }] } }];
  });
}
