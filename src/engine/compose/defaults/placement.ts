/** Where an item of a defaults list leads: its group, its option and its package. */
import type { Dialect } from "../../values/dialect.ts";
import {
  type ConfigItem,
  type GroupItem,
  type GroupValue,
  isOptionList,
} from "../sources/config-source.ts";

/** The place of a defaults list: the group and the final package of the config that contains it. */
export interface ListPlace {
  readonly group: string;
  readonly package: string;
  readonly dialect: Dialect;
}

export const rootOfLists = (dialect: Dialect): ListPlace => ({ group: "", package: "", dialect });

/** One config to include, at its place, from which all paths and names are derived. */
export interface PlacedConfig {
  readonly item: ConfigItem | GroupItem;
  /** The selected name of the config in its group; null selects nothing. */
  readonly name: string | null;
  /** The group as a path from the root, e.g. `db/engine`; empty at the root. */
  readonly group: string;
  readonly configPath: string;
  /** The key by which overrides address this choice: `group` or `group@package`. Groups only. */
  readonly overrideKey: string | null;
  /** The name of this item in messages, which treat a config outside groups like a group. */
  readonly address: string;
  /** The package written in the list, with `_group_` filled in; null if the header decides. */
  readonly explicitPackage: string | null;
  /** The default package, relative to `place.package`. */
  readonly defaultPackage: string;
  /** The group and the package of the config whose list contains this item. */
  readonly parentGroup: string;
  readonly parentPackage: string;
  readonly dialect: Dialect;
}

/** The option of an item's value before any override; null for none or several. */
export const nameOf = (value: GroupValue): string | null => (isOptionList(value) ? null : value);

const GLOBAL = "_global_";

/** Places an item that selects one config (or nothing). */
export function placeItem(
  item: ConfigItem | GroupItem,
  name: string | null,
  place: ListPlace,
): PlacedConfig {
  return item.kind === "config"
    ? placeConfig(item, place)
    : placeGroup(item, name, startOfItem(item, place));
}

/** The place that an item of a list is relative to: that of the list, or the root. */
export const startOfItem = (item: GroupItem, place: ListPlace): ListPlace =>
  item.appended && place.dialect.absoluteAppends ? rootOfLists(place.dialect) : place;

function placeConfig(item: ConfigItem, place: ListPlace): PlacedConfig {
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

function placeGroup(item: GroupItem, name: string | null, place: ListPlace): PlacedConfig {
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
 * The final package of a config's content, from the root. The package in the list has priority over the `# @package`
 * header, and the header over the default (the group's path below the list's place).
 */
export function finalPackage(placed: PlacedConfig, header: string | null): string {
  const { dialect, defaultPackage, explicitPackage, group, parentPackage } = placed;
  const filled = (text: string): string =>
    dialect.packageKeywords ? text.replaceAll("_group_", dotted(group)) : text;
  // A header of `_group_` alone has no effect: the default package is relative to the list's place.
  const isDefault = header === null || (dialect.packageKeywords && header === "_group_");
  const itemPackage =
    explicitPackage ?? (isDefault ? defaultPackage : absolutePackage(filled(header)));
  return joinPackage(parentPackage, fillName(itemPackage, placed));
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

/** `_name_` is the selected option, unless there are several. */
const fillName = (pkg: string, { dialect, name }: Names): string =>
  dialect.packageKeywords && name !== null ? pkg.replaceAll("_name_", name) : pkg;

/** A group at its default package is addressed by its name alone; `_global_` denotes the root. */
function overrideKey(group: string, pkg: string): string {
  return pkg === dotted(group) ? group : `${group}@${pkg === "" ? GLOBAL : pkg}`;
}

/** Drops everything up to the last `_global_`, after which a package is relative to the root. */
function joinPackage(parent: string, child: string): string {
  const joined = parent === "" ? child : child === "" ? parent : `${parent}.${child}`;
  const index = joined.lastIndexOf(GLOBAL);
  return index === -1 ? joined : joined.slice(index + GLOBAL.length + 1);
}

/** The package of a header is relative to the root. */
const absolutePackage = (header: string): string => `${GLOBAL}.${header}`;

/** `_group_` is the config's own group path, whatever the package of its parent. */
function fillGroup(pkg: string | null, group: string, { dialect }: ListPlace): string | null {
  return dialect.fillsGroup && pkg?.includes("_group_")
    ? `${GLOBAL}.${pkg.replaceAll("_group_", dotted(group))}`
    : pkg;
}

function stripRoot(path: string): { readonly path: string; readonly absolute: boolean } {
  return path.startsWith("/") ? { path: path.slice(1), absolute: true } : { path, absolute: false };
}

const joinGroup = (base: string, group: string): string =>
  group === "" ? base : belowGroup(base, group);

/** The path from the root of an item in a group. */
export const belowGroup = (group: string, path: string): string =>
  group === "" ? path : `${group}/${path}`;

const dotted = (group: string): string => group.replaceAll("/", ".");
