import type { ConfigSource, ItemKind } from "./config-source.ts";
import { remember } from "./remember.ts";
import type { Repository } from "./repository.ts";
import { createRepository } from "./repository.ts";
import type { SearchPathEntry, SourceFactories } from "./search-path.ts";
import { openSource } from "./search-path.ts";

/**
 * The files that compositions are made from, each read when it is first asked for and never again:
 * all jobs of a sweep see one consistent tree. Take a new snapshot to see changes.
 */
export interface Snapshot {
  /** What `hydra.searchpath` is added to. */
  readonly repository: Repository;
  /** The repository with further entries, which come after the main directory. */
  extended(entries: readonly SearchPathEntry[]): Repository;
}

export interface SnapshotRequest {
  /** In order; the schema store always comes last. */
  readonly sources: readonly ConfigSource[];
  readonly schemaSource: ConfigSource;
  readonly cwd: string;
  readonly factories: SourceFactories;
}

export function takeSnapshot(request: SnapshotRequest): Snapshot {
  const sources = request.sources.map(remembering);
  const schemaSource = remembering(request.schemaSource);
  const extensions = new Map<string, Repository>();
  return {
    repository: createRepository([...sources, schemaSource]),
    extended(entries) {
      const id = JSON.stringify(entries.map(({ provider, path }) => [provider, path]));
      const before = extensions.get(id);
      if (before !== undefined) return before;
      const opened = entries.map((entry) =>
        remembering(openSource(entry, request.cwd, request.factories)),
      );
      const repository = createRepository([...sources, ...opened, schemaSource]);
      extensions.set(id, repository);
      return repository;
    },
  };
}

/** A source that asks its original every question once. Failures are not kept. */
function remembering(source: ConfigSource): ConfigSource {
  const load = remember((path: string) => source.load(path));
  const isGroup = remember((path: string) => source.isGroup(path));
  const available = remember(() => source.available());
  const lists = {
    group: remember((group: string) => source.list(group, "group")),
    config: remember((group: string) => source.list(group, "config")),
  };
  return {
    scheme: source.scheme,
    path: source.path,
    provider: source.provider,
    available: () => available(""),
    isGroup,
    load,
    list: (group: string, kind: ItemKind) => lists[kind](group),
  };
}
