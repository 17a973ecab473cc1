import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { ConfigNode } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import type { DefaultsItem } from "../defaults/item.ts";
import type { ConfigSchema } from "../schemas/config-schema.ts";

/**
 * A place where configs are found by path: a directory, a package, a store in memory. Paths are
 * config paths (`db/mysql`), never file names; the root group is the empty path.
 *
 * The composer asks each question once per snapshot, so a source need not remember its answers.
 */
export interface ConfigSource {
  /** `file`, `pkg`, `structured`: what stands before `://` in the search path. */
  readonly scheme: string;
  /** What stands after `://`. */
  readonly path: string;
  /** Who put this source on the search path, in Hydra's words: `main`, `hydra`, `schema`. */
  readonly provider: string;
  /** Whether the place exists at all; others are kept in the search path and warned about. */
  available(): boolean;
  /** Whether there is a group (a directory) of this path. */
  isGroup(path: string): boolean;
  /** The config at this path, or undefined where this source has none. */
  load(path: string): LoadedConfig | undefined;
  /** The names in a group, without extension, in no particular order. */
  list(group: string, kind: ItemKind): readonly string[];
}

/** What a listing of a group is to hold. */
export type ItemKind = "group" | "config";

/** A config as one source gave it: immutable, shared by every composition of a snapshot. */
export interface LoadedConfig {
  readonly source: SourceInfo;
  /** The content without its defaults list, unless that is a field of the content's type. */
  readonly node: ConfigNode;
  /** The `# @package` header, verbatim; null where there is none. */
  readonly package: string | null;
  /** Its defaults list; empty where `givenDefaults` has that. */
  readonly defaults: readonly DefaultsItem[];
  /** The list that an interpolation in its place gives, which may call the resolvers of a composition. */
  readonly givenDefaults?: (resolvers: ResolveContext) => readonly DefaultsItem[];
  /** What the composed tree must fit where this config is mounted. */
  readonly schema?: ConfigSchema;
  /** Of the schema store: a file of its path that names another class takes its place, and is not checked against it. */
  readonly replaceable?: boolean;
  /** Where the config starts, for messages about the config as a whole. */
  readonly origin: Origin;
}

/** @throws ConfigError for a list that an interpolation gives, or should give */
export const defaultsOf = (
  { defaults, givenDefaults }: LoadedConfig,
  resolvers: ResolveContext,
): readonly DefaultsItem[] => givenDefaults?.(resolvers) ?? defaults;

/** What a composition records about a source (`hydra.runtime.config_sources`). */
export interface SourceInfo {
  readonly scheme: string;
  readonly path: string;
  readonly provider: string;
}

/** How Hydra writes a source in its messages. */
export const describeSource = ({ scheme, path, provider }: SourceInfo): string =>
  `provider=${provider}, path=${scheme}://${path}`;
