import type { Dialect } from "../../values/dialect.ts";
import {
  type ConfigItem,
  type GroupItem,
  type GroupValue,
  isOptionList,
} from "../sources/config-source.ts";

/** Where a defaults list stands: the group and the final package of the config that holds it. */
export interface Place {
  readonly group: string;
  readonly package: string;
  readonly dialect: Dialect;
}

export const rootPlace = (dialect: Dialect): Place => ({ group: "", package: "", dialect });

/** One config to bring in, in its place: all paths and names are worked out from here on. */
export interface PlacedConfig {
  readonly item: ConfigItem | GroupItem;
  /** What is selected: the name of the config in its group; null selects nothing. */
  readonly name: string | null;
  /** The group as a path from the root, e.g. `db/engine`; empty at the root. */
  readonly group: string;
  readonly configPath: string;
  /** How overrides address this choice: `group` or `group@package`. Groups only. */
  readonly overrideKey: string | null;
  /** How messages name this item: one that is no group as if it were one. */
  readonly address: string;
  /** The package written in the list, `_group_` filled in; null leaves it to the header. */
  readonly explicitPackage: string | null;
  /** The package by default, relative to `place.package`. */
  readonly defaultPackage: string;
  /** The group and the package of the config whose list this stands in. */
  readonly parentGroup: string;
  readonly parentPackage: string;
  readonly dialect: Dialect;
}

/** What an item of this value selects before anything overrides it; null for nothing, and for several. */
export const nameOf = (value: GroupValue): string | null => (isOptionList(value) ? null : value);

const GLOBAL = "_global_";

/** Puts an item that selects one config (or nothing) in its place. */
export function placeItem(
  item: ConfigItem | GroupItem,
  name: string | null,
  place: Place,
): PlacedConfig {
  return item.kind === "config"
    ? placeConfig(item, place)
    : placeGroup(item, name, placeOf(item, place));
}

/** Where an item of a list counts from: that of the list, or the root. */
export const placeOf = (item: GroupItem, place: Place): Place =>
  item.appended && place.dialect.absoluteAppends ? rootPlace(place.dialect) : place;

function placeConfig(item: ConfigItem, place: Place): PlacedConfig {
  const { path, absolute } = stripRoot(item.path);
  const slash = path.lastIndexOf("/");
  const relativeGroup = slash === -1 ? "" : path.slice(0, slash);
  const group = absolute ? relativeGroup : joinGroup(place.group, relativeGroup);
  const names = {
    item,
    name: path.slice(slash + 1),
    group,
    explicitPackage: fillGroup(item.package, group, place),
    defaultPackage: dotted(relativeGroup),
    parentGroup: place.group,
    parentPackage: place.package,
    dialect: place.dialect,
  };
  return {
    ...names,
    configPath: absolute ? path : belowGroup(place.group, path),
    overrideKey: null,
    address: addressOf(names),
  };
}

function placeGroup(item: GroupItem, name: string | null, place: Place): PlacedConfig {
  const { path, absolute } = stripRoot(item.group);
  const group = absolute ? path : belowGroup(place.group, path);
  const names = {
    name,
    group,
    explicitPackage: fillGroup(item.package, group, place),
    defaultPackage: dotted(path),
    parentPackage: place.package,
    dialect: place.dialect,
  };
  const address = addressOf(names);
  return {
    item,
    name,
    group,
    explicitPackage: names.explicitPackage,
    defaultPackage: names.defaultPackage,
    parentGroup: place.group,
    parentPackage: place.package,
    dialect: place.dialect,
    configPath: `${group}/${name ?? "None"}`,
    overrideKey: address,
    address,
  };
}

/**
 * The package where a config's content goes, from the root. What is written in the list wins over
 * the `# @package` header, the header over the default (the group's path below the list's place).
 */
export function finalPackage(placed: PlacedConfig, header: string | null): string {
  const { dialect, defaultPackage, explicitPackage, group, parentPackage } = placed;
  const filled = (text: string): string =>
    dialect.packageKeywords ? text.replaceAll("_group_", dotted(group)) : text;
  // A header of `_group_` alone is none: the default counts from the place of the list.
  const isDefault = header === null || (dialect.packageKeywords && header === "_group_");
  const own = explicitPackage ?? (isDefault ? defaultPackage : absolutePackage(filled(header)));
  return joinPackage(parentPackage, fillName(own, placed));
}

type Names = Pick<
  PlacedConfig,
  "name" | "group" | "explicitPackage" | "defaultPackage" | "parentPackage" | "dialect"
>;

const addressOf = (names: Names): string =>
  overrideKey(
    names.group,
    joinPackage(
      names.parentPackage,
      fillName(names.explicitPackage ?? names.defaultPackage, names),
    ),
  );

/** `_name_` is what is selected, unless those are several. */
const fillName = (pkg: string, { dialect, name }: Names): string =>
  dialect.packageKeywords && name !== null ? pkg.replaceAll("_name_", name) : pkg;

/** A group at its default package is addressed by its name alone; `_global_` stands for the root. */
function overrideKey(group: string, pkg: string): string {
  return pkg === dotted(group) ? group : `${group}@${pkg === "" ? GLOBAL : pkg}`;
}

/** Everything up to the last `_global_` is dropped: what follows it is counted from the root. */
function joinPackage(parent: string, own: string): string {
  const joined = parent === "" ? own : own === "" ? parent : `${parent}.${own}`;
  const at = joined.lastIndexOf(GLOBAL);
  return at === -1 ? joined : joined.slice(at + GLOBAL.length + 1);
}

/** A header is always counted from the root. */
const absolutePackage = (header: string): string => `${GLOBAL}.${header}`;

/** `_group_` is the config's own group path, wherever its parent was moved to. */
function fillGroup(pkg: string | null, group: string, { dialect }: Place): string | null {
  return dialect.fillsGroup && pkg?.includes("_group_")
    ? `${GLOBAL}.${pkg.replaceAll("_group_", dotted(group))}`
    : pkg;
}

function stripRoot(path: string): { readonly path: string; readonly absolute: boolean } {
  return path.startsWith("/") ? { path: path.slice(1), absolute: true } : { path, absolute: false };
}

const joinGroup = (base: string, group: string): string =>
  group === "" ? base : belowGroup(base, group);

/** The path of something in a group, from the root. */
export const belowGroup = (group: string, path: string): string =>
  group === "" ? path : `${group}/${path}`;

const dotted = (group: string): string => group.replaceAll("/", ".");
