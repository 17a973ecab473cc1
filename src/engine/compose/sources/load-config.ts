/** Makes a config of the text of a file: its header, its defaults list, its tree. */
import { DEFAULT_DIALECT, type Dialect } from "../../values/dialect.ts";
import { ConfigError } from "../../values/errors.ts";
import { isInterpolationNode } from "../../values/interpolation/interpolation-parser.ts";
import {
  type ConfigNode,
  isMissing,
  type MapEntry,
  type MapNode,
  map,
  withoutEntry,
} from "../../values/node.ts";
import type { SourceText } from "../../values/origin.ts";
import { pyRepr, pyStr, pyTypeName } from "../../values/python-text.ts";
import { createResolution } from "../../values/resolution/evaluate-interpolation.ts";
import { findPlace } from "../../values/resolution/select.ts";
import { createConfig, type Reading, readYaml } from "../../values/yaml/reader.ts";
import {
  type DefaultsItem,
  type GroupItem,
  type GroupValue,
  type LoadedConfig,
  SELF,
  type SourceInfo,
} from "./config-source.ts";

const DEFAULTS = "defaults";

/**
 * Makes a config of the text of a YAML file.
 *
 * @throws ConfigError `compose.invalid_config` for a bad header, which is checked first, or a file that contains only a
 *   number or boolean, `yaml.*` for bad YAML, `compose.invalid_defaults` for a bad defaults list.
 */
export function configFromText(
  path: string,
  text: SourceText,
  source: SourceInfo,
  reading?: Reading,
): LoadedConfig {
  const header = packageHeader(text);
  return configFromNode(path, readFileNode(text, reading), source, header, reading?.dialect);
}

/** Makes a config of a tree: a store entry, or a file that has been read. */
export function configFromNode(
  path: string,
  node: ConfigNode,
  source: SourceInfo,
  header: string | null,
  dialect: Dialect = DEFAULT_DIALECT,
): LoadedConfig {
  return {
    source: { scheme: source.scheme, path: source.path, provider: source.provider },
    node: node.kind === "map" && node.entries.has(DEFAULTS) ? withoutDefaults(node) : node,
    package: header,
    ...readDefaults(path, node, dialect),
    origin: node.origin,
  };
}

function readDefaults(
  path: string,
  node: ConfigNode,
  dialect: Dialect,
): Pick<LoadedConfig, "defaults" | "givenDefaults"> {
  const written = node.kind === "map" ? node.entries.get(DEFAULTS)?.value : undefined;
  // A missing list counts as no list.
  if (written === undefined || isMissing(written)) return { defaults: [] };
  if (!isInterpolationNode(written)) return { defaults: readDefaultsItems(path, written, dialect) };
  return {
    defaults: [],
    givenDefaults(resolvers) {
      const selected = findPlace(createResolution(node, resolvers), DEFAULTS, {});
      if (selected?.result === true && selected.node.kind === "list")
        throw plainList(path, written);
      return readDefaultsItems(path, selected?.node ?? written, dialect);
    },
  };
}

/** Hydra accepts only lists that are part of a config, and no plain lists of resolvers. */
const plainList = (path: string, { origin }: ConfigNode): ConfigError =>
  new ConfigError({
    code: "compose.invalid_defaults",
    message: `Invalid defaults list in '${path}', defaults must be a list (got list)`,
    origin,
    hint: "what a resolver gives is plain data; oc.create makes a list of the config of it: ${oc.create:${...}}",
  });

/** A file may contain a map, a list, nothing, or a string, which is read again as a document. */
function readFileNode({ name, text }: SourceText, reading: Reading = {}): ConfigNode {
  const options = { ...reading, name };
  const node = readYaml(text, options);
  if (node.kind !== "scalar") return node;
  if (node.value === null) return map([], node.origin);
  if (typeof node.value === "string") return createConfig(node.value, options);
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `Invalid loaded object type: ${pyTypeName(node.value)}`,
    origin: node.origin,
    hint: "a config file holds a mapping (`key: value`)",
  });
}

/** A defaults list that is a field of a type is removed after all configs are merged (`hydra/hydra-schema.ts`). */
function withoutDefaults(node: MapNode): MapNode {
  if (node.type?.kind === "object" && node.type.fields.has(DEFAULTS)) return node;
  const entries = new Map(node.entries);
  entries.delete(DEFAULTS);
  return { ...node, entries };
}

/** Hydra searches for the header in the first characters of a file only, and counts one for each end of a line. */
const HEADER_LIMIT = 512;

/** The line ends of Python's `str.splitlines`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python counts these separators as line ends
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/u;

/** Leading and trailing blanks by Python's `str.strip` (a BOM is not one). */
const BLANK = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const BLANKS = new RegExp(`${BLANK}+`, "u");
const OUTER_BLANKS = new RegExp(`^${BLANK}+|${BLANK}+$`, "gu");

const HEADER_LINE = /^#\s*@/u;

/**
 * The value of the `# @package` line at the top of a config file. Blank lines and other `# @key value` lines may
 * surround it; the scan ends at the first line of any other kind, so an ordinary comment before the header disables it.
 * The last of several wins.
 * @throws ConfigError `compose.invalid_config` for a header line that is not KEY VALUE.
 * @see https://hydra.cc/docs/1.3/advanced/overriding_packages/
 */
export function packageHeader(source: SourceText): string | null {
  let found: string | null = null;
  for (const raw of headOf(source.text).split(LINE_END)) {
    const line = strip(raw);
    if (line === "") continue;
    if (!HEADER_LINE.test(line)) break;
    const [key, value] = keyAndValue(strip(line.replace(/^#+/u, "")), source);
    if (key === "@package") found = value;
  }
  return found;
}

/** A character in Python is one or two UTF-16 units here. */
function headOf(text: string): string {
  const units = text.slice(0, 2 * HEADER_LIMIT).replaceAll(/\r\n?/g, "\n");
  const head = units.slice(0, HEADER_LIMIT);
  return HALF_OF_PAIR.test(head) ? [...units].slice(0, HEADER_LIMIT).join("") : head;
}

const HALF_OF_PAIR = /[\ud800-\udfff]/;

function keyAndValue(header: string, source: SourceText): readonly [string, string] {
  const [key, value, ...rest] = header.split(" ").filter((part) => part !== "");
  if (key === undefined || value === undefined)
    throw malformed(`Expected header format: KEY VALUE, got '${header}'`, header, source);
  if (rest.length > 0) throw malformed(`Too many components in '${header}'`, header, source);
  return [strip(key), strip(value)];
}

function malformed(message: string, header: string, source: SourceText): ConfigError {
  const start = source.text.indexOf(header);
  return new ConfigError({
    code: "compose.invalid_config",
    message,
    origin: { kind: "file", source, start, end: start + header.length },
    hint: "write the header as `# @package PACKAGE` on a line of its own",
  });
}

const strip = (text: string): string => text.replace(OUTER_BLANKS, "");

const KEYWORDS: ReadonlySet<string> = new Set(["optional", "override"]);

/**
 * Reads the `defaults` entry of a config as written, without resolving where its items lead.
 *
 * @param configPath path of the config that contains the list, for messages.
 * @throws ConfigError `compose.invalid_defaults` at the offending item.
 * @see https://hydra.cc/docs/1.3/advanced/defaults_list/
 */
export function readDefaultsItems(
  configPath: string,
  defaults: ConfigNode,
  dialect: Dialect = DEFAULT_DIALECT,
): DefaultsItem[] {
  if (defaults.kind !== "list")
    throw invalid(
      `Invalid defaults list in '${configPath}', defaults must be a list (got ${defaults.kind === "map" ? "mapping" : pyTypeName(defaults.value)})`,
      defaults,
      listHint(defaults),
    );
  return defaults.items.map((item) => readItem(configPath, item, dialect));
}

function readItem(configPath: string, item: ConfigNode, dialect: Dialect): DefaultsItem {
  if (item.kind === "map") return readGroupItem(configPath, item, dialect);
  if (item.kind === "list" || typeof item.value !== "string")
    throw invalid(
      `Unsupported type in defaults : ${pyTypeName(item)}`,
      item,
      "an item is a config name, `group: option` or `_self_`; quote a name that looks like a number",
    );
  return readConfigItem(configPath, item.value, item, dialect);
}

function readConfigItem(
  configPath: string,
  text: string,
  node: ConfigNode,
  dialect: Dialect,
): DefaultsItem {
  const { name, package: pkg } = splitPackage(text);
  if (name !== SELF)
    return {
      kind: "config",
      path: name,
      package: pkg,
      optional: false,
      origin: node.origin,
      ...deprecated(nameInPackage(configPath, pkg, dialect)),
    };
  if (pkg !== null)
    throw invalid(
      "_self_@PACKAGE is not supported",
      node,
      "give the whole file a package with a `# @package` header",
    );
  return { kind: "self", origin: node.origin, group: null };
}

function readGroupItem(configPath: string, written: MapNode, dialect: Dialect): DefaultsItem {
  const { item, optional: optionalNode } = dialect.optionalEntry
    ? takeOptional(written)
    : { item: written };
  const [entry, ...more] = item.entries.values();
  if (entry === undefined)
    throw invalid(`In ${configPath}: Missing group name in {}`, item, "write `group: option`");
  if (more.length > 0)
    throw invalid(
      `In ${configPath}: Too many keys in default item ${pyRepr(item)}`,
      item,
      severalKeysHint([...item.entries.values()]),
    );
  if (typeof entry.key !== "string")
    throw invalid(
      `In ${configPath}: the group name in ${pyRepr(item)} must be a string`,
      item,
      "quote the name of the config group",
    );

  const { name, package: pkg } = splitPackage(entry.key);
  const { group, optional, override } = dialect.refusesKeywords
    ? splitKnownKeywords(name, configPath, item)
    : splitKeywords(name);
  const value = readValue(entry.value, group);
  const notes = deprecated([
    ...(optionalNode === undefined ? [] : [optionalEntry(configPath, entry.key, entry.value)]),
    ...nameInPackage(configPath, pkg, dialect),
  ]);
  if (group === "") {
    const [, place, packageName] = /^(.*\S)\s*@\s*(\S.*)$/.exec(entry.key) ?? [];
    const hint =
      place === undefined
        ? "name a group"
        : `write \`${place}@${packageName}: ${pyStr(entry.value)}\``;
    throw invalid(`In ${configPath}: Missing group name in ${pyRepr(item)}`, item, hint);
  }
  const { origin } = item;
  const isLiteral = entry.value.kind === "scalar" && entry.value.literal === true;
  const common = {
    kind: "group",
    package: pkg,
    override,
    appended: false,
    ...(isLiteral && { literal: true as const }),
    origin,
  } as const;
  const isOptional = optional || isTruthy(optionalNode);
  const read = moveIntoGroup({ ...common, group, value, optional: isOptional }, dialect);
  return read.value === SELF
    ? { kind: "self", origin, group: read.group, ...notes }
    : { ...read, ...notes };
}

/** Rewrites `a: b/c` as `a/b: c` if the dialect demands it. */
export function moveIntoGroup(item: GroupItem, dialect: Dialect): GroupItem {
  const { group, value } = item;
  if (!dialect.slashInGroup || typeof value !== "string" || value.includes("${")) return item;
  const parts = value.split("/");
  const option = parts.pop() ?? value;
  if (parts.length === 0 || value.split("/").includes("..")) return item;
  return { ...item, group: [group, ...parts].join("/"), value: option, shorthandOf: group };
}

const OPTIONAL = "optional";

/**
 * `- {db: mysql, optional: true}`: the item, and the value of `optional`. An item with `optional` alone names a group
 * `optional`.
 */
function takeOptional(item: MapNode): { readonly item: MapNode; readonly optional?: ConfigNode } {
  const optional = item.entries.get(OPTIONAL)?.value;
  if (optional === undefined || item.entries.size === 1) return { item };
  const rest = withoutEntry(item, OPTIONAL);
  return optional.kind === "scalar" && optional.value === null
    ? { item: rest }
    : { item: rest, optional };
}

/** Python's truth value. */
const isTruthy = (node: ConfigNode | undefined): boolean =>
  node !== undefined &&
  (node.kind === "scalar"
    ? Boolean(node.value)
    : node.kind === "list"
      ? node.items.length > 0
      : node.entries.size > 0);

const optionalEntry = (configPath: string, key: string, value: ConfigNode): string =>
  `\nIn ${configPath}: 'optional: true' is deprecated.\n` +
  `Use 'optional ${key}: ${pyStr(value)}' instead.\n` +
  "Support for the old style is removed for Hydra version_base >= 1.2";

const nameInPackage = (
  configPath: string,
  pkg: string | null,
  { packageKeywords }: Dialect,
): readonly string[] =>
  packageKeywords && pkg?.includes("_name_")
    ? [
        `In ${configPath}: Defaults List contains deprecated keyword _name_, ` +
          "see https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_package_header\n",
      ]
    : [];

const deprecated = (texts: readonly string[]): Pick<DefaultsItem, "deprecations"> =>
  texts.length === 0 ? {} : { deprecations: texts };

function readValue(node: ConfigNode, group: string): GroupValue {
  if (node.kind === "list") return node.items.map(readOption);
  if (node.kind === "scalar" && (node.value === null || typeof node.value === "string"))
    return node.value;
  throw invalid(
    `Unsupported item value in defaults : ${containerType(node)}. Supported: string or list`,
    node,
    group === SELF
      ? `write \`${SELF}\``
      : node.kind === "map"
        ? "an option is a name, and a group is written with its path, such as `override hydra/launcher: joblib`"
        : "quote the option if its name looks like a number or a boolean",
  );
}

function readOption(node: ConfigNode): string {
  if (node.kind === "scalar" && typeof node.value === "string") return node.value;
  throw invalid(
    `Unsupported item value in defaults : ${containerType(node)}, nested list items must be strings`,
    node,
    "a list selects several options of the config group by name",
  );
}

/** `group@package`. Hydra 1.0 had renames (`group@from:to`); the part after the colon is dropped. */
function splitPackage(text: string): { readonly name: string; readonly package: string | null } {
  const index = text.indexOf("@");
  if (index === -1) return { name: text, package: null };
  const [pkg = ""] = text.slice(index + 1).split(":", 1);
  return { name: text.slice(0, index), package: pkg === "_here_" ? "" : pkg };
}

/** How a defaults list that is none is written as one. */
function listHint(defaults: Exclude<ConfigNode, { readonly kind: "list" }>): string {
  if (defaults.kind === "map" && defaults.entries.size > 0) {
    const entries = [...defaults.entries.values()];
    const lacks = entries.every(({ key }) => GLUED_DASH.test(String(key)))
      ? "a blank behind each dash"
      : "a dash before each item";
    return `write it as a list, with ${lacks}: ${itemsOf(entries)}`;
  }
  if (defaults.kind === "scalar" && typeof defaults.value === "string")
    return `write \`defaults: [${defaults.value}]\``;
  const { origin } = defaults;
  const rest = origin.kind === "file" ? origin.source.text.slice(origin.end) : "";
  const [, glued] = /^:?\s*-(\w.*)/.exec(rest) ?? [];
  return glued === undefined
    ? "write it as a list, e.g. `defaults: [_self_, {db: mysql}]`"
    : `a blank follows the dash: \`- ${glued}\``;
}

/** `-db: mysql`, whose key is `-db`. */
const GLUED_DASH = /^-(?=\w)/;

const itemsOf = (entries: readonly MapEntry[]): string =>
  entries
    .map(({ key, value }) => {
      const isNull = value.kind === "scalar" && value.value === null;
      return key === SELF
        ? `\`- ${SELF}\``
        : `\`- ${String(key).replace(GLUED_DASH, "")}: ${isNull ? "null" : pyStr(value)}\``;
    })
    .join(", ");

/** Each group is an item; `optional: true` beside one is from older versions. */
function severalKeysHint(entries: readonly MapEntry[]): string {
  if (entries.some(({ key }) => key === "optional"))
    return "write `optional` before the group (`optional db: mysql`), and each group as a separate item";
  return `each group is an item on a line of its own: ${itemsOf(entries)}`;
}

function splitKeywords(text: string) {
  const words = text.split(" ");
  const group = words.pop() ?? "";
  const end = words.findIndex((word) => !KEYWORDS.has(word));
  const keywords = end === -1 ? words : words.slice(0, end);
  return {
    group,
    optional: keywords.includes("optional"),
    override: keywords.includes("override"),
  };
}

/** Splits at any number of blanks; the words before the group must be keywords. */
function splitKnownKeywords(text: string, configPath: string, item: MapNode) {
  const words = strip(text).split(BLANKS);
  const group = words.pop() ?? "";
  if (group === "")
    throw invalid(`In ${configPath}: Missing group name in defaults list`, item, "name a group");
  const unknown = words.find((word) => !KEYWORDS.has(word));
  if (unknown !== undefined)
    throw invalid(
      `In ${configPath}: Unsupported keyword '${unknown}' in defaults list`,
      item,
      "the keywords are `optional` and `override`",
    );
  const [optional, override] = [words.includes("optional"), words.includes("override")];
  if (optional && override)
    throw invalid(
      `In ${configPath}: 'optional' and 'override' keywords cannot be combined in defaults list`,
      item,
      "an override changes the option of a group that another list has: write `optional` there",
    );
  return { group, optional, override };
}

const containerType = (node: ConfigNode): string =>
  node.kind === "map" ? "dict" : node.kind === "list" ? "list" : pyTypeName(node.value);

function invalid(message: string, node: ConfigNode, hint: string): ConfigError {
  return new ConfigError({
    code: "compose.invalid_defaults",
    message,
    origin: node.origin,
    hint,
  });
}
