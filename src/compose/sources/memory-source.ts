import { fromObject } from "../../values/from-object.ts";
import type { ConfigNode } from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import type { ConfigSchema } from "../schemas/config-schema.ts";
import type { ConfigSource, ItemKind, SourceInfo } from "./config-source.ts";
import { yamlFileName } from "./file-name.ts";
import { configFromNode, configFromText } from "./load-config.ts";

/**
 * What a store in memory holds under a path: the text of a YAML file, a tree, plain data, or a
 * function that makes the tree when it is first asked for.
 */
export type MemoryEntry =
  | { readonly text: string }
  | {
      /** Called once, when the config is first asked for. */
      readonly create: () => ConfigNode;
      readonly package?: string;
    }
  | ({ readonly node: ConfigNode } & EntryOptions)
  | ({ readonly value: unknown } & EntryOptions);

/** Where a config of the store is mounted, and what it must fit. */
export interface EntryOptions {
  /** As a `# @package` header says it. */
  readonly package?: string;
  /**
   * What the composed tree must fit where the entry is mounted, whatever other configs and
   * overrides have made of it.
   */
  readonly schema?: ConfigSchema;
}

/**
 * Configs kept in memory: Hydra's own groups (`pkg://hydra.conf`), a config store
 * (`structured://`), or a whole tree in a test.
 *
 * @param entries by config path without extension, e.g. `db/mysql`.
 */
export function memorySource(
  info: SourceInfo,
  entries: ReadonlyMap<string, MemoryEntry>,
): ConfigSource {
  const groups = groupsOf(entries.keys());

  return {
    ...info,
    available: () => true,
    isGroup: (path) => groups.has(normalize(path)),
    load(path) {
      const name = withoutExtension(normalize(path));
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      const address = `${info.scheme}://${info.path}/${name}`;
      if ("text" in entry)
        return configFromText(path, { name: yamlFileName(address), text: entry.text }, info);
      const config = configFromNode(path, treeOf(entry, address), info, entry.package ?? null);
      return "schema" in entry && entry.schema !== undefined
        ? { ...config, schema: entry.schema }
        : config;
    },
    list: (group, kind) => childrenOf(normalize(group), kind, groups, entries.keys()),
  };
}

function treeOf(entry: Exclude<MemoryEntry, { text: string }>, address: string): ConfigNode {
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

/**
 * A file system would take `a//b/../c` for `a/c`; a store does the same. What leads out of it is in
 * neither.
 */
function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/"))
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  return parts.join("/");
}

const withoutExtension = (path: string): string =>
  path.endsWith(".yaml") ? path.slice(0, -".yaml".length) : path;
