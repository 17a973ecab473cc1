/** The search path of a program: its sources in Hydra's order, extended by `hydra.searchpath`. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { isSweepValue, type Override } from "../overrides/ast.ts";
import { overrideNode } from "../overrides/evaluate.ts";
import { DEFAULT_DIALECT, type Dialect } from "../values/dialect.ts";
import { ConfigError } from "../values/errors.ts";
import { type ConfigNode, isMissingOrNull, type MapNode, map, scalar } from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import { pyStr, pyTypeName } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { selectNode } from "../values/resolution/select.ts";
import { checkTree } from "../values/yaml/check-tree.ts";
import { type ConfigPlugin, pluginGroups } from "./config-plugin.ts";
import type { CompositionWarning } from "./defaults/deprecations.ts";
import { hydraGroups } from "./hydra/groups.ts";
import { schemaSource } from "./hydra/hydra-schema.ts";
import type { SourceReading } from "./sources/formats.ts";
import type { StoreEntry } from "./sources/memory-source.ts";
import {
  type FileAccess,
  openSource,
  type PackageSearch,
  type Repository,
  type SearchPathEntry,
  type Snapshot,
  type SourceFactory,
  takeSnapshot,
} from "./sources/repository.ts";

/** The sources of a program's configs, before a config extends the search path. */
export interface TreeRequest extends PackageSearch {
  /** The directory of the primary config, or `pkg://…`; null for none. */
  readonly configDir: string | null;
  /** Further directories, searched after it. */
  readonly configDirs: readonly string[];
  /** What reads the directories. */
  readonly files: FileAccess;
  readonly plugins: readonly ConfigPlugin[];
  /** The config store (`structured://`); its entries override those of plugins. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** Further kinds of sources, by scheme. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  readonly reading?: SourceReading;
}

/** Hydra's name for the source of the primary config. */
export const PRIMARY_PROVIDER = "main";

/**
 * Opens the search path in Hydra's order: its own groups, the primary directory, plugins, added directories, the config
 * store. Whether the primary directory exists is checked by the composition.
 */
export function openTree(request: TreeRequest): Snapshot {
  const { configDir, configDirs, cwd, files, reading } = request;
  const plugins = pluginGroups(request.plugins, reading?.dialect ?? DEFAULT_DIALECT);
  const factories = new Map<string, SourceFactory>([
    ...plugins.factories,
    ...files.sources(request),
    ...(request.sources ?? []),
  ]);
  // Hydra always shows directories as absolute paths.
  const absolute = (path: string) => (path.includes("://") ? path : files.resolve(cwd, path));
  const open = (provider: string, path: string) =>
    openSource({ provider, path: absolute(path) }, cwd, factories, reading);
  return takeSnapshot({
    sources: [
      hydraGroups(reading?.dialect ?? DEFAULT_DIALECT),
      ...(configDir === null ? [] : [open(PRIMARY_PROVIDER, configDir)]),
      ...plugins.sources,
      ...configDirs.map((directory) => open("command-line", directory)),
    ],
    schemaSource: schemaSource(new Map([...plugins.store, ...(request.store ?? [])]), reading),
    cwd,
    factories,
    reading,
  });
}

const KEY = "hydra.searchpath";

export interface ExtendedSearchPath {
  readonly repository: Repository;
  readonly warnings: readonly CompositionWarning[];
}

/**
 * Extends the search path by `hydra.searchpath` of the command line or otherwise of the primary config, before anything
 * is composed. Only a plain override counts (`hydra.searchpath=[...]`).
 *
 * @throws ConfigError `compose.invalid_config` for a value other than a list of strings, and for a primary config that
 *   is no mapping.
 * @see https://hydra.cc/docs/1.3/advanced/search_path/
 */
export function extendSearchPath(
  configName: string | null,
  overrides: readonly Override[],
  snapshot: Snapshot,
  context: ResolveContext,
): ExtendedSearchPath {
  const primary = primaryNode(configName, snapshot.repository);
  const configured = selectNode(primary, KEY, context);
  const override = overrides.find(isSearchPath);
  const overridden = override === undefined ? undefined : givenNode(override, context.dialect);
  const node = overridden ?? configured;
  if (node === undefined || (node === configured && isMissingOrNull(node)))
    return { repository: snapshot.repository, warnings: [] };

  const provider = `${KEY} in ${overridden === undefined ? "main" : "command-line"}`;
  const repository = snapshot.extended(
    overridden === undefined
      ? ownEntries(primary, node, provider, context)
      : givenEntries(node, provider),
  );
  const unavailable = repository.sources.filter((source) => !source.available());
  return {
    repository,
    warnings: unavailable.map((source) => ({
      code: "unavailable_source",
      message: `provider=${source.provider}, path=${source.path} is not available.`,
      origin: node.origin,
    })),
  };
}

/**
 * The primary config as written, without its defaults list.
 *
 * @throws ConfigError `compose.invalid_config` if it is no mapping
 */
function primaryNode(configName: string | null, repository: Repository): MapNode {
  // Here Hydra takes a leading `/` for the root of the file system; only defaults lists drop the slash.
  const isElsewhere = configName === null || configName.startsWith("/");
  const loaded = isElsewhere ? undefined : repository.load(configName);
  const node = loaded?.node ?? map([], fromCode("compose"));
  if (node.kind === "map") return node;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `primary config '${configName}' must be a DictConfig, got ${pyTypeName(node)}`,
    origin: node.origin,
    hint: "a primary config is a mapping (`key: value`); only an option of a config group can be a list",
  });
}

/**
 * The primary config at the root of the tree, as it stands there before its defaults list is composed: empty if its header names
 * another package.
 *
 * @throws ConfigError as `primaryNode`
 */
export function primaryAtRoot(configName: string | null, repository: Repository): MapNode {
  const node = primaryNode(configName, repository);
  const header = configName === null ? null : repository.load(configName)?.package;
  return header == null || header === "_global_" || header === "" ? node : map([], node.origin);
}

const isSearchPath = ({ keyOrGroup, package: pkg, type }: Override): boolean =>
  keyOrGroup === KEY && pkg === undefined && (type === "change" || type === "extend_list");

/** A null counts as no override. */
function givenNode(override: Override, dialect: Dialect): ConfigNode | undefined {
  if (override.value === undefined) return undefined;
  if (isSweepValue(override.value)) {
    const { text } = override.origin;
    const shown = `the sweep ${text.slice(text.indexOf("=") + 1)}`;
    throw notStrings(scalar(shown, override.origin));
  }
  const node = overrideValue(override, dialect);
  return node === null || (node.kind === "scalar" && node.value === null) ? undefined : node;
}

/** Items in a file may be interpolations, also into the rest of the file. */
function ownEntries(
  primary: ConfigNode,
  node: ConfigNode,
  provider: string,
  context: ResolveContext,
): readonly SearchPathEntry[] {
  if (node.kind !== "list") throw notStrings(node);
  return node.items.map((_, index) =>
    entryOf(node, selectNode(primary, `${KEY}[${index}]`, context), provider),
  );
}

function givenEntries(node: ConfigNode, provider: string): readonly SearchPathEntry[] {
  if (node.kind !== "list") throw notStrings(node);
  return node.items.map((item) => entryOf(node, item, provider));
}

function entryOf(
  list: ConfigNode,
  item: ConfigNode | undefined,
  provider: string,
): SearchPathEntry {
  if (item?.kind !== "scalar" || typeof item.value !== "string") throw notStrings(list);
  return { provider, path: item.value, origin: item.origin };
}

const notStrings = (node: ConfigNode): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `${KEY} must be a list of strings. Got: ${pyStr(node)}`,
    origin: node.origin,
    key: KEY,
    hint:
      node.origin.kind === "file"
        ? `write \`searchpath: [file://${typeof (node.kind === "scalar" && node.value) === "string" ? pyStr(node).replace(/^\.\//, "") : "DIR"}]\``
        : `write ${KEY}=[file://DIR]`,
  });

/**
 * The value of an override, checked as OmegaConf checks a value that enters a config; null for a deletion without a
 * value.
 *
 * @throws ConfigError for a sweep inside a value (`override.sweep_not_allowed`), a null key (`key.invalid_type`), an
 *   interpolation that does not parse (`interpolation.syntax`).
 */
export const overrideValue = (override: Override, dialect: Dialect): ConfigNode | null =>
  getOrCreate(VALUES, override, () => {
    const node = overrideNode(override, dialect);
    return { value: node === null ? null : checkTree(node, undefined, undefined, dialect) };
  }).value;

/** Cached, because the jobs of a sweep share overrides, whose values may be long. */
const VALUES = new WeakMap<Override, { readonly value: ConfigNode | null }>();
