/** The search path, its sources as one repository, and snapshots that several compositions share. */

import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { byCodePoint } from "../../../foundation/text/code-points.ts";
import { ConfigError } from "../../values/errors.ts";
import type { Origin } from "../../values/origin.ts";
import type { ConfigSource, ItemKind, LoadedConfig } from "./config-source.ts";
import type { FileSystem } from "./directory-source.ts";
import type { SourceReading } from "./formats.ts";

/**
 * A snapshot of a search path: the first source with a config wins, and every answer is cached, so that all
 * compositions of one repository see the same files.
 */
export interface Repository {
  readonly sources: readonly ConfigSource[];
  /** @throws ConfigError for a config that exists but cannot be read. */
  load(path: string): LoadedConfig | undefined;
  /** The config at this path in the schema store, the last source. */
  loadSchema(path: string): LoadedConfig | undefined;
  /** Whether any source has a group with this path. */
  groupExists(path: string): boolean;
  /** Whether any source has a config with this path, even an invalid one. */
  configExists(path: string): boolean;
  /** Names of the options (or groups) below a group in all sources: sorted, unique. */
  list(group: string, kind: ItemKind): readonly string[];
}

/** The options of a group; none if the group cannot be listed. */
export const optionsForHint = (
  repository: Pick<Repository, "list">,
  group: string,
): readonly string[] => listForHint(repository, group, "config");

/** The groups inside a group; none if it cannot be listed. */
export const groupsForHint = (
  repository: Pick<Repository, "list">,
  group: string,
): readonly string[] => listForHint(repository, group, "group");

function listForHint(
  repository: Pick<Repository, "list">,
  group: string,
  kind: ItemKind,
): readonly string[] {
  try {
    return repository.list(group, kind);
  } catch {
    return [];
  }
}

/** A config for a hint or a note; undefined if it cannot be read, which is told when it is chosen. */
export function loadQuietly(
  path: string,
  { load }: Pick<Repository, "load">,
): LoadedConfig | undefined {
  try {
    return load(path);
  } catch {
    return undefined;
  }
}

export function createRepository(sources: readonly ConfigSource[]): Repository {
  const schemaSource = sources.findLast((source) => source.scheme === "structured");
  const load = memoize((path) => firstDefined(sources, (source) => source.load(path)));
  return {
    sources,
    load,
    configExists(path) {
      try {
        return load(path) !== undefined;
      } catch {
        return true;
      }
    },
    loadSchema: memoize((path) => schemaSource?.load(path)),
    groupExists: memoize((path) => sources.some((source) => source.isGroup(path))),
    list: (group, kind) => listAll(sources, group, kind),
  };
}

/** Every group that has options of its own, groups inside groups included. */
export function allGroups(repository: Repository, parent = ""): readonly string[] {
  return repository.list(parent, "group").flatMap((name) => {
    const group = parent === "" ? name : `${parent}/${name}`;
    const listed = repository.list(group, "config").length > 0 ? [group] : [];
    return [...listed, ...allGroups(repository, group)];
  });
}

function firstDefined<T>(
  sources: readonly ConfigSource[],
  ask: (source: ConfigSource) => T | undefined,
): T | undefined {
  for (const source of sources) {
    const answer = ask(source);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function listAll(sources: readonly ConfigSource[], group: string, kind: ItemKind): string[] {
  const names = sources
    .filter((source) => source.isGroup(group))
    .flatMap((source) => source.list(group, kind));
  return [...new Set(names)].sort(byCodePoint);
}

/** Caches results by path, but not failures: the next call throws the error again. */
function memoize<T>(ask: (path: string) => T): (path: string) => T {
  const answers = new Map<string, { readonly answer: T }>();
  return (path) => {
    const cached = answers.get(path);
    if (cached !== undefined) return cached.answer;
    const answer = ask(path);
    answers.set(path, { answer });
    return answer;
  };
}

/** A source that caches the results of another one. Failures are not cached. */
export function memoizedSource(source: ConfigSource): ConfigSource {
  const load = memoize((path: string) => source.load(path));
  const isGroup = memoize((path: string) => source.isGroup(path));
  const available = memoize(() => source.available());
  const lists = {
    group: memoize((group: string) => source.list(group, "group")),
    config: memoize((group: string) => source.list(group, "config")),
  };
  return {
    scheme: source.scheme,
    path: source.path,
    provider: source.provider,
    available: () => available(""),
    isGroup,
    load,
    list: (group: string, kind: ItemKind) => lists[kind](group),
    ...(source.similarFile && { similarFile: (path) => source.similarFile?.(path) }),
    ...(source.surroundings && { surroundings: () => source.surroundings?.() ?? {} }),
  };
}

/** One entry of the search path as written: `file://conf`, `pkg://name/conf`, `conf`. */
export interface SearchPathEntry {
  readonly provider: string;
  readonly path: string;
  readonly origin?: Origin;
}

/** Creates the source of an entry; relative paths start at `cwd`. */
export type SourceFactory = (entry: {
  readonly provider: string;
  readonly path: string;
  readonly cwd: string;
  readonly reading?: SourceReading;
}) => ConfigSource;

/** Factories by scheme. An engine may have further ones, e.g. `git://`. */
type SourceFactories = ReadonlyMap<string, SourceFactory>;

/** Where packages of configs are searched. */
export interface PackageSearch {
  /** The base of relative directories. */
  readonly cwd: string;
  /** The directory of the program, where `pkg://` searches first. Default: `cwd`. */
  readonly base?: string;
  /** Where `pkg://` searches last: the packages installed for the program's Python. */
  readonly packageRoots?: () => readonly string[];
  /** Its `PYTHONPATH` adds directories that `pkg://` searches. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The files that a search path leads to: those of this machine, or some in memory. */
export interface FileAccess {
  /** The absolute path; a relative one starts at the directory. */
  resolve(directory: string, path: string): string;
  readonly system: FileSystem;
  /** The kinds of sources that read them, by scheme. */
  sources(search: PackageSearch): SourceFactories;
}

/** @throws ConfigError `compose.invalid_config` for an unknown scheme, and for the config store's */
export function openSource(
  entry: SearchPathEntry,
  cwd: string,
  factories: SourceFactories,
  reading?: SourceReading,
): ConfigSource {
  const index = entry.path.indexOf("://");
  const scheme = index === -1 ? "file" : entry.path.slice(0, index);
  const factory = factories.get(scheme);
  if (factory === undefined)
    throw scheme === STORE ? secondStore(entry) : unknownScheme(entry, scheme, factories);
  const path = index === -1 ? entry.path : entry.path.slice(index + "://".length);
  return factory({ provider: entry.provider, path, cwd, ...(reading && { reading }) });
}

/** The scheme of the config store, the last source of every search path. */
const STORE = "structured";

function unknownScheme(
  { origin }: SearchPathEntry,
  scheme: string,
  factories: SourceFactories,
): ConfigError {
  const available = [...factories.keys(), STORE].sort();
  return new ConfigError({
    code: "compose.invalid_config",
    message: `No config source registered for schema ${scheme}, supported types : [${available.join(", ")}]`,
    ...(origin && { origin }),
    key: "hydra.searchpath",
    available,
  });
}

const secondStore = ({ path, origin }: SearchPathEntry): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `${path} cannot be added: the config store is already on the search path, after all other sources`,
    ...(origin && { origin }),
    key: "hydra.searchpath",
    hint: `remove ${STORE}:// from hydra.searchpath`,
  });

/**
 * The files of compositions, each read when it is first needed and never again: all jobs of a sweep see one consistent
 * tree. A new snapshot sees changes.
 */
export interface Snapshot {
  /** The repository before `hydra.searchpath` is added. */
  readonly repository: Repository;
  /** The repository with further entries, which follow the main directory. */
  extended(entries: readonly SearchPathEntry[]): Repository;
}

export interface SnapshotRequest {
  /** In order; the schema store always comes last. */
  readonly sources: readonly ConfigSource[];
  readonly schemaSource: ConfigSource;
  readonly cwd: string;
  readonly factories: SourceFactories;
  readonly reading?: SourceReading | undefined;
}

export function takeSnapshot(request: SnapshotRequest): Snapshot {
  const sources = request.sources.map(memoizedSource);
  const schemaSource = memoizedSource(request.schemaSource);
  const extensions = new Map<string, Repository>();
  return {
    repository: createRepository([...sources, schemaSource]),
    extended(entries) {
      const id = JSON.stringify(entries.map(({ provider, path }) => [provider, path]));
      return getOrCreate(extensions, id, () => {
        const opened = entries.map((entry) =>
          memoizedSource(openSource(entry, request.cwd, request.factories, request.reading)),
        );
        return createRepository([...sources, ...opened, schemaSource]);
      });
    },
  };
}
