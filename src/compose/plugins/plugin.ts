import {
  listOf,
  type OptionCheck,
  optional,
  recordOf,
  shape,
  text,
} from "../../values/check-options.ts";
import { type ConfigNode, child } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import type { ConfigSource } from "../sources/config-source.ts";
import { memorySource, type StoreEntry, storeEntry } from "../sources/memory-source.ts";

/**
 * What an installed plugin adds to Hydra, as data: groups of configs, and what is to be said where
 * its class cannot be launched. An engine has the plugins it was made with and no others.
 */
export interface Plugin {
  readonly name: string;
  /** YAML files on the search path, after the primary config's own directory. */
  readonly files?: PluginFiles;
  /** Typed configs in the config store, by config path: `hydra/launcher/joblib`. */
  readonly store?: Readonly<Record<string, StoreEntry>>;
  /** Classes that configs name in `_target_` and that nothing here can stand in for. */
  readonly refusals?: readonly LaunchRefusal[];
}

/** Config files that a plugin brings, as texts. */
export interface PluginFiles {
  /** Who puts them on the search path, and where they stand there after `pkg://`. */
  readonly provider: string;
  readonly path: string;
  /** The texts by config path: `hydra/job_logging/colorlog`. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A launcher or sweeper that can be configured, and not run. */
export interface LaunchRefusal {
  /** `hydra.launcher._target_` or `hydra.sweeper._target_`. */
  readonly className: string;
  /** Why it does not launch, and what to use instead. */
  readonly reason: string;
}

/** What adds config groups. */
export const plugins: OptionCheck = listOf(
  "plugins",
  shape<Plugin>({
    name: text,
    files: optional(shape<PluginFiles>({ provider: text, path: text, texts: recordOf(text) })),
    store: optional(recordOf(storeEntry)),
    refusals: optional(listOf("refusals", shape<LaunchRefusal>({ className: text, reason: text }))),
  }),
  "[...STANDARD_PLUGINS, mine]",
);

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
