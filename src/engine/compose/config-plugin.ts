/** What plugins add to a composition: configs, resolvers and kinds of sources, without clashes of names. */
import {
  checkedAsRegistered,
  fn,
  listOf,
  mapOf,
  type OptionChecks,
  optional,
  recordOf,
  shape,
  text,
} from "../values/check-options.ts";
import type { Dialect } from "../values/dialect.ts";
import { ConfigError } from "../values/errors.ts";
import { type ConfigNode, child } from "../values/node.ts";
import type { Origin } from "../values/origin.ts";
import type { Resolver } from "../values/resolution/resolver.ts";
import { type ConfigLayer, configLayers } from "./layers/layer.ts";
import type { ConfigSource } from "./sources/config-source.ts";
import { memorySource, type StoreEntry, storeEntry } from "./sources/memory-source.ts";
import type { SourceFactory } from "./sources/repository.ts";

/** The part of a plugin that takes part in composition, as data. An engine has only the plugins it was created with. */
export interface ConfigPlugin {
  /** A unique name for messages, for example that of its package. */
  readonly name: string;
  /** Entries of the config store, by config path: `hydra/launcher/joblib`. */
  readonly configs?: Readonly<Record<string, StoreEntry>>;
  /** YAML files on the search path, after the primary config's own directory. */
  readonly files?: PluginFiles;
  /** Configs and files that replace those of the same path from Hydra 1.4 on, or are new in it. */
  readonly newer?: Pick<ConfigPlugin, "configs" | "files">;
  /** Resolvers for `${name:...}`; `resolver()` turns a function into one. */
  readonly resolvers?: readonly Resolver[];
  /** Further kinds of sources for search paths, by scheme: `git://`. */
  readonly configSources?: ReadonlyMap<string, SourceFactory>;
  /** Layers of values over config files, before those of the program. */
  readonly layers?: readonly ConfigLayer[];
  /** Classes in `_target_` of configs that have no counterpart here. */
  readonly refusals?: readonly LaunchRefusal[];
}

/** Config files of a plugin, as texts. */
export interface PluginFiles {
  /** Their provider and path (after `pkg://`) in the search path. */
  readonly provider: string;
  readonly path: string;
  /** The texts by config path: `hydra/job_logging/colorlog`. */
  readonly texts: Readonly<Record<string, string>>;
}

/** A launcher or sweeper that can be configured, but not run. */
export interface LaunchRefusal {
  /** `hydra.launcher._target_` or `hydra.sweeper._target_`. */
  readonly className: string;
  /** The reason, and what to use instead. */
  readonly reason: string;
}

const STORED: OptionChecks<Pick<ConfigPlugin, "configs" | "files">> = {
  configs: optional(recordOf(storeEntry)),
  files: optional(shape<PluginFiles>({ provider: text, path: text, texts: recordOf(text) })),
};

/** The checks of a plugin's members. */
export const CONFIG_PLUGIN: OptionChecks<ConfigPlugin> = {
  name: text,
  ...STORED,
  newer: optional(shape<NonNullable<ConfigPlugin["newer"]>>(STORED)),
  resolvers: checkedAsRegistered,
  configSources: optional(mapOf("functions", fn)),
  layers: configLayers,
  refusals: optional(listOf("refusals", shape<LaunchRefusal>({ className: text, reason: text }))),
};

/** What plugins add to a search path. */
export interface PluginGroups {
  /** Searched after the primary config's directory, and before the directories that the user adds. */
  readonly sources: readonly ConfigSource[];
  /** A user's own store entries override them. */
  readonly store: ReadonlyMap<string, StoreEntry>;
  readonly factories: ReadonlyMap<string, SourceFactory>;
}

/** Nothing is read or built here: only names are known until a config is loaded. */
export function pluginGroups(all: readonly ConfigPlugin[], dialect: Dialect): PluginGroups {
  const plugins = all.map((plugin) => asIn(plugin, dialect));
  return {
    sources: plugins.flatMap(({ files }) => {
      if (files === undefined) return [];
      const { provider, path, texts } = files;
      const entries = Object.entries(texts).map(([name, text]) => [name, { text }] as const);
      return [memorySource({ scheme: "pkg", path, provider }, new Map(entries))];
    }),
    store: new Map(
      plugins.flatMap(({ configs = {} }) =>
        Object.entries(configs).map(([path, entry]) => [path, namedAfter(path, entry)] as const),
      ),
    ),
    factories: new Map(plugins.flatMap(({ configSources = [] }) => [...configSources])),
  };
}

/** A plugin with its configs and files for a dialect. */
function asIn(plugin: ConfigPlugin, { newerPlugins }: Dialect): ConfigPlugin {
  const { configs, files, newer } = plugin;
  if (newer === undefined || !newerPlugins) return plugin;
  const texts = { ...files?.texts, ...newer.files?.texts };
  const origin = newer.files ?? files;
  return {
    ...plugin,
    configs: { ...configs, ...newer.configs },
    ...(origin !== undefined && { files: { ...origin, texts } }),
  };
}

/** The resolvers of all plugins. */
export const pluginResolvers = (plugins: readonly ConfigPlugin[]): readonly Resolver[] =>
  plugins.flatMap(({ resolvers = [] }) => resolvers);

/** The layers of all plugins. */
export const pluginLayers = (plugins: readonly ConfigPlugin[]): readonly ConfigLayer[] =>
  plugins.flatMap(({ layers = [] }) => layers);

/**
 * Refuses plugins that add different things under the same name.
 * @throws ConfigError `plugin.clash`
 */
export function refuseClashes(plugins: readonly ConfigPlugin[]): void {
  const claims = createClaims();
  for (const { configSources, configs, files, name, newer, resolvers = [] } of plugins) {
    claims.take("name", name, name);
    const stored = { ...configs, ...newer?.configs, ...files?.texts, ...newer?.files?.texts };
    for (const path of Object.keys(stored)) claims.take("config", path, name);
    for (const resolver of resolvers) claims.take("resolver", resolver.name, name);
    for (const scheme of configSources?.keys() ?? []) claims.take("config source", scheme, name);
  }
}

/** Records the owner of each name. */
export function createClaims() {
  const owners = new Map<string, string>();
  return {
    /** @throws ConfigError `plugin.clash` if another plugin has the name */
    take(what: string, name: string, plugin: string): void {
      const id = `${what} ${name}`;
      const other = owners.get(id);
      if (other !== undefined)
        throw new ConfigError({
          code: "plugin.clash",
          message:
            what === "name"
              ? `Two plugins have the name '${name}'`
              : `The plugins '${other}' and '${plugin}' both provide the ${what} '${name}'`,
          hint: "use only one of them, or rename what one of them provides",
        });
      owners.set(id, plugin);
    },
  };
}

/** Origins of its defaults name the config they belong to, `schema hydra/launcher/joblib`. */
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

/** The class that a typed config of a plugin names; undefined for other paths. */
export function optionTarget(plugins: readonly ConfigPlugin[], path: string): string | undefined {
  for (const { configs } of plugins) {
    const entry = configs?.[path];
    const node = entry !== undefined && "create" in entry ? entry.create() : undefined;
    const target = node?.kind === "map" ? child(node, "_target_") : undefined;
    if (target?.kind === "scalar" && typeof target.value === "string") return target.value;
  }
  return undefined;
}

/** The refusal of a class that cannot be launched; undefined for other classes. */
export const launchRefusal = (
  plugins: readonly ConfigPlugin[],
  className: string,
): LaunchRefusal | undefined =>
  plugins
    .flatMap(({ refusals = [] }) => refusals)
    .find((refusal) => refusal.className === className);
