/** The errors of building a defaults list, in Hydra's words. */
import { use } from "../../overrides/hints.ts";
import { ConfigError, nearest as nearestName } from "../../values/errors.ts";
import type { Origin } from "../../values/origin.ts";
import { pyRepr } from "../../values/python-text.ts";
import { EMPTY_CONFIG } from "../hydra/hydra-schema.ts";
import {
  type DefaultsItem,
  describeSource,
  type GroupItem,
  isOptionList,
} from "../sources/config-source.ts";
import type { Repository } from "../sources/repository.ts";
import { type EntryRemedy, entryRemedy } from "./entry-remedy.ts";
import { type PlacedConfig, placeItem, rootOfLists } from "./placement.ts";

/*
 * The messages of the first pass. The first line is Hydra's, word for word, because people search for it; the place,
 * the options and the suggested command are ours.
 */

export function noPrimary(
  placed: PlacedConfig,
  {
    repository,
    fromShell = false,
  }: { readonly repository: Repository; readonly fromShell?: boolean },
): ConfigError {
  const available = namesOf(placed.group, repository);
  const nearest = nearestName(placed.name ?? "", available);
  return new ConfigError({
    code: "compose.missing_config",
    message: `Cannot find primary config '${placed.configPath}'. Check that it's in your config search path.\n${searchPath(repository)}`,
    key: placed.configPath,
    available,
    nearest,
    hint: primaryHint(placed, nearest, repository, fromShell),
  });
}

/** Users tend to give a path relative to the working directory; config names are relative to the config directory. */
function primaryHint(
  { configPath, group }: PlacedConfig,
  nearest: string | undefined,
  repository: Repository,
  fromShell: boolean,
): string {
  const named = (name: string) => (fromShell ? `--config-name ${name}` : `configName: "${name}"`);
  const other = otherFile(configPath, repository);
  if (other !== undefined)
    return `${renameHint(other)}${other.endsWith(".yml") ? ", or name it with its ending in Hydra 1.1 (--version-base 1.1)" : ""}`;
  if (nearest !== undefined)
    return `choose it with ${named(`${group === "" ? "" : `${group}/`}${nearest}`)}`;
  const within = configPath.replace(/\.yaml$/, "").split("/");
  const suffix = within
    .map((_, index) => within.slice(index))
    .find((name) => namesOf(name.slice(0, -1).join("/"), repository).includes(name.at(-1) ?? ""));
  if (suffix !== undefined)
    return `config names are relative to the config directory: use ${named(suffix.join("/"))}`;
  if (!fromShell) return "configName is the name of the config, configDir its directory";
  if (repository.sources.every(({ scheme }) => scheme !== "file"))
    return "there is no config directory: --config-path DIR (-cp) gives it; 'hydraconf python sync' reads what a Python program registers in its ConfigStore";
  return "--config-name NAME (-cn) gives the name of the config, --config-path DIR (-cp) its directory";
}

/** A file of that name whose extension makes it no config. */
function otherFile(configPath: string, { sources }: Repository): string | undefined {
  for (const source of sources) {
    const file = source.similarFile?.(configPath);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** A config without a file may be registered by a program. */
const STORED =
  "there is no such file; a Python program may register it in its ConfigStore: read that with 'hydraconf python sync' (if that was done, choose the program with --app FILE), write it as a YAML file, or give it to the store of a program of yours";

export function notFound(
  placed: PlacedConfig,
  parents: readonly PlacedConfig[],
  repository: Repository,
): ConfigError {
  const { item, configPath, group } = placed;
  const within = `In '${parents.at(-1)?.configPath ?? "<root>"}': `;
  const isGroup = item.kind === "group";
  const available = isGroup ? optionsOf(group, repository) : namesOf(group, repository);
  const options =
    available.length === 0 ? "" : `\nAvailable options in '${group}':\n${indented(available)}`;
  const other = otherFile(configPath, repository);
  const remedy =
    other === undefined
      ? (withoutGroup(placed, available) ?? entryRemedy(placed, parents, repository))
      : { hint: renameHint(other) };
  return new ConfigError({
    code: isGroup ? "compose.missing_option" : "compose.missing_config",
    message: isGroup
      ? `${within}Could not find '${configPath}'\n${options}${searchPath(repository)}`
      : `${within}Could not load '${configPath}'.\n${searchPath(repository)}`,
    key: configPath,
    origin: item.origin,
    available,
    hint:
      folderHint(configPath, repository) ??
      (available.length === 0 || item.origin.kind === "file" ? STORED : undefined),
    ...remedy,
  });
}

/** An override whose option repeats the name of its group: `model=model/vit`. */
function withoutGroup(
  { group, item, name, overrideKey }: PlacedConfig,
  available: readonly string[],
): EntryRemedy | undefined {
  if (item.origin.kind !== "override" || name?.startsWith(`${group}/`) !== true) return undefined;
  const option = name.slice(group.length + 1);
  return available.includes(option)
    ? { nearest: option, ...use(`${overrideKey ?? group}=${option}`) }
    : undefined;
}

const renameHint = (file: string): string =>
  `${file} is there, but configs are .yaml files: rename it`;

/** The path is a folder of groups, and not an option. */
function folderHint(path: string, repository: Repository): string | undefined {
  const groups = repository.list(path, "group");
  return groups.length === 0
    ? undefined
    : `'${path}' is not an option but a config group with the groups ${groups.join(", ")}`;
}

/** `group: ???`, and no override chooses an option. */
export function nothingChosen(
  placed: PlacedConfig,
  parent: PlacedConfig | undefined,
  repository: Repository,
): ConfigError {
  const { item, overrideKey } = placed;
  if (overrideKey === null)
    return new ConfigError({
      code: "compose.invalid_defaults",
      message: `Missing ConfigDefault is not supported : ${placed.configPath}`,
      origin: item.origin,
      key: placed.configPath,
      hint: "only the option of a config group can be left open: `group: ???`",
    });
  const available = optionsOf(placed.group, repository);
  const isNamed = placed.dialect.namesChoosers && parent !== undefined;
  const within = isNamed ? `In '${parent.configPath}': ` : "";
  return new ConfigError({
    code: "compose.missing_option",
    message: `${within}You must specify '${overrideKey}', e.g, ${overrideKey}=<OPTION>\nAvailable options:\n${indented(available)}`,
    origin: item.origin,
    key: overrideKey,
    available,
    ...(available[0] !== undefined && { hint: `add ${overrideKey}=${available[0]}` }),
  });
}

export function cycle(placed: PlacedConfig, parents: readonly PlacedConfig[]): ConfigError {
  const paths = parents.map((parent) => parent.configPath);
  const from = paths.lastIndexOf(placed.configPath);
  const loop = from === -1 ? paths.slice(-5) : paths.slice(from);
  return new ConfigError({
    code: "compose.invalid_defaults",
    message: `Defaults lists include each other endlessly: ${[...loop, placed.configPath].join(" -> ")}`,
    origin: placed.item.origin,
    key: placed.configPath,
    hint: "break the cycle: a config cannot include itself, directly or through others",
  });
}

export function overrideBefore(
  parent: PlacedConfig,
  override: { readonly item: GroupItem; readonly placed: PlacedConfig },
  after: { readonly item: DefaultsItem; readonly placed: PlacedConfig },
): ConfigError {
  const { item, placed } = after;
  const first = `${override.placed.overrideKey} : ${override.placed.name ?? "None"}`;
  const options = item.kind === "group" && isOptionList(item.value) ? item.value : null;
  const second = `${placed.address}: ${options === null ? (placed.name ?? "None") : `[${options.map((option) => pyRepr(option)).join(", ")}]`}`;
  return new ConfigError({
    code: "compose.invalid_defaults",
    message:
      `In ${parent.configPath}: Override '${first}' is defined before '${second}'.\n` +
      "Overrides must be at the end of the defaults list",
    origin: override.item.origin,
    key: override.placed.overrideKey ?? override.placed.configPath,
    hint: `move the override below '${item.kind === "group" ? item.group : placed.configPath}'`,
  });
}

export function overrideBelowInterpolation(
  parent: PlacedConfig,
  placed: PlacedConfig,
): ConfigError {
  return new ConfigError({
    code: "compose.invalid_defaults",
    message:
      `${parent.configPath}: Default List Overrides are not allowed in the subtree\n` +
      `of an in interpolated config group (override ${placed.overrideKey}=${placed.name ?? "None"}).`,
    origin: placed.item.origin,
    key: placed.overrideKey ?? placed.configPath,
    hint: "choose the parent by name, or move the override into the list with the interpolation",
  });
}

export const optionWithoutName = ({ group, origin }: GroupItem): ConfigError =>
  new ConfigError({
    code: "compose.override_failed",
    message: `Config group override must be a list of strings: ${origin.kind === "override" ? `'${origin.text}'` : group}`,
    origin,
    key: group,
    hint: "quote names that look like numbers",
  });

export function interpolationInOptions(
  item: GroupItem,
  parent: PlacedConfig | undefined,
): ConfigError {
  return new ConfigError({
    code: "compose.invalid_defaults",
    message: `In '${parent?.configPath ?? "<root>"}': Defaults List interpolation is not supported in options list items`,
    origin: item.origin,
    key: item.group,
    hint: "name the options, or interpolate only one: `group: ${other}`",
  });
}

/** A choice, and the config whose defaults list makes it; undefined for the command line. */
export interface Chosen {
  readonly placed: PlacedConfig;
  readonly parent: PlacedConfig | undefined;
}

/**
 * @param early the choice that comes first in the list
 * @param late the later choice, reached first because lists are expanded from their ends
 */
export function secondChoice(early: Chosen, late: Chosen, key: string): ConfigError {
  const { dialect, item, name } = late.placed;
  const conflict = `Conflicting choices: ${chosenBy(late)} and ${chosenBy(early)}`;
  return new ConfigError({
    code: "compose.invalid_defaults",
    message:
      `Multiple values for ${key}. To override a value use 'override ${key}: ${name ?? "None"}'` +
      (dialect.namesChoosers ? `\n${conflict}` : ""),
    origin: item.origin,
    key,
    hint: remedy(early.placed, late.placed, key),
  });
}

function chosenBy({ parent, placed: { item, name } }: Chosen): string {
  const isTyped = item.kind === "group" && item.appended;
  return `'${name ?? "None"}' from '${isTyped ? "command line" : (parent?.configPath ?? "<root>")}'`;
}

function remedy(early: PlacedConfig, late: PlacedConfig, key: string): string {
  if (late.item.origin.kind !== "override")
    return `write \`override /${key}: ${late.name}\` at the end of the list`;
  if (early.item.origin.kind === "override") return `keep only one: ${key} is added twice`;
  return `the config group already has a value: use ${key}=${late.name} without +`;
}

const optionsOf = (group: string, repository: Repository): readonly string[] =>
  repository.list(group, "config").filter((name) => name !== EMPTY_CONFIG);

/** The options for hints; none if the group cannot be listed. */
function namesOf(group: string, repository: Repository): readonly string[] {
  try {
    return optionsOf(group, repository);
  } catch {
    return [];
  }
}

/** A config that exists only at the path where older versions looked, which read a slash in an option differently. */
export function movedIntoGroup(placed: PlacedConfig, old: string, moved: GroupItem): ConfigError {
  const { group, shorthandOf = group } = moved;
  return new ConfigError({
    code: "compose.missing_option",
    message:
      `Could not load '${placed.configPath}'.\n` +
      `However, a config was found at '${old}', which indicates this application\n` +
      "relies on the deprecated slash-containing default option shorthand behavior.\n" +
      `In Hydra 1.4, defaults list items like '${shorthandOf}: ${group.slice(shorthandOf.length + 1)}/...' are\n` +
      `normalized early to '${group}: ...'. Please update your configs or refer to the\n` +
      "migration page: https://hydra.cc/docs/upgrades/1.3_to_1.4/slash_in_default/",
    key: placed.configPath,
    origin: placed.item.origin,
    hint: `name '${old}' from where the list stands now, or by its path from the root: /${old}`,
  });
}

/** A path in the defaults list of a config, from the root of the tree. */
function fromRoot(parent: string, path: string): string {
  const names: string[] = [];
  for (const name of [...parent.split("/").slice(0, -1), ...path.split("/")])
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  return `/${names.join("/")}`;
}

/** The kinds of paths in a defaults list. */
export type PathKind = "config" | "config group" | "config option";

/** The error of a path with `..` or backslashes. */
export function forbiddenPath(
  parent: string,
  kind: PathKind,
  path: string,
  origin: Origin,
  repository: Repository,
): ConfigError {
  const isBackslash = path.includes("\\");
  const rooted = fromRoot(parent, path.replaceAll("\\", "/"));
  const isThere =
    kind === "config"
      ? repository.configExists(rooted.slice(1))
      : kind === "config group" && repository.groupExists(rooted.slice(1));
  const what = isBackslash ? "Backslash ('\\')" : "Parent traversal ('..')";
  return new ConfigError({
    code: "compose.invalid_defaults",
    message:
      `In ${parent}: ${what} in Defaults List ${kind} paths is not supported ('${path}').\n` +
      `${isBackslash ? SEPARATOR : ABSOLUTE[kind]}\n` +
      "See https://hydra.cc/docs/advanced/defaults_list/ for more information.",
    origin,
    key: path,
    ...(isThere && {
      hint: kind === "config" ? `write \`${rooted}\`` : `name the group from the root: ${rooted}`,
    }),
  });
}

const SEPARATOR =
  "Use '/' as the config group separator; it is the only supported separator, regardless of the operating system.";

const ABSOLUTE: Readonly<Record<PathKind, string>> = {
  config: "Use an absolute config path instead, such as '/group/config'.",
  "config group": "Use an absolute config group path instead, such as '/group: option'.",
  "config option":
    "Config options cannot contain parent traversal. Select the target config directly. Use '/config' or " +
    "'/group: option' in a Defaults List, or 'group=option' (with '+' when adding a new default) on the command line.",
};

const searchPath = (repository: Repository): string =>
  `\nConfig search path:\n${indented(repository.sources.map(describeSource))}`;

const indented = (lines: readonly string[]): string => lines.map((line) => `\t${line}`).join("\n");

/**
 * As `notFound`. If a slash in an option was read as part of the group, the path of the older reading is tried for a
 * hint.
 */
export function notFoundBelow(
  placed: PlacedConfig,
  parents: readonly PlacedConfig[],
  repository: Repository,
): ConfigError {
  const moved = [...parents, placed].findLast(
    ({ item }) => item.kind === "group" && item.shorthandOf !== undefined,
  );
  const error = notFound(placed, parents, repository);
  if (moved?.item.kind !== "group") return error;
  const old = pathBefore(placed, parents);
  return repository.configExists(old) ? movedIntoGroup(placed, old, moved.item) : error;
}

/** The path of a config if slashes in options do not belong to the group. */
function pathBefore(placed: PlacedConfig, parents: readonly PlacedConfig[]): string {
  let place = rootOfLists(placed.dialect);
  let path = placed.configPath;
  for (const { item, name } of [...parents, placed]) {
    const written =
      item.kind === "group" && item.shorthandOf !== undefined
        ? { ...item, group: item.shorthandOf }
        : item;
    const { configPath, group } = placeItem(written, name, place);
    place = { ...place, group };
    path = configPath;
  }
  return path;
}
