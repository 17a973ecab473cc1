/** Notes about configs and overrides that compose, but not to what was probably meant. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { firstFew } from "../../foundation/text/plural.ts";
import type { Override } from "../overrides/ast.ts";
import { isSweep } from "../overrides/sweep.ts";
import { nearest } from "../values/errors.ts";
import { isInterpolationNode } from "../values/interpolation/interpolation-parser.ts";
import { splitKey } from "../values/key-path.ts";
import { type ConfigNode, getAt } from "../values/node.ts";
import { describeOrigin, type Origin } from "../values/origin.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import type { CompositionWarning } from "./defaults/deprecations.ts";
import { overrideKeyOf, type RunMode } from "./defaults/list.ts";
import { packageOf } from "./options-with-key.ts";
import type { LoadedConfig } from "./sources/config-source.ts";
import {
  allGroups,
  groupsForHint,
  loadQuietly,
  optionsForHint,
  type Repository,
} from "./sources/repository.ts";

export interface TrapRequest {
  readonly configName: string | null;
  readonly overrides: readonly Override[];
  /** The overrides that set values. */
  readonly values: readonly Override[];
  readonly mode: RunMode;
  readonly repository: Repository;
  /** The option of every group, by override key. */
  readonly choices: ReadonlyMap<string, string | null>;
  /** The options that a swept override of a group chooses from, as overrides. */
  readonly optionsOf: (override: Override) => Iterable<string>;
  /** The config, before the overrides or after them. */
  readonly root: ConfigNode;
  readonly context: Pick<ResolveContext, "dialect">;
  /** Whether a value at a path is secret. */
  readonly isSecret: (path: readonly string[]) => boolean;
  /** Whether a schema takes no null at a path. */
  readonly refusesNull: (path: readonly string[]) => boolean;
  /** Whether what is often in order is noted, too. */
  readonly notesRareCases: boolean;
  /** The sweep, of whose jobs one is composed. */
  readonly sweep?: readonly Override[];
}

/** Each is a note of the composition. */
export const trapNotes = (request: TrapRequest): readonly CompositionWarning[] => [
  ...notesOfFiles(request),
  ...optionsAsValues(request),
  ...misnamedGroups(request),
  ...optionsThatAreAbsent(request),
  ...textsForNull(request),
  ...sweepsThatAreNone(request),
  ...(request.mode === "multirun" ? settingsInOptions(request) : []),
  ...(request.notesRareCases ? [...rareKeys(request), ...textsForNullIn(request)] : []),
];

/** Those about files alone. Cached, because the jobs of a sweep mostly share their choices. */
const notesOfFiles = (request: TrapRequest): readonly CompositionWarning[] =>
  getOrCreate(
    getOrCreate(NOTES_OF_FILES, request.root, () => new WeakMap()),
    request.choices,
    () => {
      const { repository, root } = request;
      const files = { repository, root, configs: chosenConfigs(request) };
      return [
        ...misnamedDefaults(files),
        ...ignoredKeywords(files),
        ...misspeltHeaders(files),
        ...headersBelowKeys(files),
        ...filesOfText(files),
        ...dottedKeys(files),
        ...optionsAsKeys(files, request.choices),
        ...slashesInPackages(files),
        ...misspeltKeywords(files),
      ];
    },
  );

const NOTES_OF_FILES = new WeakMap<
  ConfigNode,
  WeakMap<TrapRequest["choices"], readonly CompositionWarning[]>
>();

/** The files of a composition. */
interface Files extends Pick<TrapRequest, "repository" | "root"> {
  readonly configs: readonly ChosenConfig[];
}

const note = (message: string, origin: Origin): CompositionWarning => ({
  code: "note",
  message,
  origin,
});

/** `default:`, `Defaults:` or `defualts:` with entries that name options of config groups. */
const misnamedDefaults = (request: Files): readonly CompositionWarning[] =>
  request.configs.flatMap(({ defaults, node }) =>
    (defaults.length > 0 ? [] : entriesOf(node)).flatMap(({ key, value }) => {
      if (value.kind !== "list") return [];
      if (nearest(String(key), ["defaults"]) === undefined) return [];
      if (!value.items.some((item) => namesOption(item, request.repository))) return [];
      return [
        note(
          `${describeOrigin(value.origin)}: \`${key}:\` is an ordinary key, so no config is included; the list of configs is written \`defaults:\``,
          value.origin,
        ),
      ];
    }),
  );

/** `hydra.run.dir: out` or `db.port: 1` in a file, where the dot is a part of the key, and there is a map `db`. */
const dottedKeys = (request: Files): readonly CompositionWarning[] =>
  request.configs.flatMap(({ group, node, package: pkg }) =>
    entriesOf(node).flatMap(({ key, value }) => {
      const [first = "", ...rest] = String(key).split(".");
      if (rest.length === 0 || rest.includes("") || value.origin.kind !== "file") return [];
      const isAtRoot = pkg === GLOBAL || (group === undefined && pkg === null);
      const beside = isAtRoot ? request.root : node;
      if (getAt(beside, [first])?.kind !== "map") return [];
      const nested = [first, ...rest].reduceRight((inner, part) => `{${part}: ${inner}}`, "…");
      return [
        note(
          `${describeOrigin(value.origin)}: '${key}' is one key, with dots; keys within keys are written \`${nested.slice(1, -1)}\``,
          value.origin,
        ),
      ];
    }),
  );

/** `model: resnet` beside a defaults list, for an item of it. */
const optionsAsKeys = (
  { configs, repository }: Files,
  choices: TrapRequest["choices"],
): readonly CompositionWarning[] => {
  const chosen = new Set([...choices.keys()].map((choice) => choice.split("@")[0]));
  // Many keys are texts: to look for a group of each name would take long.
  const listed = new Map<string, ReadonlySet<string>>();
  const isGroup = (path: string): boolean => {
    const end = path.lastIndexOf("/");
    const parent = path.slice(0, Math.max(end, 0));
    const names = getOrCreate(listed, parent, () => new Set(groupsForHint(repository, parent)));
    return names.has(path.slice(end + 1));
  };
  return configs.flatMap(({ defaults, group, node, package: pkg }) =>
    entriesOf(defaults.length === 0 ? undefined : node).flatMap(({ key, value }) => {
      if (value.kind !== "scalar" || typeof value.value !== "string") return [];
      if (pkg !== null || value.origin.kind !== "file") return [];
      const meant = group === undefined ? String(key) : `${group}/${key}`;
      if (chosen.has(meant) || !isGroup(meant)) return [];
      if (!optionsForHint(repository, meant).includes(value.value)) return [];
      return [
        note(
          `${describeOrigin(value.origin)}: '${key}' is a text: the option of the config group ${meant} is chosen in the defaults list, by \`- ${key}: ${value.value}\``,
          value.origin,
        ),
      ];
    }),
  );
};

/** `db@a/b: mysql`, whose package is one key with a slash. */
const slashesInPackages = (request: Files): readonly CompositionWarning[] =>
  request.configs.flatMap(({ defaults }) =>
    defaults.flatMap((item) => {
      const pkg = item.kind === "self" ? null : item.package;
      if (!pkg?.includes("/") || item.origin.kind !== "file") return [];
      return [
        note(
          `${describeOrigin(item.origin)}: the package ${pkg} is one key, with a slash; packages are written with dots: ${pkg.replaceAll("/", ".")}`,
          item.origin,
        ),
      ];
    }),
  );

/** `_target: a.B`, which no `instantiate` sees. */
function misspeltKeywords(request: Files): readonly CompositionWarning[] {
  const find = (node: ConfigNode): readonly CompositionWarning[] => {
    if (node.kind === "list") return node.items.flatMap(find);
    return entriesOf(node).flatMap(({ key, value }) => {
      const [, name] = /^_*(target|partial|convert|recursive|args)_*$/.exec(String(key)) ?? [];
      const keyword = `_${name}_`;
      const isMeant =
        name === "target"
          ? value.kind === "scalar" && IMPORTED.test(String(value.value))
          : getAt(node, ["_target_"]) !== undefined;
      if (name === undefined || key === name || key === keyword || !isMeant) return find(value);
      return [
        note(
          `${describeOrigin(value.origin)}: '${key}' is an ordinary key: for \`instantiate\` it is written ${keyword}`,
          value.origin,
        ),
      ];
    });
  };
  return request.configs.flatMap(({ node }) => find(node));
}

/** A name within a module of Python. */
const IMPORTED = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;

/** `seed=1..3` where the config has a number, and in a sweep without others `seed=1-3` or `seed=[1,2,3]`, which is one value. */
function sweepsThatAreNone(request: TrapRequest): readonly CompositionWarning[] {
  const { context, root, values } = request;
  const sweepsNothing = isWithoutSweeps(request);
  return values.flatMap((override) => {
    const { keyOrGroup, origin } = override;
    const path = splitKey(keyOrGroup, context.dialect);
    const node = valueBefore(root, path);
    if (node?.kind !== "scalar" || !/^(?:bigint|number)$/.test(typeof node.value)) return [];
    const told = sweepMeant(override, sweepsNothing);
    // The text shows the values.
    return told === undefined || request.isSecret(path) ? [] : [note(told, origin)];
  });
}

/** What is said of a value in place of a number that is probably meant as a sweep. */
function sweepMeant(
  { origin: { text }, type, value }: Override,
  sweepsNothing: boolean,
): string | undefined {
  if (type === "delete" || value === undefined) return undefined;
  const head = text.slice(0, value.span.start);
  if (value.kind === "list" && sweepsNothing && value.items.length > 1) {
    const items = text.slice(value.span.start + 1, value.span.end - 1);
    return `${text} is one list, in every job: to run one job for each item, use ${head}${items.replace(/\s/g, "")}`;
  }
  const [, from, sign, to] =
    (value.kind === "scalar" && /^(\d{1,9})(\.\.\.?|-)(\d{1,9})$/.exec(String(value.value))) || [];
  if (from === undefined || Number(to) <= Number(from)) return undefined;
  // Devices and pages are often texts like `0-3`.
  if (sign === "-" && !sweepsNothing) return undefined;
  return `${text} sets a text: a sweep from ${from} to ${to} is written ${head}range(${from},${Number(to) + 1})`;
}

/** Whether a job is one of a sweep that sweeps over nothing: what is swept beside a list tells that the list is meant. */
const isWithoutSweeps = ({ root, sweep }: TrapRequest): boolean =>
  sweep !== undefined &&
  !sweep.some(isSweep) &&
  ["params", "search_space"].every(
    (key) => entriesOf(getAt(root, ["hydra", "sweeper", key])).length === 0,
  );

interface ChosenConfig extends LoadedConfig {
  /** The group of an option. */
  readonly group?: string;
}

/** The primary config and the options that were chosen. */
function chosenConfigs({ choices, configName, repository }: TrapRequest): readonly ChosenConfig[] {
  const primary = configName === null ? undefined : loadQuietly(configName, repository);
  const options = [...choices].flatMap(([key, option]) => {
    const [group = ""] = key.split("@");
    const loaded = option === null ? undefined : loadQuietly(`${group}/${option}`, repository);
    return loaded === undefined ? [] : [{ ...loaded, group }];
  });
  return primary === undefined ? options : [primary, ...options];
}

/** Where an option stands without a header. */
const packageOfGroup = ({ group }: ChosenConfig): string | undefined => group?.replaceAll("/", ".");

/** `# @packge _global_`, `# @package _globl_`, `# package _global_`, or a header below another comment: none of them is read as meant. */
const misspeltHeaders = (request: Files): readonly CompositionWarning[] =>
  request.configs.flatMap((config) => {
    const { node, package: pkg } = config;
    const { origin } = node;
    if (origin.kind !== "file") return [];
    const { text } = origin.source;
    const comments =
      /^(?:[ \t]*(?:#.*)?(?:\r?\n|$))*/.exec(text.slice(0, LONGEST_HEADER))?.[0] ?? "";
    const lines = [...comments.matchAll(HEADER)];
    const read = lines.findLast(({ 2: key }) => key === "package");
    for (const line of lines) {
      const [written, sign = "", key = "", value = ""] = line;
      const isNamed = sign === "@" ? nearest(key, ["package"]) !== undefined : GLOBAL === value;
      const meant =
        pkg === value
          ? (nearestKeyword(value) ?? (isMeantForRoot(config, request) ? GLOBAL : undefined))
          : pkg === null && isNamed && value !== "_group_" && value !== packageOfGroup(config)
            ? value
            : undefined;
      if (meant === undefined || (pkg !== null && line !== read)) continue;
      const start = line.index + written.indexOf("#");
      const place = { ...origin, start, end: line.index + written.length };
      const header = `# @package ${meant}`;
      const remedy =
        written.trim() === header
          ? "a header is read above all other comments only"
          : pkg === null
            ? `the header is written \`${header}\`, above all other comments`
            : `the root of the config is \`${header}\``;
      const effect = pkg === null ? "is an ordinary comment" : `names the key ${pkg}`;
      return [note(`${describeOrigin(place)}: '${written.trim()}' ${effect}: ${remedy}`, place)];
    }
    return [];
  });

/** `# @package _global_` below the keys of its file. */
const headersBelowKeys = (request: Files): readonly CompositionWarning[] =>
  request.configs.flatMap(({ node: { origin }, package: pkg }) => {
    if (origin.kind !== "file" || pkg !== null) return [];
    const line = /^# ?@package _global_[ \t]*$/m.exec(origin.source.text);
    const above = origin.source.text.slice(0, line?.index ?? 0);
    if (line === null || !/^[ \t]*[^#\s]/m.test(above)) return [];
    const [written] = line;
    const place = { ...origin, start: line.index, end: line.index + written.length };
    return [
      note(
        `${describeOrigin(place)}: '${written.trim()}' is an ordinary comment: a header is read above all keys only`,
        place,
      ),
    ];
  });

/** `port = 1` in place of `port: 1`: a file without any key is one text, which is read as a key without a value. */
const filesOfText = (request: Files): readonly CompositionWarning[] =>
  request.configs.flatMap(({ node }) => {
    const [entry, ...others] = entriesOf(node);
    if (entry === undefined || others.length > 0 || node.origin.kind !== "file") return [];
    const { text } = node.origin.source;
    if (entry.value.kind !== "scalar" || entry.value.value !== null || text.includes(":"))
      return [];
    const [, key = "KEY", value = "VALUE"] =
      /^([A-Za-z_][\w.-]*)\s*=\s*(\S+)/.exec(String(entry.key)) ?? [];
    return [
      note(
        `${describeOrigin(node.origin)}: the file has no keys, it is one text: a key is written \`${key}: ${value}\``,
        node.origin,
      ),
    ];
  });

const GLOBAL = "_global_";

/** Whether a config at `global` has something of the root: an override of its choices, or one of its keys. */
const isMeantForRoot = (config: ChosenConfig, { root }: Files): boolean =>
  config.package === "global" &&
  packageOfGroup(config) !== "global" &&
  (config.defaults.some((item) => item.kind === "group" && item.override) ||
    keysOf(config.node).some((key) => keysOf(root).includes(key)));

/** Hydra looks for the header in so many characters. */
const LONGEST_HEADER = 512;

/** A line that may be meant as a header: `# @package PACKAGE`, with the `@` or without. */
const HEADER = /^[ \t]*#+[ \t]*(@?)[ \t]*([A-Za-z]\w*)[ \t]*:?[ \t]+([\w.]+)[ \t]*$/gm;

/** The keyword of the root that a package misspells: a key has seldom such a name. */
const nearestKeyword = (value: string): string | undefined =>
  /^_?\w+_?$/.test(value) && value !== GLOBAL && /^_|_$/.test(value) && value !== "_group_"
    ? nearest(value, [GLOBAL])
    : undefined;

/** `overide db: pg` in a defaults list: versions that do not refuse an unknown keyword ignore it. */
function ignoredKeywords(request: Files): readonly CompositionWarning[] {
  return request.configs.flatMap(({ defaults }) =>
    defaults.flatMap(({ origin }) => {
      const word = unknownKeyword(origin);
      if (word === undefined) return [];
      const place = describeOrigin(origin);
      return [
        note(
          `${place}: '${word}' has no meaning in a defaults list and is ignored: the keywords are \`optional\` and \`override\``,
          origin,
        ),
      ];
    }),
  );
}

/** The first word before the group of an item that is no keyword. */
function unknownKeyword(origin: Origin): string | undefined {
  if (origin.kind !== "file") return undefined;
  const written = origin.source.text.slice(origin.start, origin.end);
  const [, words = ""] = /^\{?\s*((?:\w+ +)+)[\w/.@-]+\s*:/.exec(written) ?? [];
  return words.split(" ").find((word) => word !== "" && !/^(?:optional|override)$/.test(word));
}

function namesOption(item: ConfigNode, repository: Repository): boolean {
  if (item.kind !== "map" || item.entries.size !== 1) return false;
  const [{ key, value } = { key: null, value: item }] = item.entries.values();
  return (
    typeof key === "string" &&
    value.kind === "scalar" &&
    optionsForHint(repository, key.replace(/^(?:(?:override|optional) +)*\/?/, "")).includes(
      String(value.value),
    )
  );
}

/** A key that a chosen option sets, that no other option of its group has, and that no interpolation names. */
function rareKeys({
  choices,
  repository,
  root,
  values,
}: TrapRequest): readonly CompositionWarning[] {
  const interpolations = interpolationsIn(root);
  const isNamed = (key: string): boolean =>
    values.some(({ keyOrGroup }) => keyOrGroup.split(".").includes(key)) ||
    interpolations.some((text) => text.split(/[^\w-]+/).includes(key));
  return [...choices].flatMap(([choice, option]) => {
    const [group = ""] = choice.split("@");
    if (option === null || group.startsWith("hydra/")) return [];
    const others = optionsForHint(repository, group).filter((name) => name !== option);
    const optionConfig = loadQuietly(`${group}/${option}`, repository);
    if (optionConfig === undefined || others.length === 0 || others.length > MOST_OPTIONS)
      return [];
    const otherKeys = new Set(
      others.flatMap((name) => keysOf(loadQuietly(`${group}/${name}`, repository)?.node)),
    );
    // An option that shares no key with the others is another kind of config.
    if (!keysOf(optionConfig.node).some((key) => otherKeys.has(key))) return [];
    return entriesOf(optionConfig.node)
      .filter(({ key }) => !otherKeys.has(String(key)) && !isNamed(String(key)))
      .map(({ key, value }) =>
        note(
          `${describeOrigin(value.origin)}: no other option of ${group} has '${String(key)}', and no interpolation names it: it may be misspelt`,
          value.origin,
        ),
      );
  });
}

/** Larger groups are not compared. */
const MOST_OPTIONS = 50;

const entriesOf = (node: ConfigNode | undefined) =>
  node?.kind === "map" ? [...node.entries.values()] : [];

const keysOf = (node: ConfigNode | undefined): readonly string[] =>
  entriesOf(node).map(({ key }) => String(key));

function interpolationsIn(node: ConfigNode): readonly string[] {
  if (node.kind === "list") return node.items.flatMap(interpolationsIn);
  if (node.kind === "map") return entriesOf(node).flatMap(({ value }) => interpolationsIn(value));
  return isInterpolationNode(node) ? [node.value] : [];
}

/** `app.part=b2` where `b2` is an option of the config group `app/part`: it sets a text in place of the config. */
function optionsAsValues({
  values,
  choices,
  repository,
}: TrapRequest): readonly CompositionWarning[] {
  return values.flatMap(({ keyOrGroup, origin, type, value }) => {
    if (type === "delete" || value?.kind !== "scalar" || typeof value.value !== "string") return [];
    const key = keysByPackage(choices).get(keyOrGroup);
    const [group = ""] = key?.split("@") ?? [];
    if (key === undefined || !optionsForHint(repository, group).includes(value.value)) return [];
    return [
      note(
        `${origin.text} sets ${keyOrGroup} to a text: to choose the option of the config group ${group}, use ${key}=${value.value}`,
        origin,
      ),
    ];
  });
}

/** `+experiments=small` where the group is `experiment`: it adds a key in place of the config. */
function misnamedGroups({ values, repository }: TrapRequest): readonly CompositionWarning[] {
  return values.flatMap(({ keyOrGroup, origin, type, value }) => {
    if (type !== "add" || value?.kind !== "scalar" || typeof value.value !== "string") return [];
    const option = value.value;
    const group = nearest(keyOrGroup, ownGroups(repository));
    if (group === undefined || !optionsForHint(repository, group).includes(option)) return [];
    return [
      note(
        `${origin.text} adds the key ${keyOrGroup} with a text: to add the option of the config group ${group}, use +${group}=${option}`,
        origin,
      ),
    ];
  });
}

/** Cached, because the jobs of a sweep share their tree. */
const ownGroups = (repository: Repository): readonly string[] =>
  getOrCreate(GROUPS, repository, () =>
    allGroups(repository).filter((group) => !group.startsWith("hydra/")),
  );

const GROUPS = new WeakMap<Repository, readonly string[]>();

/** `experiment=typo` where the entry of the group is optional: it chooses nothing, without an error. */
function optionsThatAreAbsent(request: TrapRequest): readonly CompositionWarning[] {
  const { choices, overrides, repository } = request;
  return overrides.flatMap((override) => {
    const { keyOrGroup: group, origin, type, value } = override;
    if (type === "delete" || value?.kind !== "scalar" || typeof value.value !== "string") return [];
    const { value: option } = value;
    if (!repository.groupExists(group) || repository.configExists(`${group}/${option}`)) return [];
    // Another override may have the last word, and what is chosen by an interpolation is another name.
    if (choices.get(overrideKeyOf(override)) !== option) return [];
    const options = optionsForHint(repository, group);
    const meant = nearest(option, options);
    const head = origin.text.slice(0, origin.text.indexOf("=") + 1);
    const remedy =
      meant === undefined
        ? `its options are ${firstFew(options, MOST_NAMED)}`
        : `use ${head}${meant}`;
    return [
      note(
        `${origin.text} chooses nothing: the config group ${group} has no option '${option}', and is optional here: ${remedy}`,
        origin,
      ),
    ];
  });
}

/** A note names so many options. */
const MOST_NAMED = 5;

/**
 * `seed=None` where the config has null, a number, a bool or a container: a text takes its place, and null was meant. Where it has a
 * text, `None` may be one of its names.
 */
function textsForNull({
  context,
  refusesNull,
  root,
  values,
}: TrapRequest): readonly CompositionWarning[] {
  return values.flatMap(({ keyOrGroup, origin, type, value }) => {
    if (type === "delete" || value?.kind !== "scalar" || value.quote !== undefined) return [];
    if (value.value !== NONE) return [];
    const path = splitKey(keyOrGroup, context.dialect);
    const node = valueBefore(root, path);
    if (node === undefined || (node.kind === "scalar" && typeof node.value === "string")) return [];
    // Null would be refused.
    if (node.type !== undefined && node.type.kind !== "any" && node.type.optional !== true)
      return [];
    if (refusesNull(path)) return [];
    const head = origin.text.slice(0, origin.text.lastIndexOf(NONE));
    return [note(`${origin.text} sets the text 'None': for null, use ${head}null`, origin)];
  });
}

/** What stands at a path, or stood there before an override. */
function valueBefore(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  const node = getAt(root, path);
  return node?.origin.kind === "override" ? node.replaced : node;
}

/** `seed: None` in a file: often a text that the program reads, too. */
function textsForNullIn(request: TrapRequest): readonly CompositionWarning[] {
  const find = (node: ConfigNode): readonly CompositionWarning[] => {
    if (node.kind === "list") return node.items.flatMap(find);
    if (node.kind === "map") return entriesOf(node).flatMap(({ value }) => find(value));
    const { origin, value } = node;
    if (value !== NONE || origin.kind !== "file") return [];
    if (origin.source.text.slice(origin.start, origin.end) !== NONE) return [];
    return [
      note(`${describeOrigin(origin)}: None is the text 'None': for null, write null`, origin),
    ];
  };
  return chosenConfigs(request).flatMap(({ node }) => find(node));
}

/** Null in Python. */
const NONE = "None";

/** The override keys by the packages of their options. Cached, because the jobs of a sweep share their choices. */
const keysByPackage = (choices: TrapRequest["choices"]): ReadonlyMap<string, string> =>
  getOrCreate(
    KEYS,
    choices,
    () => new Map([...choices.keys()].map((key) => [packageOf(key), key])),
  );

const KEYS = new WeakMap<TrapRequest["choices"], ReadonlyMap<string, string>>();

/** What a sweep reads once, before its jobs, in options that it sweeps over. */
function settingsInOptions(request: TrapRequest): readonly CompositionWarning[] {
  const { overrides, repository, optionsOf } = request;
  return overrides.flatMap((override) => {
    if (!isSweep(override) || !repository.groupExists(override.keyOrGroup)) return [];
    for (const text of optionsOf(override)) {
      const option = text.slice(text.indexOf("=") + 1);
      const loaded = loadQuietly(`${override.keyOrGroup}/${option}`, repository);
      const found = loaded && settingOfSweep(loaded);
      if (found !== undefined)
        return [
          note(
            `${describeOrigin(found.origin)}: ${found.setting} is read once, before the jobs, so it has no effect in an option that ${override.origin.text} sweeps over: choose that option alone, or set it elsewhere`,
            found.origin,
          ),
        ];
    }
    return [];
  });
}

/** The first setting of a config that only the sweep as a whole can have. */
function settingOfSweep(
  loaded: LoadedConfig,
): { readonly setting: string; readonly origin: Origin } | undefined {
  if (loaded.package !== "_global_") return undefined;
  const params = getAt(loaded.node, ["hydra", "sweeper", "params"]);
  if (params?.kind === "map" && params.entries.size > 0)
    return { setting: "hydra.sweeper.params", origin: params.origin };
  const item = loaded.defaults.find(
    (each) => each.kind === "group" && /^\/?hydra\/(launcher|sweeper)$/.test(each.group),
  );
  return item?.kind === "group"
    ? { setting: item.group.replace(/^\//, ""), origin: item.origin }
    : undefined;
}
