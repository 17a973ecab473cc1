import type { ConfigSource } from "../sources/config-source.ts";
import type { MemoryEntry } from "../sources/memory-source.ts";
import { memorySource } from "../sources/memory-source.ts";
import type { LaunchRefusal, Plugin } from "./plugin.ts";

/** What plugins add to a search path. */
export interface PluginGroups {
  /** They stand between the primary config's directory and what the user adds. */
  readonly sources: readonly ConfigSource[];
  /** They come before the entries of a user's own config store, which win. */
  readonly store: ReadonlyMap<string, MemoryEntry>;
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
    store: new Map(plugins.flatMap(({ store = {} }) => Object.entries(store))),
  };
}

/** What a plugin says of a class that cannot be launched; undefined for all others. */
export const launchRefusal = (
  plugins: readonly Plugin[],
  className: string,
): LaunchRefusal | undefined =>
  plugins
    .flatMap(({ refusals = [] }) => refusals)
    .find((refusal) => refusal.className === className);
