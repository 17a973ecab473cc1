/** The engine of programs of Node: with the files, the environment and the plugins that are there. */
import { type Plugin, plugins } from "./app/plugins/contract/plugin.ts";
import { STANDARD_PLUGINS } from "./app/plugins/standard-plugins.ts";
import { type ConfigLayer, configLayers } from "./engine/compose/layers/layer.ts";
import { DISK_ACCESS } from "./engine/compose/sources/file-source.ts";
import { type ConfigFormat, configFormats } from "./engine/compose/sources/formats.ts";
import { configStore, type StoreEntry } from "./engine/compose/sources/memory-source.ts";
import type { FileAccess, SourceFactory } from "./engine/compose/sources/repository.ts";
import { createConfigAjv } from "./engine/schema/ajv.ts";
import { createConfigReader } from "./engine/schema/config-reader.ts";
import {
  checkedAsRegistered,
  environment,
  fn,
  mapOf,
  type OptionChecks,
  optional,
  path,
} from "./engine/values/check-options.ts";
import { type DialectName, dialectNamed, dialectOption } from "./engine/values/dialect.ts";
import { type Limits, limitsOption } from "./engine/values/limits.ts";
import type { Resolver } from "./engine/values/resolution/resolver.ts";
import { requireIn } from "./foundation/system/require-in.ts";
import { checkedEngine, type Engine, openEngine } from "./open-engine.ts";

/** Options that apply to all compositions of an engine. */
export interface EngineOptions {
  /** The base of relative directories. Default: the working directory. */
  readonly cwd?: string;
  /**
   * The environment that `oc.env` reads, and whose `PYTHONPATH` is used for `pkg://`. Default: a copy of the process's.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Resolvers in addition to the built-in `oc.*`. */
  readonly resolvers?: Iterable<Resolver>;
  /**
   * The config store (`structured://`): values, trees or YAML texts by config path. Values and trees
   * may have a schema.
   */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /**
   * The plugins whose configs, resolvers and config sources are available in addition to Hydra's own. Default:
   * `STANDARD_PLUGINS`, as in the commands; `[]` is Hydra without any plugin installed.
   */
  readonly plugins?: readonly Plugin[];
  /**
   * Values above the config files and below the overrides, as of environment variables: `hydraconf/sources` has ready ones. They are read
   * once, and again after `refresh`.
   */
  readonly layers?: readonly ConfigLayer[];
  /** Formats of config files beside YAML, such as TOML: `hydraconf/sources` has ready ones. */
  readonly formats?: readonly ConfigFormat[];
  /** Further kinds of sources for search paths, by URL scheme. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /** The Hydra version whose behaviour is reproduced. Default: 1.3. */
  readonly dialect?: DialectName;
  /**
   * How much aliases and interpolations may add to a config; each limit is optional. Default: the limits of the
   * environment (`HYDRACONF_MAX_VALUES`, `HYDRACONF_MAX_CHARACTERS`), or `DEFAULT_LIMITS`.
   */
  readonly limits?: Partial<Limits>;
}

/** @throws ConfigError for an unknown dialect or an invalid resolver. */
export const createEngine = (options: EngineOptions = {}): Engine =>
  checkedEngine(openNodeEngine(options));

/** An engine whose methods do not check their options, for callers that have checked them. */
export function openNodeEngine(
  options: EngineOptions,
  dialect = dialectNamed(options.dialect ?? "1.3"),
  files: FileAccess = DISK_ACCESS,
): Engine {
  const { cwd = process.cwd(), env = { ...process.env }, plugins = STANDARD_PLUGINS } = options;
  return openEngine({
    ...options,
    cwd,
    env,
    plugins,
    dialect,
    files,
    loadLibrary: (name) => requireIn(cwd)(name),
    schemaReader: createConfigReader(createConfigAjv),
  });
}

/** The checks of the options of `createEngine`. */
export const ENGINE_OPTIONS: OptionChecks<EngineOptions> = {
  cwd: optional(path),
  env: optional(environment),
  resolvers: checkedAsRegistered,
  store: optional(configStore),
  plugins: optional(plugins),
  layers: configLayers,
  formats: configFormats,
  sources: optional(mapOf("functions", fn)),
  dialect: dialectOption,
  limits: limitsOption,
};
