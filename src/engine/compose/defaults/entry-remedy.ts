/** The remedy for an entry of a defaults list that names no config: what to write instead, if the tree has it. */
import { type Advice, saying, use, useAnyOf } from "../../overrides/hints.ts";
import { nearest } from "../../values/errors.ts";
import { type GroupItem, SELF } from "../sources/config-source.ts";
import { optionsForHint, type Repository } from "../sources/repository.ts";
import { belowGroup, type PlacedConfig, placeItem, rootOfLists } from "./placement.ts";

export interface EntryRemedy extends Advice {
  /** The likely name, if only the name of the option is wrong. */
  readonly nearest?: string;
}

/** An entry as a user writes it; the group is null for a config that is named by its path. */
interface Entry {
  readonly flags: string;
  readonly group: string | null;
  readonly package: string | null;
  readonly name: string;
}

/** What is searched, and from where. */
interface Search {
  readonly placed: PlacedConfig;
  /** The configs whose lists led here, from the root. */
  readonly parents: readonly PlacedConfig[];
  readonly repository: Repository;
}

/**
 * Everything that is proposed exists in the tree. Undefined where nothing in it is near.
 *
 * @param parents the configs whose lists led to the entry, from the root
 */
export function entryRemedy(
  placed: PlacedConfig,
  parents: readonly PlacedConfig[],
  repository: Repository,
): EntryRemedy | undefined {
  const search: Search = { placed, parents, repository };
  const { item } = placed;
  const similar = similarOptions(placed.name ?? "", optionsForHint(repository, placed.group));
  if (item.origin.kind === "override") return typedRemedy(item.origin.text, similar, search);
  const text = item.origin.kind === "file" ? writtenText(item.origin) : "";
  const byVariable = variableRemedy(text, similar, search);
  if (byVariable !== undefined) return byVariable;
  // An entry that was chosen in another list: only its option can be wrong here.
  const isChosenElsewhere = item.kind === "group" && /^override\s/.test(text);
  if (!isChosenElsewhere) {
    if (item.kind === "config" && /^[-_]*self[-_]*$/i.test(item.path))
      return { hint: `the position of the file's own content is written \`${SELF}\`` };
    const found = rewritten(search) ?? withoutOption(search);
    if (found !== undefined) return found;
  }
  if (item.kind === "group" && placed.name === "None")
    return { hint: `for no option, write \`${textOf({ ...entryOf(placed), name: "null" })}\`` };
  if (similar.length > 0) return optionRemedy(text, similar, placed);
  return isChosenElsewhere ? undefined : elsewhere(search);
}

/** The remedy for an option that an environment variable chooses: `env: ${oc.env:NODE_ENV,dev}`. */
function variableRemedy(
  text: string,
  similar: readonly string[],
  { placed, repository }: Search,
): EntryRemedy | undefined {
  const [, variable, preset] = /\$\{oc\.env:([A-Za-z_]\w*)(?:,\s*([\w-]+)\s*)?\}$/.exec(text) ?? [];
  const options = optionsForHint(repository, placed.group);
  if (variable === undefined || placed.name === null || options.length === 0) return undefined;
  const set = `set the environment variable ${variable} to ${orList(similar.length > 0 ? similar : options)}`;
  if (placed.name !== "")
    return {
      ...(similar.length === 1 && { nearest: similar[0] }),
      hint: `${set}; or add a file for '${placed.name}'`,
    };
  const isPreset = preset !== undefined && options.includes(preset);
  return { hint: `the option is empty: ${set}${isPreset ? `; or unset it, for ${preset}` : ""}` };
}

/** The remedy for an option chosen on the command line. */
function typedRemedy(
  text: string,
  similar: readonly string[],
  { placed, repository }: Search,
): EntryRemedy | undefined {
  if (!text.includes("=")) return undefined;
  const head = placed.item.kind === "group" ? text.slice(0, text.indexOf("=") + 1) : undefined;
  if (placed.name === "" && head !== undefined) {
    const options = optionsForHint(repository, placed.group).slice(0, MOST_PROPOSED);
    return options.length === 0
      ? undefined
      : useAnyOf(options.map((option) => ({ override: head + option })));
  }
  if (head !== undefined && /^[\w/-]*\*[\w/*-]*$/.test(placed.name ?? ""))
    return use(`${head}glob(${placed.name})`);
  if (similar.length === 0)
    return placed.name === "None" && /^[^~+]/.test(text)
      ? useAnyOf([{ override: `~${text.slice(0, text.indexOf("="))}` }], NO_GROUP)
      : undefined;
  const [first] = similar;
  return {
    ...(similar.length === 1 && { nearest: first }),
    ...(head === undefined
      ? saying(`choose ${orList(similar)} in place of ${placed.name}`)
      : useAnyOf(similar.map((option) => ({ override: `${head}${option}` })))),
  };
}

const NO_GROUP = "to remove the config group, use";

function optionRemedy(
  text: string,
  similar: readonly string[],
  { name, item }: PlacedConfig,
): EntryRemedy {
  const start = name !== null && text.endsWith(name) ? text.slice(0, -name.length) : undefined;
  const isPath = item.kind === "group" || start?.endsWith("/") === true || start === "";
  return {
    ...(similar.length === 1 && { nearest: similar[0] }),
    hint:
      start !== undefined && isPath
        ? `write ${orList(similar.map((option) => `\`${start}${option}\``))}`
        : `write ${orList(similar.map((option) => `\`${option}\``))} in place of \`${name}\``,
  };
}

/** How many options a hint names. */
const MOST_PROPOSED = 3;

/** A group whose option is missing or empty, and several options that are written as one. */
function withoutOption(search: Search): EntryRemedy | undefined {
  const { placed, repository } = search;
  const entry = entryOf(placed);
  const [group, name] = entry.group === null ? [entry.name, ""] : [entry.group, entry.name];
  const options = optionsForHint(
    repository,
    pathOf({ ...entry, group: null, name: group }, search),
  );
  if (options.length === 0) return undefined;
  const names = name.split(/[\s,]+/);
  if (names.length > 1 && names.every((name) => options.includes(name)))
    return { hint: `write \`${textOf({ ...entry, name: `[${names.join(", ")}]` })}\`` };
  if (name !== "") return undefined;
  const lines = options
    .slice(0, MOST_PROPOSED)
    .map((option) => `\`${textOf({ ...entry, group, name: option })}\``);
  return { hint: `name an option of the config group ${group}: write ${orList(lines)}` };
}

/** Entries in which a character, a flag or the start of the path is wrong, and which exist when it is corrected. */
function rewritten(search: Search): EntryRemedy | undefined {
  const entry = entryOf(search.placed);
  for (const corrected of [withoutSlips(entry), ...otherForms(entry)]) {
    const found = correction(entry, corrected, search);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An entry with dots or backslashes in its path, its package at the option, or its option behind the package. */
function* otherForms(entry: Entry): Generator<Entry> {
  const { group, name, package: pkg } = entry;
  const slashes = (path: string): string => path.replace(/\\+|\./g, "/");
  // A path from the working directory: `conf/db`.
  const path = (group ?? name).replace(/^\/?[^/]+\//, "/");
  if (path.startsWith("/"))
    yield group === null ? { ...entry, name: path } : { ...entry, group: path };
  if (group === null) {
    const [, place, option] = /^(\S+)\s+(\S+)$/.exec(pkg ?? "") ?? [];
    if (place !== undefined && option !== undefined)
      yield { ...entry, group: name, package: place, name: option };
    if (slashes(name) !== name) yield { ...entry, name: slashes(name) };
    return;
  }
  if (slashes(group) !== group) yield { ...entry, group: slashes(group) };
  const [, option, place] = /^([^@]+)@([^@]+)$/.exec(name) ?? [];
  if (option !== undefined && place !== undefined && pkg === null)
    yield { ...entry, name: option, package: place };
  const [, bare, flag] = /^(\S+)\s+(optional|override)$/.exec(name) ?? [];
  if (bare !== undefined) yield { ...entry, flags: `${entry.flags}${flag} `, name: bare };
}

function correction(entry: Entry, corrected: Entry, search: Search): EntryRemedy | undefined {
  const { placed, repository } = search;
  const { parentGroup } = placed;
  if (corrected !== entry && exists(corrected, search)) return write(corrected, search);
  const atRoot = { ...corrected, ...rooted(corrected) };
  if (parentGroup !== "" && !isRooted(corrected) && exists(atRoot, search))
    return write(
      atRoot,
      search,
      `names in this list begin in the group of its file, ${parentGroup}: `,
    );
  if (isRooted(corrected) && parentGroup !== "") {
    const relative = { ...corrected, ...unrooted(corrected) };
    if (exists(relative, search)) return write(relative, search);
  }
  if (corrected === entry) return undefined;
  const path = pathOf(corrected, search);
  const group = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const similar = similarOptions(corrected.name, optionsForHint(repository, group));
  return similar.length === 1 && similar[0] !== undefined
    ? write({ ...corrected, name: similar[0] }, search)
    : undefined;
}

/** A group of a similar name beside the named one; else the same group, or the option, anywhere in the tree. */
function elsewhere(search: Search): EntryRemedy | undefined {
  const { placed, repository } = search;
  const entry = withoutSlips(entryOf(placed));
  if (entry.group !== null) {
    const parent = placed.group.slice(0, Math.max(0, placed.group.lastIndexOf("/")));
    const last = placed.group.slice(parent === "" ? 0 : parent.length + 1);
    for (const base of new Set([parent, ""])) {
      const near = nearest(base === parent ? last : placed.group, groupsIn(repository, base));
      const found = near === undefined ? undefined : inGroup(belowGroup(base, near), entry, search);
      if (found !== undefined) return found;
    }
  }
  const wanted = entry.group?.split("/").at(-1);
  const groups = allGroups(repository).filter(
    (group) => wanted === undefined || group.split("/").at(-1) === wanted,
  );
  const holding = groups.filter((group) => repository.configExists(belowGroup(group, entry.name)));
  const [only] = holding;
  if (holding.length !== 1 || only === undefined || only === placed.group) return undefined;
  return inGroup(only, entry, search);
}

/** The entry with an option of another group, given by its path from the root. */
function inGroup(group: string, entry: Entry, search: Search): EntryRemedy | undefined {
  const { placed, repository } = search;
  const options = optionsForHint(repository, group);
  const name = options.includes(entry.name) ? entry.name : nearest(entry.name, options);
  if (name === undefined) return undefined;
  const { parentGroup } = placed;
  const isBelow = parentGroup === "" || group.startsWith(`${parentGroup}/`);
  const written = isBelow && parentGroup !== "" ? group.slice(parentGroup.length + 1) : group;
  return write({ ...entry, group: isBelow ? written : `/${group}`, name }, search);
}

/** An `override` where a list above has chosen from the group already, since a second entry would be refused. */
function write(entry: Entry, search: Search, why = ""): EntryRemedy {
  const path = pathOf(entry, search);
  const group = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  const chosen =
    entry.group !== null && entry.flags === ""
      ? chosenInParents(group, entry.package, search)
      : undefined;
  if (chosen === undefined) return { hint: `${why}write \`${textOf(entry)}\`` };
  return {
    hint: chosen.isAbove
      ? `${group} is chosen already, by a list above: write \`override ${textOf({ ...entry, ...rooted(entry) })}\``
      : `${group} is chosen already, by '${chosen.by}', in an entry below the one that leads here: choose the option there, since an override reaches only entries above`,
  };
}

/** The list that has chosen from a group already, for the same package, and whether it does so above the entry that leads to this file. */
function chosenInParents(
  group: string,
  pkg: string | null,
  { parents, repository, placed }: Search,
): { readonly by: string; readonly isAbove: boolean } | undefined {
  for (const [index, { configPath, group: parentGroup, dialect }] of parents
    .slice(0, -1)
    .entries()) {
    const place = { ...rootOfLists(dialect), group: parentGroup };
    const items = repository.load(configPath)?.defaults ?? [];
    const groupOf = (item: (typeof items)[number]) =>
      item.kind === "group" ? placeItem(item, null, place).group : undefined;
    const position = items.findIndex(
      (item) =>
        item !== placed.item &&
        groupOf(item) === group &&
        item.kind === "group" &&
        item.package === pkg,
    );
    if (position < 0) continue;
    const next = parents[index + 1];
    const leading = items.findIndex((item) => item === next?.item || groupOf(item) === next?.group);
    return { by: configPath, isAbove: leading < 0 || position < leading };
  }
  return undefined;
}

/** The entry without slips of typing that no name has: a backslash, a colon without its blank, a flag at the option. */
function withoutSlips(entry: Entry): Entry {
  const flag = /^(optional|override)\s+(.+)$/.exec(entry.name);
  if (entry.group !== null && flag !== null)
    return { ...entry, flags: `${entry.flags}${flag[1]} `, name: flag[2] ?? "" };
  if (entry.group !== null) {
    const [, group, pkg] = /^([^:@]+):([^:@]+)$/.exec(entry.group) ?? [];
    return group === undefined || pkg === undefined || entry.package !== null
      ? entry
      : { ...entry, group, package: pkg };
  }
  const [, flags = "", bare = ""] = /^((?:(?:optional|override)\s+)*)(.*)$/s.exec(entry.name) ?? [];
  const path = bare.replaceAll("\\", "/");
  const separator = path.search(/[:=]/);
  if (separator > 0)
    return {
      ...entry,
      flags: flags.replaceAll(/\s+/g, " "),
      group: path.slice(0, separator).trim(),
      name: path.slice(separator + 1).trim(),
    };
  return path === bare ? entry : { ...entry, name: flags + path };
}

function entryOf({ item, name }: PlacedConfig): Entry {
  if (item.kind === "config")
    return { flags: "", group: null, package: item.package, name: item.path };
  return {
    flags: `${item.optional ? "optional " : ""}${item.override ? "override " : ""}`,
    group: groupOf(item),
    package: item.package,
    name: name ?? "",
  };
}

const groupOf = ({ group, shorthandOf = group }: GroupItem): string => shorthandOf;

const textOf = ({ flags, group, package: pkg, name }: Entry): string => {
  const packageSuffix = pkg === null ? "" : `@${pkg}`;
  return group === null ? `${name}${packageSuffix}` : `${flags}${group}${packageSuffix}: ${name}`;
};

const isRooted = ({ group, name }: Entry): boolean => (group ?? name).startsWith("/");

const rooted = ({ group, name }: Entry): Partial<Entry> =>
  isRooted({ flags: "", group, package: null, name })
    ? {}
    : group === null
      ? { name: `/${name}` }
      : { group: `/${group}` };

const unrooted = ({ group, name }: Entry): Partial<Entry> =>
  group === null ? { name: name.slice(1) } : { group: group.slice(1) };

/** The path from the root of the config that an entry names. */
function pathOf({ group, name }: Entry, { placed: { parentGroup } }: Search): string {
  const path = group === null ? name : `${group}/${name}`;
  return path.startsWith("/") ? path.slice(1) : belowGroup(parentGroup, path);
}

const exists = (entry: Entry, search: Search): boolean =>
  entry.name !== "" && search.repository.configExists(pathOf(entry, search));

/** The one that is near, else the options that begin with the name. */
function similarOptions(name: string, options: readonly string[]): readonly string[] {
  if (name === "") return [];
  const near = nearest(name, options);
  if (near !== undefined) return [near];
  const longer = options.filter((option) => option.startsWith(name));
  // A path that leads to a file of the group.
  const last = (name.split("/").at(-1) ?? "").replace(/\.ya?ml$/, "");
  return longer.length === 0 && options.includes(last) ? [last] : longer;
}

/** A list with the last two joined by "or". */
const orList = (texts: readonly string[]): string => texts.join(", or ");

const writtenText = ({
  source,
  start,
  end,
}: { readonly source: { readonly text: string } } & {
  readonly start: number;
  readonly end: number;
}): string => source.text.slice(start, end).trimEnd();

function groupsIn(repository: Repository, group: string): readonly string[] {
  try {
    return repository.list(group, "group");
  } catch {
    return [];
  }
}

/** Larger trees are not searched to their end for a hint. */
const MOST_GROUPS = 2_000;

function allGroups(repository: Repository): readonly string[] {
  const found = [...groupsIn(repository, "")];
  for (const group of found) {
    if (found.length > MOST_GROUPS) break;
    found.push(...groupsIn(repository, group).map((name) => belowGroup(group, name)));
  }
  return found;
}
