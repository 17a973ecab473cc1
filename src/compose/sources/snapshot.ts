import { getOrCreate } from "../../system/get-or-create.ts";
import type { Limits } from "../../values/limits.ts";
import type { ConfigSource } from "./config-source.ts";
import { rememberingSource } from "./remembering-source.ts";
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
  /** How much the aliases of a file may add; default: what the environment says. */
  readonly limits?: Limits | undefined;
}

export function takeSnapshot(request: SnapshotRequest): Snapshot {
  const sources = request.sources.map(rememberingSource);
  const schemaSource = rememberingSource(request.schemaSource);
  const extensions = new Map<string, Repository>();
  return {
    repository: createRepository([...sources, schemaSource]),
    extended(entries) {
      const id = JSON.stringify(entries.map(({ provider, path }) => [provider, path]));
      return getOrCreate(extensions, id, () => {
        const opened = entries.map((entry) =>
          rememberingSource(openSource(entry, request.cwd, request.factories, request.limits)),
        );
        return createRepository([...sources, ...opened, schemaSource]);
      });
    },
  };
}
