import { type ConfigNode, child } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import type { ConfigSource } from "../sources/config-source.ts";
import type { StoreEntry } from "../sources/memory-source.ts";
import { memorySource } from "../sources/memory-source.ts";
import type { LaunchRefusal, Plugin } from "./plugin.ts";

/** What plugins add to a search path. */
export interface PluginGroups {
  /** They stand between the primary config's directory and what the user adds. */
  readonly sources: readonly ConfigSource[];
  /** They come before the entries of a user's own config store, which win. */
  readonly store: ReadonlyMap<string, StoreEntry>;
}

/** Nothing is read or built here: only the names are known until a config is asked for. */
export function pluginGroups(plugins: readonly Plugin[]): PluginGroups {
  return {
    sources: plugins.flatMap(({ files }) => {
      if (files === undefined) return [];
      const { provider, path, texts } = files;
      const entries = Object.entries(texts).map(([name, text]) => [name, { text }] as const);
      return [memorySource({ scheme: "pkg", path, provider }, new Map(entries))];
    }),
    store: new Map(
      plugins.flatMap(({ store = {} }) =>
        Object.entries(store).map(([path, entry]) => [path, namedAfter(path, entry)] as const),
      ),
    ),
  };
}

/** A default is explained by the config that it stands in, `schema hydra/launcher/joblib`. */
function namedAfter(path: string, entry: StoreEntry): StoreEntry {
  if (!("create" in entry)) return entry;
  const origin: Origin = { kind: "schema", schema: path };
  return { ...entry, create: () => withOrigin(entry.create(), origin) };
}

function withOrigin(node: ConfigNode, origin: Origin): ConfigNode {
  switch (node.kind) {
    case "scalar":
      return { ...node, origin };
    case "list":
      return { ...node, origin, items: node.items.map((item) => withOrigin(item, origin)) };
    default: {
      const entries = [...node.entries].map(
        ([id, { key, value }]) => [id, { key, value: withOrigin(value, origin) }] as const,
      );
      return { ...node, origin, entries: new Map(entries) };
    }
  }
}

/** The class that a typed config of a plugin names; undefined for any other path. */
export function optionTarget(plugins: readonly Plugin[], path: string): string | undefined {
  for (const { store } of plugins) {
    const entry = store?.[path];
    const node = entry !== undefined && "create" in entry ? entry.create() : undefined;
    const target = node?.kind === "map" ? child(node, "_target_") : undefined;
    if (target?.kind === "scalar" && typeof target.value === "string") return target.value;
  }
  return undefined;
}

/** What a plugin says of a class that cannot be launched; undefined for all others. */
export const launchRefusal = (
  plugins: readonly Plugin[],
  className: string,
): LaunchRefusal | undefined =>
  plugins
    .flatMap(({ refusals = [] }) => refusals)
    .find((refusal) => refusal.className === className);
