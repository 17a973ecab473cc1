import type { ConfigSource, ItemKind, LoadedConfig } from "./config-source.ts";
import { remember } from "./remember.ts";

/**
 * A snapshot of a search path: the first source that has a config wins, and every answer is kept,
 * so that all compositions made through one repository see the same files however many they are.
 */
export interface Repository {
  readonly sources: readonly ConfigSource[];
  /** @throws ConfigError for a config that exists but cannot be read. */
  load(path: string): LoadedConfig | undefined;
  /** The config at this path in the last source, the schema store, alone. */
  loadSchema(path: string): LoadedConfig | undefined;
  /** Whether any source has a group of this path. */
  groupExists(path: string): boolean;
  /** Names of the options (or groups) below a group in all sources: sorted, unique. */
  list(group: string, kind: ItemKind): readonly string[];
}

export function createRepository(sources: readonly ConfigSource[]): Repository {
  const schemaSource = sources.findLast((source) => source.scheme === "structured");
  return {
    sources,
    load: remember((path) => firstDefined(sources, (source) => source.load(path))),
    loadSchema: remember((path) => schemaSource?.load(path)),
    groupExists: remember((path) => sources.some((source) => source.isGroup(path))),
    list: (group, kind) => listAll(sources, group, kind),
  };
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

/** Python's order of strings; JavaScript's own compares UTF-16 units. */
export function byCodePoint(left: string, right: string): number {
  if (left === right) return 0;
  const a = [...left];
  const b = [...right];
  const at = a.findIndex((char, index) => char !== b[index]);
  if (at === -1) return -1;
  return (a[at]?.codePointAt(0) ?? 0) - (b[at]?.codePointAt(0) ?? -1);
}
