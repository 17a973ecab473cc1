/** The choices of groups: those of the command line, those made while the tree is built, and those without effect. */

import { byCodePoint } from "../../../foundation/text/code-points.ts";
import type { Override } from "../../overrides/ast.ts";
import { overrideNode } from "../../overrides/evaluate.ts";
import { type Advice, chooseBy, saying, useAnyOf } from "../../overrides/hints.ts";
import { parseOverride } from "../../overrides/parser.ts";
import type { Dialect } from "../../values/dialect.ts";
import { ConfigError, nearest as nearestName } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import { pyRepr } from "../../values/python-text.ts";
import { type GroupItem, type GroupValue, isOptionList } from "../sources/config-source.ts";
import { optionsForHint, type Repository } from "../sources/repository.ts";
import * as refuse from "./defaults-errors.ts";
import type { CompositionWarning } from "./deprecations.ts";
import { type ListPlace, nameOf, type PlacedConfig, placeItem } from "./placement.ts";

/**
 * The state of building one tree: which choices were made, and which overrides took effect. The tree keeps only its
 * `record`.
 */
export interface ChoiceTracker {
  /**
   * The item with the option that overrides select for it.
   *
   * @param eligible keys of the overrides that apply; absent for all
   */
  choose(item: GroupItem, place: ListPlace, eligible?: ReadonlySet<string>): GroupItem;
  /** The keys of all overrides so far. */
  overridden(): ReadonlySet<string>;
  /** Records an `override` item of a list; the command line and earlier overrides have priority over it. */
  noteOverride(item: GroupItem, placed: PlacedConfig, parent: PlacedConfig): void;
  /** @throws ConfigError `compose.invalid_defaults` for a second, different choice. */
  noteChoice(placed: PlacedConfig, parent: PlacedConfig | undefined): void;
  /** Whether the command line deletes this choice; records that the deletion was used. */
  takeDeletion(placed: PlacedConfig): boolean;
  warn(...warnings: readonly CompositionWarning[]): void;
  /** Whether a config is read for the first time. */
  isFirstReading(configPath: string): boolean;
  /** The choices made so far, by override key. */
  choices(): ReadonlyMap<string, string | null>;
  record(): TreeRecord;
}

export interface TreeRecord {
  /** The option of every group, in the order in which the groups were reached. */
  readonly choices: ReadonlyMap<string, string | null>;
  /** The override keys under which each group appears. */
  readonly keysOfGroup: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * All selections, those of the command line first.
   * @internal
   */
  readonly selections: ReadonlyMap<string, RecordedSelection>;
  /** @internal */
  readonly deletions: ReadonlyMap<string, Deletion & { readonly used: boolean }>;
  readonly warnings: readonly CompositionWarning[];
}

interface RecordedSelection extends Selection {
  readonly used: boolean;
  /** The config whose defaults list holds the override; null for the command line. */
  readonly within: string | null;
  /** The override as written in that list. */
  readonly written?: string;
}

/** @param onWarning called with each warning of the record when it arises */
export function createChoiceTracker(
  asked: GroupChoices,
  onWarning: (warning: CompositionWarning) => void = () => {},
): ChoiceTracker {
  const selections = createSelections(asked);
  const deletions = createDeletions(asked);
  const choices = new Map<string, string | null>();
  const chosenBy = new Map<string, refuse.Chosen>();
  const keysOfGroup = new Map<string, Set<string>>();
  const warnings: CompositionWarning[] = [];
  const read = new Set<string>();
  return {
    choose: selections.choose,
    overridden: () => new Set(selections.all.keys()),
    noteOverride: selections.noteOverride,
    noteChoice(placed, parent) {
      const key = placed.overrideKey;
      if (key === null) return;
      const earlier = chosenBy.get(key);
      const chosen = { placed, parent };
      if (earlier !== undefined && earlier.placed.name !== placed.name)
        throw refuse.secondChoice(chosen, earlier, key);
      choices.set(key, placed.name);
      chosenBy.set(key, chosen);
      const keys = keysOfGroup.get(placed.group) ?? new Set();
      keysOfGroup.set(placed.group, keys.add(key));
    },
    takeDeletion: deletions.take,
    warn(...added) {
      for (const warning of added) {
        if (warning.code !== "note") warnings.push(warning);
        onWarning(warning);
      }
    },
    isFirstReading(configPath) {
      const { size } = read;
      return read.add(configPath).size > size;
    },
    choices: () => new Map(choices),
    record: () => ({
      choices,
      keysOfGroup,
      selections: selections.all,
      deletions: deletions.all(),
      warnings,
    }),
  };
}

/** The selection of each group: that of the command line, otherwise the first `override`. */
function createSelections({ selected }: GroupChoices): Pick<
  ChoiceTracker,
  "choose" | "noteOverride"
> & {
  readonly all: TreeRecord["selections"];
} {
  const all = new Map<string, RecordedSelection>();
  for (const [key, selection] of selected)
    all.set(key, { ...selection, used: false, within: null });
  return {
    all,
    choose(item, place, eligible) {
      const key = placeItem(item, nameOf(item.value), place).overrideKey;
      const selection = key === null ? undefined : all.get(key);
      if (key === null || selection === undefined || eligible?.has(key) === false) return item;
      all.set(key, { ...selection, used: true });
      return { ...item, value: selection.value, origin: selection.origin };
    },
    noteOverride({ group, origin, package: pkg, value }, placed, { configPath }) {
      const { overrideKey: key } = placed;
      if (key === null || all.has(key)) return;
      const written = pkg === null || pkg === ownPackage(placed.group) ? group : `${group}@${pkg}`;
      all.set(key, { value, origin, used: false, within: configPath, written });
    },
  };
}

/** The deletions of the command line, and whether each was used. */
function createDeletions({ deleted }: GroupChoices): {
  readonly take: ChoiceTracker["takeDeletion"];
  readonly all: () => TreeRecord["deletions"];
} {
  const used = new Set<string>();
  return {
    take({ configPath, dialect, name, overrideKey }) {
      const key = overrideKey ?? (dialect.deletesConfigs ? configPath : null);
      const deletion = key === null ? undefined : deleted.get(key);
      if (key === null || deletion === undefined) return false;
      if (deletion.name !== null && (overrideKey === null || deletion.name !== name)) return false;
      used.add(key);
      return true;
    },
    all: () =>
      new Map([...deleted].map(([key, deletion]) => [key, { ...deletion, used: used.has(key) }])),
  };
}

/** A selection in the notation of the command line. */
const selectionText = (value: RecordedSelection["value"]): string =>
  isOptionList(value) ? `[${value.join(",")}]` : (value ?? "null");

/** The overrides of a command line, split into those of config groups and those of values. */
export interface GroupChoices {
  /** `group=option` and `group@package=option`, by override key. */
  readonly selected: ReadonlyMap<string, Selection>;
  /** `~group` and `~group=option`, by override key. */
  readonly deleted: ReadonlyMap<string, Deletion>;
  /** `+group=option`, in order. */
  readonly appended: readonly GroupItem[];
  /** The overrides from which these come. */
  readonly overrides: readonly Override[];
  /** The other overrides: those of config values. */
  readonly values: readonly Override[];
}

export interface Selection {
  readonly value: GroupValue;
  readonly origin: Origin;
}

export interface Deletion {
  /** Deletes only the choice of this name; null deletes any. */
  readonly name: string | null;
  readonly origin: Origin;
}

/**
 * Checks that every override and deletion of a group was used.
 *
 * @throws ConfigError `compose.unused_override`, or `compose.ambiguous_override` where the group appears under several
 *   packages.
 */
export function checkUsage(record: TreeRecord, repository: Repository, dialect: Dialect): void {
  const { selections, deletions, choices } = record;
  for (const [key, selection] of selections) {
    if (selection.used) continue;
    const error = unusedSelection(key, selection, record, repository, dialect);
    throw dialect.lastOverrideWins && selection.within !== null
      ? nothingBefore(key, selection, error)
      : error;
  }
  for (const [key, deletion] of deletions)
    if (!deletion.used) {
      const what = deletion.name === null ? key : `${key}=${deletion.name}`;
      const available = [...choices.keys()];
      const nearest = nearestName(key, available);
      throw new ConfigError({
        code: "compose.unused_override",
        message: `Could not delete '${what}'. No match in the defaults list`,
        origin: deletion.origin,
        key,
        available,
        ...(nearest !== undefined && { nearest, hint: `use ~${nearest}` }),
      });
    }
}

/** For an override in a defaults list that affects only earlier items. */
function nothingBefore(
  key: string,
  { value, within, written = key }: RecordedSelection,
  { details }: ConfigError,
): ConfigError {
  const shown = isOptionList(value)
    ? `[${value.map((option) => pyRepr(option)).join(", ")}]`
    : (value ?? "None");
  return new ConfigError({
    ...details,
    code: "compose.unused_override",
    message:
      `In '${within}': Invalid Defaults List override '${written}: ${shown}'.\n` +
      `No earlier Group Default for '${key}' exists to override.`,
  });
}

function unusedSelection(
  key: string,
  { origin, value, within }: RecordedSelection,
  { keysOfGroup, choices }: TreeRecord,
  repository: Repository,
  dialect: Dialect,
): ConfigError {
  const [group = key] = key.split("@", 1);
  const similar = [...(keysOfGroup.get(group) ?? [])].sort(byCodePoint);
  const [first] = similar;
  const meant = within === null ? [] : suggestOverrides({ key, within }, keysOfGroup);
  const nearest =
    meant[0]?.key ?? nearestPackage(key, similar) ?? first ?? nearestName(key, [...choices.keys()]);
  const option = selectionText(value);
  const has = (key: string) => {
    const options = optionsForHint(repository, key.split("@", 1)[0] ?? "");
    return [value].flat().every((each) => each === null || options.includes(each));
  };
  const isNamed = ![value].flat().includes(null);
  const typed = [
    ...(isNamed && nearest !== undefined && has(nearest) ? [`${nearest}=${option}`] : []),
    ...(isNamed && has(group) ? [`+${key}=${option}`] : []),
    ...(isNamed && first === undefined && !has(group)
      ? nearOptions(group, value, repository).map((near) => `+${key}=${near}`)
      : []),
  ];
  const lines = meant
    .filter(({ key }) => has(key))
    .map((line) => `\`override ${line.written}: ${option}\``);
  const inFile = choices.has(key)
    ? `an override reaches what stands above its file in the list: put ${key} above ${within}`
    : lines.length > 0
      ? `write ${lines.join(", or ")}`
      : has(group)
        ? "the list has no such group yet: without `override`, the line adds it"
        : undefined;
  const advice =
    (key === "" ? "an override is KEY=VALUE or GROUP=OPTION" : undefined) ??
    (isNamed ? undefined : "quote option names that look like numbers") ??
    groupsBelow(`${group}/${option}`, [...choices.keys()], repository) ??
    (/@global\./.test(key) && choices.has(key.replace(/@global\..*$/, "")) ? AT_ROOT : undefined) ??
    (within !== null
      ? inFile
      : typed.length > 0
        ? useAnyOf(typed.map((override) => ({ override })))
        : undefined) ??
    chosenOtherwise(
      { typed: group, option, tail: `=${option}` },
      { choices, repository },
      within !== null,
    );
  return new ConfigError({
    code: similar.length > 1 ? "compose.ambiguous_override" : "compose.unused_override",
    message: [
      within === null ? "" : `In '${within}': `,
      `Could not override '${key}'.`,
      first === undefined
        ? " No match in the defaults list."
        : `\nDid you mean to override ${similar.length > 1 ? "one of " : ""}${similar.join(", ")}?`,
      within === null
        ? `\nTo append to your default list use +${key}=${pythonText(value, origin, dialect)}`
        : "",
    ].join(""),
    origin,
    key,
    available: similar.length > 0 ? similar : [...choices.keys()],
    nearest,
    ...(typeof advice === "string" ? saying(advice) : advice),
  });
}

/** For a config whose header names a key in place of the root. */
const AT_ROOT = "the header of a config at the root is `# @package _global_`, with underscores";

/** Of the keys of a group, the one with a similar package: its name, which all of them have, makes none more alike. */
const nearestPackage = (key: string, ofGroup: readonly string[]): string | undefined => {
  const packageIn = (each: string) => each.split("@")[1] ?? "";
  const near = nearestName(packageIn(key), ofGroup.map(packageIn));
  return ofGroup.find((each) => packageIn(each) === near);
};

/** The option of a group that was probably meant. */
function nearOptions(
  group: string,
  value: RecordedSelection["value"],
  repository: Pick<Repository, "list">,
): readonly string[] {
  const near =
    typeof value === "string" ? nearestName(value, optionsForHint(repository, group)) : undefined;
  return near === undefined ? [] : [near];
}

/** The hint for a folder that was named as an option: its groups are chosen one by one. */
function groupsBelow(
  folder: string,
  groups: readonly string[],
  repository: Repository,
): string | undefined {
  const commands = groups
    .filter((key) => key.startsWith(`${folder}/`))
    .sort(byCodePoint)
    .map((key) => {
      const [option] = optionsForHint(repository, key.split("@", 1)[0] ?? "");
      return `${key}=${option ?? "OPTION"}`;
    });
  return commands.length === 0
    ? undefined
    : `'${folder}' contains config groups; choose each of them: ${commands.join(", ")}`;
}

function chosenOtherwise(
  choice: TypedChoice,
  groups: ChosenGroups,
  isInFile: boolean,
): Advice | undefined {
  const meant = suggestChoice(choice, groups);
  if (meant === undefined) return undefined;
  return isInFile ? saying(`write \`override /${meant.replace("=", ": ")}\``) : chooseBy(meant);
}
/** The options in Hydra's message: a list in Python's notation. */
function pythonText(value: RecordedSelection["value"], origin: Origin, dialect: Dialect): string {
  if (!isOptionList(value)) return selectionText(value);
  // A value that names no option is shown as it was written.
  const typedNode =
    value.includes(null) && origin.kind === "override"
      ? overrideNode(parseOverride(origin.text, { dialect }))
      : null;
  return typedNode === null
    ? `[${value.map((option) => pyRepr(option)).join(", ")}]`
    : pyRepr(typedNode);
}

/** An unused `override`, with the group's path from the root of the tree. */
interface UnusedOverride {
  /** `GROUP`, or `GROUP@PACKAGE` if the package is not the group's default. */
  readonly key: string;
  /** The config that contains it, e.g. `experiment/small`. */
  readonly within: string;
}

interface SuggestedOverride {
  /** The existing group. */
  readonly key: string;
  /** How to write it in that config, without the option. */
  readonly written: string;
}

/**
 * Without a leading slash, a group's name is relative to the group of the file, and its package to the package of the
 * file: the two reasons why an override misses an existing group.
 *
 * @param keysOfGroup the override keys of each group in the list
 * @returns several if the group has several packages and none of them was named
 */
function suggestOverrides(
  { key, within }: UnusedOverride,
  keysOfGroup: ReadonlyMap<string, ReadonlySet<string>>,
): readonly SuggestedOverride[] {
  const [group = key, packageName = ownPackage(group)] = key.split("@", 2);
  const beside = within.slice(0, within.lastIndexOf("/") + 1);
  const named =
    keysOfGroup.has(group) || !group.startsWith(beside) ? group : group.slice(beside.length);
  const there = [...(keysOfGroup.get(named) ?? [])].sort(byCodePoint).map((found) => {
    const [, place = ownPackage(named)] = found.split("@", 2);
    const isAtRoot = packageName === place || packageName === ownPackage(named);
    const isNamed = packageName === place || packageName.endsWith(`.${place}`);
    const written = isAtRoot ? `/${found}` : `/${named}@_global_.${place}`;
    return { meant: { key: found, written }, isNamed };
  });
  const isAnyNamed = there.some(({ isNamed }) => isNamed);
  return there.flatMap(({ meant, isNamed }) => (isNamed || !isAnyNamed ? [meant] : []));
}

const ownPackage = (group: string): string => group.replaceAll("/", ".");

/** The groups from which a composition chose. */
export interface ChosenGroups {
  /** By override key, e.g. `profiling/ncu@pipeline.ncu`. */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly repository: Pick<Repository, "list">;
  /** The configs with the other options of swept groups. */
  readonly swept?: () => readonly ConfigNode[];
  /** The values of the config that are not to be shown in hints. */
  readonly secretPaths?: () => readonly (readonly string[])[];
  /** What would choose options that have a key. */
  readonly optionsWith?: (path: readonly string[]) => readonly string[];
  /** An override as it was typed: for a job of a sweep, that of the sweep. */
  readonly typed?: (override: Override) => Override;
}

/** A choice as typed. */
interface TypedChoice {
  /** The part before `=`, without a package. */
  readonly typed: string;
  /** The chosen option. */
  readonly option: string;
  /** `=` and the text after it, as typed. */
  readonly tail: string;
}

/**
 * The likely command line where a group was given by its last part, or by the last part of its package:
 * `profiling/ncu@pipeline.ncu=hopper` for `ncu=hopper`.
 */
export function suggestChoice(
  { typed, option, tail }: TypedChoice,
  { choices, repository }: ChosenGroups,
): string | undefined {
  const dotted = typed.replaceAll("/", ".");
  // A group at its own package is meant before the same one at another.
  const keys = [...choices.keys()].sort(
    (name, other) => Number(name.includes("@")) - Number(other.includes("@")),
  );
  for (const key of typed === "" ? [] : keys) {
    const [group = "", pkg = ""] = key.split("@");
    if (!endsWith(group.replaceAll("/", "."), dotted) && !endsWith(pkg, dotted)) continue;
    const options = optionsForHint(repository, group);
    if (options.includes(option)) return `${key}${tail}`;
    const near = nearestName(option, options);
    if (near !== undefined) return `${key}=${near}`;
  }
  // A misspelt group: the option must be one of it, since a misspelt key of a value is more likely.
  const near = typed === "" ? undefined : nearestName(typed, [...choices.keys()]);
  const [group = ""] = near?.split("@") ?? [];
  if (near !== undefined && optionsForHint(repository, group).includes(option))
    return `${near}${tail}`;
  // One beside it in the tree, of which the list has no option yet.
  const parent = typed.slice(0, Math.max(0, typed.lastIndexOf("/")));
  const last = typed.slice(parent === "" ? 0 : parent.length + 1);
  const other = nearestName(last, groupsIn(parent, repository));
  const path = parent === "" ? other : `${parent}/${other}`;
  return other !== undefined &&
    path !== undefined &&
    optionsForHint(repository, path).includes(option)
    ? `+${path}${tail}`
    : undefined;
}

function groupsIn(path: string, repository: Pick<Repository, "list">): readonly string[] {
  try {
    return repository.list(path, "group");
  } catch {
    return [];
  }
}

const endsWith = (path: string, tail: string): boolean =>
  path === tail || path.endsWith(`.${tail}`);
