/**
 * The engine wherever JavaScript runs: in browsers, workers, Deno, Bun and Node. It composes trees that are held in memory, exactly as
 * `hydraconf` composes them from files, and needs no module of Node.
 *
 * @module hydraconf/engine
 */
import { STANDARD_CONFIGS } from "./app/plugins/standard-configs.ts";
import type { Config } from "./engine/compose/config.ts";
import { CONFIG_PLUGIN, type ConfigPlugin } from "./engine/compose/config-plugin.ts";
import type { DataOf } from "./engine/compose/config-types.ts";
import { type ConfigLayer, configLayers } from "./engine/compose/layers/layer.ts";
import { type ConfigFormat, configFormats } from "./engine/compose/sources/formats.ts";
import { type FileTexts, fileTexts, memoryAccess } from "./engine/compose/sources/memory-files.ts";
import { configStore, type StoreEntry } from "./engine/compose/sources/memory-source.ts";
import type { SourceFactory } from "./engine/compose/sources/repository.ts";
import {
  type Instantiate,
  type InstantiateAsync,
  instantiation,
} from "./engine/instantiate/instantiate.ts";
import { registeredTargets, type TargetMap, type Targets } from "./engine/instantiate/targets.ts";
import { ajvWith, createConfigReader } from "./engine/schema/config-reader.ts";
import type { AjvFactory } from "./engine/schema/given-ajv.ts";
import { readSchemaFile } from "./engine/schema/schema-file.ts";
import {
  checkedAsRegistered,
  checkOptions,
  environment,
  fn,
  having,
  listOf,
  mapOf,
  type OptionChecks,
  optional,
  path,
  schemaOption,
  whichIs,
} from "./engine/values/check-options.ts";
import type { ConfigSchema } from "./engine/values/config-schema.ts";
import { type DialectName, dialectNamed, dialectOption } from "./engine/values/dialect.ts";
import { type Limits, limitsOption } from "./engine/values/limits.ts";
import { createResolveContext } from "./engine/values/resolution/context.ts";
import type { Resolver } from "./engine/values/resolution/resolver.ts";
import { isDate } from "./foundation/system/builtin-types.ts";
import { type OmegaConf, omegaConf } from "./omegaconf.ts";
import {
  COMPOSE_OPTIONS,
  type ComposeOptions,
  checkedEngine,
  type Engine,
  fitWith,
  openEngine,
  withHydra,
} from "./open-engine.ts";

export { renderExplanation } from "./app/cli/show-explanation.ts";
export { STANDARD_CONFIGS } from "./app/plugins/standard-configs.ts";
export { diffConfigs, leavesOf, memorySource, pathText } from "./engine/compose/index.ts";
export type { FileTexts } from "./engine/compose/sources/memory-files.ts";
export { target } from "./engine/instantiate/target.ts";
export { nodeOf } from "./engine/instantiate/view.ts";
export type { AjvFactory, AjvOptions, GivenAjv } from "./engine/schema/given-ajv.ts";
export { CodedError, ConfigError, isCodedError, isConfigError } from "./engine/values/errors.ts";
export { DEFAULT_LIMITS } from "./engine/values/limits.ts";
export { toObject } from "./engine/values/plain-objects.ts";
export { renderError } from "./engine/values/render-error.ts";
export { resolver } from "./engine/values/resolution/resolver.ts";
export type * from "./engine-types.ts";
export { type FetchedText, type FetchOptions, fetchFiles } from "./fetch-files.ts";
export { isInterpolation, isMissing, maskedCopy, setFlags } from "./omegaconf.ts";
export { parseOverride, parseOverrides } from "./parse-overrides.ts";

/** Options that apply to all compositions of an engine. */
export interface EngineOptions<Schema extends ConfigSchema | undefined = ConfigSchema | undefined> {
  /**
   * The texts of files by path, which config directories are read from: `{ "conf/config.yaml": "..." }` is the file of
   * the directory `conf`. Default: none.
   */
  readonly files?: FileTexts;
  /** The directory of `files` that relative paths begin at, and the value of `hydra.runtime.cwd`. Default: `/`. */
  readonly cwd?: string;
  /** The environment that `oc.env` reads, and that sets limits. Default: an empty one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Resolvers in addition to `oc.*` and those that Hydra registers. */
  readonly resolvers?: Iterable<Resolver>;
  /** The config store (`structured://`): values, trees or YAML texts by config path. Values and trees may have a schema. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /**
   * What provides configs, resolvers and config sources in addition to Hydra's own. Default: `STANDARD_CONFIGS`, those of the plugins
   * that `hydraconf` has.
   */
  readonly plugins?: readonly ConfigPlugin[];
  /** Values above the config files and below the overrides. They are read once, and again after `refresh`. */
  readonly layers?: readonly ConfigLayer[];
  /** Formats of config files beside YAML, such as TOML: `hydraconf/sources` has ready ones. */
  readonly formats?: readonly ConfigFormat[];
  /** Further kinds of sources for search paths, by URL scheme. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /** What each composed config must fit, unless its own `schema` says otherwise: the same as there. */
  readonly schema?: Schema;
  /** The Hydra version whose behaviour is reproduced. Default: 1.3. */
  readonly dialect?: DialectName;
  /** How much aliases and interpolations may add to a config. Default: what `env` sets, or `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>;
  /** Makes the ajv that JSON Schemas are checked by. Validators such as zod need none. */
  readonly ajv?: AjvFactory;
  /** The time that `${now:...}` shows. Default: that at which the engine is created. */
  readonly now?: Date;
}

const ENGINE_OPTIONS: OptionChecks<EngineOptions> = {
  files: optional(fileTexts),
  cwd: optional(path),
  env: optional(environment),
  resolvers: checkedAsRegistered,
  schema: optional(schemaOption),
  store: optional(configStore),
  plugins: optional(listOf("plugins", having(CONFIG_PLUGIN), "[...STANDARD_CONFIGS, mine]")),
  layers: configLayers,
  formats: configFormats,
  sources: optional(mapOf("functions", fn)),
  dialect: dialectOption,
  limits: limitsOption,
  ajv: optional(fn),
  now: optional(whichIs(isDate, "a Date")),
};

/**
 * An engine over files in memory, with the resolvers that Hydra itself registers: `now`, `python_version`, and `hydra`, which has no values
 * outside of a running program.
 *
 * @throws ConfigError for an unknown dialect or an invalid resolver, and `value.wrong_type` for unknown options and
 * values that the types do not allow.
 */
export function createEngine<const Schema extends ConfigSchema | undefined = undefined>(
  options: EngineOptions<Schema> = {},
): Engine<Schema> {
  checkOptions("createEngine", options, ENGINE_OPTIONS);
  return checkedEngine(open(options));
}

/**
 * Composes a config in one call. To compose one tree many times, create an engine.
 *
 * @throws ConfigError for errors in the files or the overrides, and those of `createEngine`.
 */
export function compose<
  const Schema extends ConfigSchema | undefined = undefined,
  const Dir extends string | null = null,
  const Name extends string | null = null,
  const Overrides extends readonly string[] = readonly string[],
>(
  options: ComposeOptions<Schema, Dir, Name, Overrides> & EngineOptions<Schema>,
): Config<DataOf<Schema, Dir, Name>> {
  const checks = { ...COMPOSE_OPTIONS, ...ENGINE_OPTIONS };
  checkOptions("compose", options, checks, 'compose({ files: {...}, configDir: "conf", ... })');
  return open(options).compose<Schema, Dir, Name>(options as never);
}

function open(options: EngineOptions): Engine {
  const { ajv, cwd = "/", env = {}, files = {}, now, plugins = STANDARD_CONFIGS } = options;
  const access = memoryAccess(files);
  const root = access.resolve("/", cwd);
  return openEngine({
    ...withHydra(options, now),
    cwd: root,
    env,
    plugins,
    dialect: dialectNamed(options.dialect ?? "1.3"),
    files: access,
    schemaReader: createConfigReader({
      ajvOf: ajvWith(ajv),
      readFile: (path) =>
        readSchemaFile(path, (name) => access.system.read(access.resolve(root, name))),
    }),
  });
}

/**
 * The targets that `_target_` may name. Names may have dots (`torch.optim.Adam`), so that the config tree of a Python
 * program can be used as it is.
 * @throws ConfigError `value.wrong_type` for arguments that the types do not allow
 */
export const createTargets = <const Entries extends TargetMap>(
  entries: Entries,
): Targets<Entries> => registeredTargets(entries);

const noFile = (path: string) => readSchemaFile(path, () => undefined);

// Where a call gives no environment, there is none.
const anywhere = omegaConf(() => ({}));
/** @function */
export const loadYaml: OmegaConf["loadYaml"] = anywhere.loadYaml;
/** @function */
export const toYaml: OmegaConf["toYaml"] = anywhere.toYaml;
/** @function */
export const merge: OmegaConf["merge"] = anywhere.merge;
/** @function */
export const mergeAll: OmegaConf["mergeAll"] = anywhere.mergeAll;
/** @function */
export const select: OmegaConf["select"] = anywhere.select;
/** @function */
export const update: OmegaConf["update"] = anywhere.update;
/** @function */
export const resolve: OmegaConf["resolve"] = anywhere.resolve;
/** @function */
export const missingKeys: OmegaConf["missingKeys"] = anywhere.missingKeys;
/** @function */
export const fromDotlist: OmegaConf["fromDotlist"] = anywhere.fromDotlist;
/** @function */
export const mergeDotlist: OmegaConf["mergeDotlist"] = anywhere.mergeDotlist;

const instantiating = instantiation({
  context: () => createResolveContext(),
  targets: registeredTargets({}),
  fit: fitWith(createConfigReader({ ajvOf: ajvWith(undefined), readFile: noFile })),
});
/** @function */
export const instantiate: Instantiate = instantiating.instantiate;
/** @function */
export const instantiateAsync: InstantiateAsync = instantiating.instantiateAsync;
