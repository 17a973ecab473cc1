/** The `hydra` node as a structured config: its classes and their fields. */

import { DEFAULT_DIALECT, DIALECTS, type Dialect } from "../../values/dialect.ts";
import type { ErrorCode } from "../../values/errors.ts";
import {
  type ConfigNode,
  type ContainerType,
  emptyContainer,
  list,
  type MapNode,
  MISSING,
  map,
  type NodeType,
  type ScalarValue,
  scalar,
} from "../../values/node.ts";
import { fromCode, type SchemaOrigin } from "../../values/origin.ts";
import type { Reading } from "../../values/yaml/reader.ts";
import type { ConfigSource } from "../sources/config-source.ts";
import { memorySource, type StoreEntry } from "../sources/memory-source.ts";

/*
 * A small vocabulary for structured configs: a field is a type and a default, and an object is a field made of fields.
 * A schema written in it reads like the declaration in Hydra.
 */

export interface Field {
  readonly type: NodeType;
  readonly node: ConfigNode;
}

const ORIGIN: SchemaOrigin = { kind: "schema", schema: "hydra" };

export const ANY: NodeType = { kind: "any" };
export const STR: NodeType = { kind: "str" };
export const INT: NodeType = { kind: "int" };
export const FLOAT: NodeType = { kind: "float" };
export const BOOL: NodeType = { kind: "bool" };

export const listOf = (element: NodeType): NodeType => ({ kind: "list", element });
export const mapOf = (element: NodeType): NodeType => ({ kind: "map", key: STR, element });

export const optional = (type: NodeType): NodeType =>
  type.kind === "any" ? type : { ...type, optional: true };

/** A field of a type; without a default it is mandatory (`???`). */
export const field = (type: NodeType, value: ScalarValue = MISSING): Field => ({
  type,
  node: { ...scalar(value, ORIGIN), type },
});

export function emptyList(element: NodeType): Field {
  const type = listOf(element);
  return { type, node: { ...list([], ORIGIN), type } };
}

export function emptyMap(element: NodeType): Field {
  const type = mapOf(element);
  return { type, node: { ...map([], ORIGIN), type } };
}

/**
 * @param bases names of the types that this one extends.
 * @param latent fields that a config may set but that are absent by default: our additions to Hydra's own types, whose
 *   dumps must stay the same
 */
export function object(
  name: string,
  fields: Readonly<Record<string, Field>>,
  bases: readonly string[] = [],
  latent: Readonly<Record<string, NodeType>> = {},
): Field {
  const entries = Object.entries(fields);
  const type: ContainerType = {
    kind: "object",
    name,
    ...(bases.length > 0 && { bases }),
    fields: new Map([
      ...entries.map(([key, { type: fieldType }]) => [key, fieldType] as const),
      ...Object.entries(latent),
    ]),
    defaults: new Map(entries.map(([key, { node }]) => [key, node])),
  };
  return { type, node: emptyContainer(type, ORIGIN) };
}

/**
 * Adds a defaults list of `group: option` items in front of an object's fields. The list stays a field until all
 * configs are merged: a config may overwrite it, without effect.
 */
export function withDefaults(
  { type, node }: Field,
  defaults: Readonly<Record<string, string | null>>,
): ConfigNode {
  if (type.kind !== "object" || node.kind !== "map") throw new TypeError("not an object");
  const items = Object.entries(defaults).map(([group, option]) =>
    map([[group, scalar(option, ORIGIN)]], ORIGIN),
  );
  const field = listOf(ANY);
  const fields = [...node.entries.values()].map(({ key, value }) => [key, value] as const);
  return {
    ...map([["defaults", { ...list(items, ORIGIN), type: field }], ...fields], ORIGIN),
    type: { ...type, fields: new Map([["defaults", field], ...type.fields]) },
  };
}

/** The object after all configs are merged: without the list, and without its field. */
export function withoutDefaultsField(node: MapNode): MapNode {
  const { type } = node;
  const entries = new Map(node.entries);
  entries.delete("defaults");
  // The root of a tree has no type, whatever is merged into it.
  if (type?.kind !== "object") return { ...node, entries };
  const fields = new Map(type.fields);
  fields.delete("defaults");
  return { ...node, entries, type: { ...type, fields } };
}

/*
 * The types of the `hydra` node, as users of Hydra know them from `--cfg hydra`.
 * @see https://hydra.cc/docs/1.3/configure_hydra/intro/
 */

const RUN_MODE: NodeType = {
  kind: "enum",
  name: "RunMode",
  members: ["RUN", "MULTIRUN"],
  values: [1n, 2n],
};

const SOURCE_INFO = object("ConfigSourceInfo", {
  path: field(STR),
  schema: field(STR),
  provider: field(STR),
});

const OVERRIDE_DIRNAME = object("OverrideDirname", {
  kv_sep: field(STR, "="),
  item_sep: field(STR, ","),
  exclude_keys: emptyList(STR),
});

const job = ({ chdirDefault, resolvesDirname }: Dialect): Field =>
  object("JobConf", {
    name: field(STR),
    chdir: field(chdirDefault === null ? optional(BOOL) : BOOL, chdirDefault),
    override_dirname: resolvesDirname ? field(STR, "${hydra_override_dirname:}") : field(STR),
    id: field(STR),
    num: field(INT),
    config_name: field(optional(STR)),
    env_set: emptyMap(STR),
    env_copy: emptyList(STR),
    config: object("JobConfig", { override_dirname: OVERRIDE_DIRNAME }),
  });

const RUNTIME = object("RuntimeConf", {
  version: field(STR),
  version_base: field(STR),
  cwd: field(STR),
  config_sources: field(listOf(SOURCE_INFO.type)),
  output_dir: field(STR),
  choices: emptyMap(ANY),
});

/** Settings of the directory of a sweep that are ours. */
const OUR_SWEEP = { page: BOOL };

const hydra = (dialect: Dialect): Field =>
  object("HydraConf", {
    mode: field(optional(RUN_MODE), null),
    searchpath: emptyList(STR),
    run: object("RunDir", { dir: field(STR) }),
    sweep: object("SweepDir", { dir: field(STR), subdir: field(STR) }, [], OUR_SWEEP),
    hydra_logging: field(mapOf(ANY)),
    job_logging: field(mapOf(ANY)),
    sweeper: field(ANY),
    launcher: field(ANY),
    callbacks: emptyMap(ANY),
    help: object("HelpConf", {
      app_name: field(STR),
      header: field(STR),
      footer: field(STR),
      template: field(STR),
    }),
    hydra_help: object("HydraHelpConf", { hydra_help: field(STR), template: field(STR) }),
    output_subdir: field(optional(STR), ".hydra"),
    ...(dialect.hasAliases && { override: object("OverrideConf", { aliases: emptyMap(STR) }) }),
    overrides: object("OverridesConf", { hydra: emptyList(STR), task: emptyList(STR) }),
    job: job(dialect),
    runtime: RUNTIME,
    verbose: field(ANY, false),
  });

/** Settings of Hydra's own launcher that are ours. */
const OUR_BASIC_LAUNCHER = { warm: optional(BOOL) };

const LAUNCHER = object(
  "BasicLauncherConf",
  { _target_: field(STR, "hydra._internal.core_plugins.basic_launcher.BasicLauncher") },
  [],
  OUR_BASIC_LAUNCHER,
);

/** The settings of Hydra's own sweeper, which every dialect has. */
const BASIC_SWEEPER = {
  max_batch_size: field(optional(INT), null),
  params: field(optional(mapOf(STR)), null),
};

/** Settings of Hydra's own sweeper that are ours. */
const OUR_BASIC_SWEEPER = { exclude: ANY };

export const BASIC_SWEEPER_SETTINGS: readonly string[] = [
  ...Object.keys(BASIC_SWEEPER),
  ...Object.keys(OUR_BASIC_SWEEPER),
];

/** Hydra's own sweeper. */
const sweeper = ({ failsFast }: Dialect): Field =>
  object(
    "BasicSweeperConf",
    {
      _target_: field(STR, "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"),
      ...BASIC_SWEEPER,
    },
    [],
    { ...OUR_BASIC_SWEEPER, ...(failsFast && { fail_fast: BOOL }) },
  );

/** A setting below `hydra`. */
export interface Setting {
  readonly key: string;
  /** What to say of it where only another version of Hydra has it. */
  readonly versionHint?: string;
}

/**
 * The setting that a key below `hydra` means which its types do not have: one with this name at another place, or of another version.
 * Undefined if there is none.
 * @param path the parts of the key, from the root
 */
export function settingMeant(
  [root, ...path]: readonly string[],
  dialect: Dialect,
): Setting | undefined {
  if (root !== "hydra") return undefined;
  const others = Object.values(DIALECTS).filter(({ name }) => name !== dialect.name);
  for (let length = path.length; length > 0; length--) {
    const wanted = path.slice(0, length).join(".");
    if (settingsOf(dialect).includes(wanted)) return undefined;
    for (const candidate of [dialect, ...others]) {
      const found = settingsOf(candidate).filter((key) => `.${key}`.endsWith(`.${wanted}`));
      const meant = found.includes(wanted) ? wanted : found.length === 1 ? found[0] : undefined;
      if (meant === undefined) continue;
      const key = ["hydra", meant, ...path.slice(length)].join(".");
      if (candidate === dialect) return { key };
      const versions = `(version_base, --version-base ${candidate.name})`;
      return { key, versionHint: `only Hydra ${candidate.name} has hydra.${meant} ${versions}` };
    }
  }
  return undefined;
}

/** Whether a key is Hydra's to set: a value that an override gives it is replaced. */
export const isSetByHydra = (key: string): boolean =>
  key.startsWith("hydra.runtime.") || key.startsWith("hydra.overrides.");

/** The keys of all settings below `hydra`. */
function settingsOf(dialect: Dialect): readonly string[] {
  const keysOf = ({ type }: { readonly type: NodeType }): readonly string[] =>
    type.kind !== "object"
      ? []
      : [...type.fields].flatMap(([name, field]) => [
          name,
          ...keysOf({ type: field }).map((key) => `${name}.${key}`),
        ]);
  return [...keysOf(hydra(dialect)), ...keysOf(sweeper(dialect)).map((key) => `sweeper.${key}`)];
}

/** The groups that make up the `hydra` node, in the order in which they are composed. */
const DEFAULTS = {
  output: "default",
  launcher: "basic",
  sweeper: "basic",
  help: "default",
  hydra_help: "default",
  hydra_logging: "default",
  job_logging: "default",
  callbacks: null,
  env: "default",
};

export const HYDRA_CONFIG = "hydra/config";

/** Placeholder for an absent primary config; it has no row in the defaults list. */
export const EMPTY_CONFIG = "_dummy_empty_config_";

/** Hydra's own structured configs, overridden by the entries of a user's config store. */
export function schemaSource(
  store: ReadonlyMap<string, StoreEntry>,
  reading?: Reading,
): ConfigSource {
  const dialect = reading?.dialect ?? DEFAULT_DIALECT;
  const builtIns: readonly [string, StoreEntry][] = [
    [HYDRA_CONFIG, { node: withDefaults(hydra(dialect), DEFAULTS) }],
    ["hydra/launcher/basic", { node: LAUNCHER.node }],
    ["hydra/sweeper/basic", { node: sweeper(dialect).node }],
    [EMPTY_CONFIG, { node: map([], fromCode("compose")) }],
  ];
  return memorySource(
    { scheme: "structured", path: "", provider: "schema" },
    new Map([...builtIns, ...store]),
    reading,
  );
}

/**
 * The OmegaConf exception class of an error code. Hydra prints it in the first line of a composition error, which
 * people search for.
 */
const CLASS_NAMES: Partial<Record<ErrorCode, string>> = {
  "key.invalid_type": "KeyValidationError",
  "key.not_found": "ConfigKeyError",
  "value.missing": "MissingMandatoryValue",
  "value.wrong_type": "ValidationError",
  "value.readonly": "ReadonlyConfigError",
  "value.struct": "ConfigKeyError",
  "merge.incompatible": "ConfigTypeError",
  "interpolation.syntax": "GrammarParseError",
  "interpolation.not_found": "InterpolationKeyError",
  "interpolation.cycle": "InterpolationResolutionError",
  "interpolation.to_missing": "InterpolationToMissingValueError",
  "resolver.unknown": "UnsupportedInterpolationType",
  "resolver.failed": "InterpolationResolutionError",
};

export const hydraClassName = (code: ErrorCode): string => CLASS_NAMES[code] ?? "ConfigError";
