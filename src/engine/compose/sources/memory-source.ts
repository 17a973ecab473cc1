/** Sources in memory: Hydra's own groups, a program's config store, or a whole tree given as data. */
import {
  anything,
  checkObject,
  checkOptions,
  fn,
  mapOf,
  type OptionCheck,
  type OptionChecks,
  optional,
  schemaOption,
  shape,
  text,
  trueOrFalse,
  wrongArgument,
} from "../../values/check-options.ts";
import type { ConfigSchema } from "../../values/config-schema.ts";
import { DEFAULT_DIALECT } from "../../values/dialect.ts";
import type { ConfigNode } from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import { fromObject } from "../../values/plain-objects.ts";
import type { Reading } from "../../values/yaml/reader.ts";
import {
  type ConfigSource,
  type ItemKind,
  refuseYml,
  type SourceInfo,
  yamlFileName,
} from "./config-source.ts";
import { configFromNode, configFromText } from "./load-config.ts";

/**
 * An entry of a store in memory: the text of a YAML file, a tree, plain data, or a function that creates the tree when
 * it is first needed.
 */
export type StoreEntry =
  | { readonly text: string }
  | {
      /** Called once, when the config is first needed. */
      readonly create: () => ConfigNode;
      readonly package?: string;
      /** A file of the same path that names another class replaces this entry, and is not checked against it. */
      readonly replaceable?: boolean;
    }
  | ({ readonly node: ConfigNode } & StoreEntryOptions)
  | ({ readonly value: unknown } & StoreEntryOptions);

/** The place of a store entry in the tree, and its schema. */
export interface StoreEntryOptions {
  /** The package, as in a `# @package` header. */
  readonly package?: string;
  /** The schema of the composed tree at the entry's place, including other configs and overrides. */
  readonly schema?: ConfigSchema;
}

const SOURCE_INFO: OptionChecks<SourceInfo> = { scheme: text, path: text, provider: text };

/**
 * Configs kept in memory: Hydra's own groups (`pkg://hydra.conf`), a config store
 * (`structured://`), or a whole tree in a test.
 *
 * @param entries by config path without extension, e.g. `db/mysql`.
 * @param reading how texts are read
 * @throws ConfigError `value.wrong_type` for entries that the types do not allow
 */
export function memorySource(
  info: SourceInfo,
  entries: ReadonlyMap<string, StoreEntry>,
  reading?: Reading,
): ConfigSource {
  checkOptions("memorySource", info, SOURCE_INFO);
  configStore("memorySource", "the entries", entries);
  const groups = groupsOf(entries.keys());
  const dialect = reading?.dialect ?? DEFAULT_DIALECT;
  const normalize = info.scheme === "structured" ? asInStore : asInFiles;

  return {
    ...info,
    available: () => true,
    isGroup: (path) => groups.has(normalize(path) ?? NOWHERE),
    load(path) {
      refuseYml(path, dialect);
      const name = withoutExtension(normalize(path) ?? NOWHERE);
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      const address = `${info.scheme}://${info.path}/${name}`;
      if ("text" in entry)
        return configFromText(
          path,
          { name: yamlFileName(address, reading?.dialect), text: entry.text },
          info,
          reading,
        );
      const header = entry.package ?? null;
      const config = configFromNode(path, treeOf(entry, address), info, header, dialect);
      if ("replaceable" in entry && entry.replaceable === true)
        return { ...config, replaceable: true };
      return "schema" in entry && entry.schema !== undefined
        ? { ...config, schema: entry.schema }
        : config;
    },
    list: (group, kind) => childrenOf(normalize(group) ?? NOWHERE, kind, groups, entries.keys()),
  };
}

/** The tree of an entry. */
export function treeOf(entry: Exclude<StoreEntry, { text: string }>, address: string): ConfigNode {
  if ("node" in entry) return entry.node;
  return "create" in entry ? entry.create() : fromObject(entry.value, fromCode(address));
}

function groupsOf(paths: Iterable<string>): ReadonlySet<string> {
  const groups = new Set([""]);
  for (const path of paths)
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      groups.add(path.slice(0, end));
  return groups;
}

function childrenOf(
  group: string,
  kind: ItemKind,
  groups: ReadonlySet<string>,
  paths: Iterable<string>,
): string[] {
  const prefix = group === "" ? "" : `${group}/`;
  return [...(kind === "group" ? groups : paths)]
    .filter((path) => path !== "" && path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
    .filter((name) => !name.includes("/"));
}

/** A path that no entry has. */
const NOWHERE = "..";

/**
 * Normalizes `a//b/../c` to `a/c`, as a file system does. The source ends at its root: a path that leads out of it, or
 * an absolute one, has no entry.
 */
function asInFiles(path: string): string | undefined {
  if (path.startsWith("/")) return undefined;
  const parts: string[] = [];
  for (const part of path.split("/"))
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  return parts.join("/");
}

/** In Hydra's config store `.` and `..` are ordinary names; only empty parts are ignored. */
const asInStore = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "")
    .join("/");

const withoutExtension = (path: string): string =>
  path.endsWith(".yaml") ? path.slice(0, -".yaml".length) : path;

/** An entry of a store: a text, a tree, data, or a function that creates a tree. */
export const storeEntry: OptionCheck = (by, name, value) => {
  checkObject(by, name, value, HINT);
  MEMBERS(by, name, value);
  if (!["text", "create", "node", "value"].some((member) => member in value))
    throw wrongArgument(by, name, "an entry of a store", value, HINT);
};

const HINT =
  'give the config of an entry as one of: { value: data }, { text: "yaml" }, { node: tree }, { create: () => tree }';

const MEMBERS = shape({
  text: optional(text),
  create: optional(fn),
  node: anything,
  value: anything,
  package: optional(text),
  replaceable: optional(trueOrFalse),
  schema: optional(schemaOption),
});

export const configStore: OptionCheck = mapOf("configs", storeEntry);
