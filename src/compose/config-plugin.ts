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
import type { ConfigSource } from "./sources/config-source.ts";
import { memorySource, type StoreEntry, storeEntry } from "./sources/memory-source.ts";
import type { SourceFactory } from "./sources/repository.ts";

/**
 * What an installed plugin adds to the composition of configs, as data. An engine has the plugins it was made with and
 * no others.
 */
export interface ConfigPlugin {
  /** Names the plugin among all others, and in messages: the name of its package, say. */
  readonly name: string;
  /** Configs in the config store, by config path: `hydra/launcher/joblib`. */
  readonly configs?: Readonly<Record<string, StoreEntry>>;
  /** YAML files on the search path, after the primary config's own directory. */
  readonly files?: PluginFiles;
  /** Configs and files that stand in for those of the same path from Hydra 1.4 on, or are new in it. */
  readonly newer?: Pick<ConfigPlugin, "configs" | "files">;
  /** Resolvers for `${name:...}`; `resolver()` turns a function into one. */
  readonly resolvers?: readonly Resolver[];
  /** Further kinds of sources for search paths, by scheme, as `git://`. */
  readonly configSources?: ReadonlyMap<string, SourceFactory>;
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
  refusals: optional(listOf("refusals", shape<LaunchRefusal>({ className: text, reason: text }))),
};

/** What plugins add to a search path. */
export interface PluginGroups {
  /** They stand between the primary config's directory and what the user adds. */
  readonly sources: readonly ConfigSource[];
  /** They come before the entries of a user's own config store, which win. */
  readonly store: ReadonlyMap<string, StoreEntry>;
  readonly factories: ReadonlyMap<string, SourceFactory>;
}

/** Nothing is read or built here: only the names are known until a config is asked for. */
export function pluginGroups(given: readonly ConfigPlugin[], dialect: Dialect): PluginGroups {
  const plugins = given.map((plugin) => asIn(plugin, dialect));
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

/** A plugin with the configs and files of a version. */
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

/**
 * Refuses plugins that add something under the same name.
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

/** The owner of each name that is taken. */
export function createClaims() {
  const owners = new Map<string, string>();
  return {
    /** @throws ConfigError `plugin.clash` for what another plugin has */
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
export function optionTarget(plugins: readonly ConfigPlugin[], path: string): string | undefined {
  for (const { configs } of plugins) {
    const entry = configs?.[path];
    const node = entry !== undefined && "create" in entry ? entry.create() : undefined;
    const target = node?.kind === "map" ? child(node, "_target_") : undefined;
    if (target?.kind === "scalar" && typeof target.value === "string") return target.value;
  }
  return undefined;
}

/** What a plugin says of a class that cannot be launched; undefined for all others. */
export const launchRefusal = (
  plugins: readonly ConfigPlugin[],
  className: string,
): LaunchRefusal | undefined =>
  plugins
    .flatMap(({ refusals = [] }) => refusals)
    .find((refusal) => refusal.className === className);
