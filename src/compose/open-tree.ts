import { resolve } from "node:path";
import type { Limits } from "../values/limits.ts";
import { hydraGroups } from "./hydra/groups.ts";
import { schemaSource } from "./hydra/schema.ts";
import type { Plugin } from "./plugins/plugin.ts";
import { pluginGroups } from "./plugins/plugin-groups.ts";
import { STANDARD_PLUGINS } from "./plugins/standard-plugins.ts";
import type { StoreEntry } from "./sources/memory-source.ts";
import { packageSource, pythonPath } from "./sources/package-source.ts";
import { openSource, type SourceFactory, STANDARD_SOURCES } from "./sources/search-path.ts";
import { type Snapshot, takeSnapshot } from "./sources/snapshot.ts";

/** Where the configs of a program come from, before a config adds to its search path. */
export interface TreeRequest {
  /** The directory of the primary config, or `pkg://…`; null: none. */
  readonly configDir: string | null;
  /** Further directories, searched after it. */
  readonly configDirs: readonly string[];
  /** Where relative directories start. */
  readonly cwd: string;
  /** The directory of the program, where `pkg://` looks first. Default: `cwd`. */
  readonly base?: string;
  /** Whose `PYTHONPATH` adds to where `pkg://` looks. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default: `STANDARD_PLUGINS`. */
  readonly plugins?: readonly Plugin[];
  /** The config store (`structured://`); it wins over what plugins store. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** Further kinds of sources, by scheme. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /** How much the aliases of a file may add; default: what the environment says. */
  readonly limits?: Limits;
}

/** What Hydra calls the source of the primary config. */
export const PRIMARY_PROVIDER = "main";

/**
 * Opens the search path in Hydra's order: its own groups, the primary directory, plugins, added
 * directories, the config store. Whether the primary directory exists is looked at by what composes.
 */
export function openTree(request: TreeRequest): Snapshot {
  const { configDir, configDirs, cwd, base = cwd, env, limits } = request;
  const roots = [...new Set([base, cwd, ...pythonPath(env, cwd)])];
  const factories = new Map<string, SourceFactory>([
    ...STANDARD_SOURCES,
    ["pkg", (entry) => packageSource({ ...entry, roots })],
    ...(request.sources ?? []),
  ]);
  const plugins = pluginGroups(request.plugins ?? STANDARD_PLUGINS);
  const open = (provider: string, path: string) =>
    openSource({ provider, path: absolute(path, cwd) }, cwd, factories, limits);
  return takeSnapshot({
    sources: [
      hydraGroups(),
      ...(configDir === null ? [] : [open(PRIMARY_PROVIDER, configDir)]),
      ...plugins.sources,
      ...configDirs.map((directory) => open("command-line", directory)),
    ],
    schemaSource: schemaSource(new Map([...plugins.store, ...(request.store ?? [])]), limits),
    cwd,
    factories,
    limits,
  });
}

/** Hydra shows directories as absolute paths, whatever it was given. */
const absolute = (path: string, cwd: string): string =>
  path.includes("://") ? path : resolve(cwd, path);
