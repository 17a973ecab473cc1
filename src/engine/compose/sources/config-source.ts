/** What a source of configs is, and what a config is that was loaded from one. */
import type { ConfigSchema } from "../../values/config-schema.ts";
import { DEFAULT_DIALECT, type Dialect } from "../../values/dialect.ts";
import { ConfigError } from "../../values/errors.ts";
import { type ConfigNode, isMissing } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";

/**
 * A place where configs are found by path: a directory, a package, a store in memory. Paths are config paths
 * (`db/mysql`), never file names; the root group is the empty path.
 *
 * The composer makes each request once per snapshot, so a source needs no cache of its own.
 */
export interface ConfigSource {
  /** `file`, `pkg`, `structured`: the part before `://` in the search path. */
  readonly scheme: string;
  /** The part after `://`. */
  readonly path: string;
  /** What added this source to the search path, in Hydra's words: `main`, `hydra`, `schema`. */
  readonly provider: string;
  /** Whether the place exists; a missing one is kept in the search path and warned about. */
  available(): boolean;
  /** Whether there is a group (a directory) with this path. */
  isGroup(path: string): boolean;
  /** The config at this path, or undefined if this source has none. */
  load(path: string): LoadedConfig | undefined;
  /** The names in a group, without extension, in no particular order. */
  list(group: string, kind: ItemKind): readonly string[];
  /**
   * For the hint of an error: a file in the place of a config, whose ending makes it none (`db/mysql.yml`). A source
   * without files has none.
   */
  similarFile?(path: string): string | undefined;
  /** For the hint of an error: what is there instead, if the source is not available. */
  surroundings?(): Surroundings;
}

/** What is where a directory of configs was looked for. */
export interface Surroundings {
  /** The path is that of a file: its directory, and its name there. */
  readonly config?: { readonly directory: string; readonly name: string };
  /** Directories with YAML files beside it, the nearest first. */
  readonly directories?: readonly string[];
}

/** The kind of items to list in a group. */
export type ItemKind = "group" | "config";

/** A config as a source returned it: immutable, shared by all compositions of a snapshot. */
export interface LoadedConfig {
  readonly source: SourceInfo;
  /** The content without its defaults list, unless the list is a field of the content's type. */
  readonly node: ConfigNode;
  /** The `# @package` header, verbatim; null where there is none. */
  readonly package: string | null;
  /** Its defaults list; empty if `givenDefaults` is present. */
  readonly defaults: readonly DefaultsItem[];
  /** Returns the defaults list if it is written as an interpolation, which may call the resolvers of a composition. */
  readonly givenDefaults?: (resolvers: ResolveContext) => readonly DefaultsItem[];
  /** The schema for the composed tree at the place of this config. */
  readonly schema?: ConfigSchema;
  /**
   * In the schema store: a file of the same path that names another class replaces this entry, and is not checked
   * against it.
   */
  readonly replaceable?: boolean;
  /** The start of the config, for messages about the config as a whole. */
  readonly origin: Origin;
}

/** @throws ConfigError for a defaults list from an interpolation that fails, or that gives no list */
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

/** A source in the notation of Hydra's messages. */
export const describeSource = ({ scheme, path, provider }: SourceInfo): string =>
  `provider=${provider}, path=${scheme}://${path}`;

/**
 * Refuses the path of a `.yml` file, which is no config; only some versions of Hydra have this error (`refusesYml` of
 * the dialect).
 *
 * @throws ConfigError `compose.invalid_config`
 */
export function refuseYml(path: string, { refusesYml }: Dialect): void {
  if (!refusesYml || !isYml(path)) return;
  throw new ConfigError({
    code: "compose.invalid_config",
    message:
      "Unsupported config file extension '.yml'. Hydra config files must use the '.yaml' extension.",
    key: path,
    hint: `rename ${path} to ${path.replace(/yml$/, "yaml")}`,
  });
}

/** `db/mysql` and `db/mysql.yaml` both name the file `db/mysql.yaml`; `.yml` files must be named in full. */
export const yamlFileName = (
  configPath: string,
  { readsYml }: Dialect = DEFAULT_DIALECT,
): string =>
  configPath.endsWith(".yaml") || (readsYml && isYml(configPath))
    ? configPath
    : `${configPath}.yaml`;

export const isYml = (configPath: string): boolean => configPath.endsWith(".yml");

/** One item of a defaults list as written, before the place of the list is known. */
export type DefaultsItem = (SelfItem | ConfigItem | GroupItem) & {
  /** Warnings about the way it is written, in Hydra's words. */
  readonly deprecations?: readonly string[];
};

/** `_self_`: the position of the config's own content. */
export interface SelfItem {
  readonly kind: "self";
  readonly origin: Origin;
  /** The group of `db: _self_`, which Hydra treats as a `_self_`; null for the plain one. */
  readonly group: string | null;
}

/** `- path/to/config`, with a leading `/` for a path from the root. */
export interface ConfigItem {
  readonly kind: "config";
  readonly path: string;
  /** The package after `@`; null without one. */
  readonly package: string | null;
  /** Only for an option of a list (`- optional db: [a, b]`): a missing config is skipped. */
  readonly optional: boolean;
  readonly origin: Origin;
}

/** `- group: option`, possibly with `optional` and `override`. */
export interface GroupItem {
  readonly kind: "group";
  readonly group: string;
  readonly value: GroupValue;
  readonly package: string | null;
  readonly optional: boolean;
  readonly override: boolean;
  /** Given on the command line as `+group=option`; it may follow overrides. */
  readonly appended: boolean;
  /** The option is written `\???`: it has the name `???`, and is not left open. */
  readonly literal?: true;
  /** The group as written, if a part of the option was moved into it (`slashInGroup` of the dialect). */
  readonly shorthandOf?: string;
  readonly origin: Origin;
}

/**
 * null selects nothing, a list selects several options of one group. A null in a list is a value of an override that is
 * no name: it is refused when the group is reached.
 */
export type GroupValue = string | null | readonly (string | null)[];

export const SELF = "_self_";

export const isOptionList = (value: GroupValue): value is readonly (string | null)[] =>
  typeof value === "object" && value !== null;

/** One way in which a tree does not fit, as the checker reports it. */
export interface SchemaProblem {
  readonly problem: "invalid_value" | "missing_value" | "missing_key" | "unknown_key";
  /** The full key relative to the checked tree; empty for the tree itself. */
  readonly key: string;
  /** The value found; absent for a missing key. */
  readonly value?: ConfigNode;
  /** The demand of the schema, as a phrase after "expected". */
  readonly expected: string;
  /** The message of a validator, if it has one. */
  readonly message?: string;
  readonly description?: string;
  readonly origin: Origin;
  readonly available?: readonly string[];
  readonly nearest?: string;
}

/** A type that a schema declares for a value. */
export type DeclaredType = "string" | "integer" | "number" | "boolean" | "array" | "object";

/**
 * Reads schemas: implemented by the stage `schema`, which composing does not import. Trees may contain interpolations
 * and missing values; all problems are returned in document order.
 */
export interface SchemaReader {
  /** All ways in which a tree does not fit, in document order. */
  problems(schema: ConfigSchema, tree: ConfigNode): readonly SchemaProblem[];
  /** The keys of the values that the schema marks secret. */
  secrets(schema: ConfigSchema, tree: ConfigNode): readonly (readonly string[])[];
  /** Whether a value at these keys would be secret; with `similar`, also if it was probably meant for a key whose value is. */
  isSecret(schema: ConfigSchema, path: readonly string[], spelling: "exact" | "similar"): boolean;
  /** Whether no value at these keys can be null. */
  refusesNull(schema: ConfigSchema, path: readonly string[]): boolean;
  /** The type that the schema declares at these keys; undefined if it leaves it open. */
  typeAt(schema: ConfigSchema, path: readonly string[]): DeclaredType | undefined;
  /**
   * What a schema makes of a tree: its defaults, and the conversions of a validator.
   * @param name of the schema in origins
   */
  output(
    schema: ConfigSchema,
    tree: {
      readonly written: ConfigNode;
      /** With interpolations resolved; undefined where that is not possible yet. */
      readonly resolved: () => ConfigNode | undefined;
    },
    name: string,
  ): SchemaResult;
}

/** What a schema makes of a tree. */
export interface SchemaResult {
  readonly tree: ConfigNode;
  /** Values that no node can hold, such as dates, by the JSON text of their keys. */
  readonly objects: ReadonlyMap<string, unknown>;
  /** How the resolved tree does not fit; then `tree` is as it was. */
  readonly issues: readonly SchemaProblem[];
  /** Whether the tree is the output of a validator, which is not asked again. */
  readonly isFinal: boolean;
}

export interface CompletedItems {
  readonly items: readonly DefaultsItem[];
  /** Whether the list itself has no `_self_`. */
  readonly selfAdded: boolean;
  /** The start of a list that lacks `_self_` although the config has content of its own. */
  readonly selfMissingAt: Origin | undefined;
}

interface Completion {
  readonly configPath: string;
  readonly loaded: LoadedConfig;
  readonly primary: boolean;
  readonly resolvers: ResolveContext;
  /** Groups appended on the command line: they follow everything in the primary list. */
  readonly appended: readonly GroupItem[];
}

/**
 * The defaults list with its `_self_`. Without one, the config's own content goes last, and a primary config with
 * content gets a warning. A list of overrides alone needs none.
 *
 * @throws ConfigError `compose.invalid_defaults` for a second `_self_`, or one of a group, and as `defaultsOf`
 * @see https://hydra.cc/docs/1.3/upgrades/1.0_to_1.1/default_composition_order/
 */
export function completeItems({
  configPath,
  loaded,
  primary,
  appended,
  resolvers,
}: Completion): CompletedItems {
  const written = defaultsOf(loaded, resolvers);
  if (written.length === 0 && appended.length === 0)
    return { items: [], selfAdded: false, selfMissingAt: undefined };

  const selves = written.filter((item) => item.kind === "self");
  if (selves.length > 1)
    throw new ConfigError({
      code: "compose.invalid_defaults",
      message: `Duplicate _self_ defined in ${configPath}`,
      origin: selves[1]?.origin ?? loaded.origin,
      hint: "keep one `_self_`: it marks the place of the file's own content",
    });

  const hasSelf = selves.length > 0;
  const added = appended.map(asSelf);
  if (hasSelf) refuseSelfOfGroup([...selves, ...added]);
  const hasItems = written.some((item) => !("override" in item && item.override));
  const complete = hasSelf || (written.length > 0 && !hasItems);
  const self: DefaultsItem = { kind: "self", origin: loaded.origin, group: null };
  return {
    items: [...written, ...(complete ? [] : [self]), ...added],
    selfAdded: !hasSelf,
    selfMissingAt:
      !complete && primary && hasItems && hasContent(loaded.node)
        ? (written[0]?.origin ?? loaded.origin)
        : undefined,
  };
}

/** `+group=_self_` counts as a further `_self_`. */
const asSelf = (item: GroupItem): DefaultsItem =>
  item.value === SELF ? { kind: "self", origin: item.origin, group: item.group } : item;

/** Hydra fails on the `_self_` of a group if the list itself has one. */
function refuseSelfOfGroup(items: readonly DefaultsItem[]): void {
  for (const item of items)
    if (item.kind === "self" && item.group !== null)
      throw new ConfigError({
        code: "compose.invalid_defaults",
        message: `'_self_' cannot be selected: it is not an option of '${item.group}'`,
        origin: item.origin,
        key: item.group,
        hint: "write `_self_` as a separate item, and rename the option",
      });
}

const hasContent = (node: ConfigNode): boolean =>
  node.kind === "map" && [...node.entries.values()].some(({ value }) => !isMissing(value));
