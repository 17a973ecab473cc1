/** The engine as an object of a program: its plugins, resolvers and dialect, and compositions with them. */
import { type Plugin, plugins } from "./app/plugins/contract/plugin.ts";
import { STANDARD_PLUGINS } from "./app/plugins/standard-plugins.ts";
import { aliasesOf, expandAliases, explainingAliases } from "./engine/compose/aliases.ts";
import { type Composition, composeConfig } from "./engine/compose/compose.ts";
import { type Config, createConfig } from "./engine/compose/config.ts";
import { pluginResolvers, refuseClashes } from "./engine/compose/config-plugin.ts";
import type { RunMode } from "./engine/compose/defaults/list.ts";
import { openTree, primaryAtRoot, type TreeRequest } from "./engine/compose/open-tree.ts";
import type { ConfigSchema, ResolvedData } from "./engine/compose/sources/config-source.ts";
import {
  configSchema,
  configStore,
  type StoreEntry,
} from "./engine/compose/sources/memory-source.ts";
import type { Snapshot, SourceFactory } from "./engine/compose/sources/repository.ts";
import { parseOverrides } from "./engine/overrides/index.ts";
import { createConfigReader } from "./engine/schema/config-reader.ts";
import {
  checkedAsRegistered,
  checkOptions,
  environment,
  fn,
  listOf,
  mapOf,
  type OptionChecks,
  oneOf,
  optional,
  orNull,
  path,
  text,
  trueOrFalse,
} from "./engine/values/check-options.ts";
import { type DialectName, dialectNamed, dialectOption } from "./engine/values/dialect.ts";
import { type Limits, limitsOption } from "./engine/values/limits.ts";
import { createResolveContext, type ResolveContext } from "./engine/values/resolution/context.ts";
import type { Resolver } from "./engine/values/resolution/resolver.ts";

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

/** The input of a composition: the directories, the primary config and the overrides. */
export interface ComposeOptions<Schema extends ConfigSchema = ConfigSchema> {
  /** The directory of the primary config, or `pkg://…`; null if only the config store is used. */
  readonly configDir?: string | null;
  /** Further directories, searched after `configDir` (`--config-dir`). */
  readonly configDirs?: readonly string[];
  /** Default: null, which composes only what the overrides append. */
  readonly configName?: string | null;
  readonly overrides?: readonly string[];
  /** In `multirun`, sweep overrides are ignored and groups without an option stay open. Default: `run`. */
  readonly mode?: RunMode;
  /**
   * Validates the config: a JSON Schema, or the validator of a library that implements https://standardschema.dev,
   * such as zod, whose input type is then that of `toObject({ resolve: true })`.
   */
  readonly schema?: Schema;
  /** Default: `app`. */
  readonly jobName?: string;
  /** Keeps the `hydra` node in the result. Default: false. */
  readonly returnHydraConfig?: boolean;
  /** Whether the overrides come from a shell, so that messages can give hints about quoting. */
  readonly fromShell?: boolean;
}

/**
 * Composes configs from files that are read only once: with one engine, a sweep of a thousand jobs parses each file
 * once, and all its jobs see the same tree.
 */
export interface Engine {
  /** @throws ConfigError for any problem of the files or the overrides */
  compose<Schema extends ConfigSchema = ConfigSchema>(
    options: ComposeOptions<Schema>,
  ): Config<ResolvedData<Schema>>;
  /** Like `compose`, but returns all results of the composition instead of a `Config`. */
  composition(options: ComposeOptions): Composition;
  /** The files as seen by this engine. */
  snapshot(options: Pick<ComposeOptions, "configDir" | "configDirs">): Snapshot;
  /** A context for resolving interpolations, with this engine's resolvers and a separate cache. */
  resolveContext(): ResolveContext;
  /** Drops the files read so far, so that the next composition reads them again. */
  refresh(): void;
}

/** @throws ConfigError for an unknown dialect or an invalid resolver. */
export function createEngine(options: EngineOptions = {}): Engine {
  const engine = openEngine(options);
  const checked =
    <Request extends object, Result>(by: string, method: (request: Request) => Result) =>
    (request: Request): Result => {
      checkOptions(by, request, COMPOSE_OPTIONS, 'compose({ configDir: "conf", ... })');
      return method(request);
    };
  return {
    ...engine,
    compose: checked("compose", engine.compose),
    composition: checked("composition", engine.composition),
    snapshot: checked("snapshot", engine.snapshot),
  };
}

/** An engine whose methods do not check their options, for callers that have checked them. */
export function openEngine(
  options: EngineOptions,
  dialect = dialectNamed(options.dialect ?? "1.3"),
): Engine {
  const { cwd = process.cwd(), env = { ...process.env } } = options;
  const { plugins = STANDARD_PLUGINS, resolvers = [] } = options;
  refuseClashes(plugins);
  const schemaReader = createConfigReader();
  const all = [...pluginResolvers(plugins), ...resolvers];
  const context = createResolveContext({ ...options, resolvers: all, env, dialect });
  const snapshots = createSnapshots({
    ...options,
    plugins,
    cwd,
    env,
    reading: { limits: context.limits, dialect, env },
  });
  const resolveContext = (): ResolveContext => ({ ...context, cache: new Map() });

  const composeIn = (request: ComposeOptions, context: ResolveContext): Composition => {
    const { configName = null, overrides: texts = [] } = request;
    const snapshot = snapshots.of(request);
    const aliases = dialect.hasAliases
      ? aliasesOf(primaryAtRoot(configName, snapshot.repository), dialect)
      : [];
    const { overrides, typed } = expandAliases(texts, aliases, dialect);
    const composition = explainingAliases(typed, () =>
      composeConfig({
        snapshot,
        configName,
        overrides: parseOverrides(overrides, { dialect }),
        mode: request.mode ?? "run",
        fromShell: request.fromShell ?? false,
        jobName: request.jobName ?? "app",
        cwd,
        context,
        schemaReader,
        ...(request.schema !== undefined && { schema: request.schema }),
      }),
    );
    if (dialect.notice === null) return composition;
    const notice = { code: "deprecated", message: dialect.notice } as const;
    return { ...composition, warnings: [notice, ...composition.warnings] };
  };

  return {
    compose<Schema extends ConfigSchema>(request: ComposeOptions<Schema>) {
      const context = resolveContext();
      const composition = composeIn(request, context);
      const root = request.returnHydraConfig ? composition.root : composition.config;
      return createConfig<ResolvedData<Schema>>(root, composition, context);
    },
    composition: (request) => composeIn(request, resolveContext()),
    snapshot: snapshots.of,
    resolveContext,
    refresh: snapshots.forget,
  };
}

/** One snapshot for each combination of directories. */
function createSnapshots(settings: Omit<TreeRequest, "configDir" | "configDirs">): {
  readonly of: Engine["snapshot"];
  readonly forget: () => void;
} {
  const known = new Map<string, Snapshot>();
  return {
    of({ configDir = null, configDirs = [] }) {
      const id = JSON.stringify([configDir, configDirs]);
      const snapshot = known.get(id) ?? openTree({ ...settings, configDir, configDirs });
      known.set(id, snapshot);
      return snapshot;
    },
    forget: () => known.clear(),
  };
}

/** The checks of the options of `createEngine`. */
export const ENGINE_OPTIONS: OptionChecks<EngineOptions> = {
  cwd: optional(path),
  env: optional(environment),
  resolvers: checkedAsRegistered,
  store: optional(configStore),
  plugins: optional(plugins),
  sources: optional(mapOf("functions", fn)),
  dialect: dialectOption,
  limits: limitsOption,
};

/** The checks of the options of a composition. */
export const COMPOSE_OPTIONS: OptionChecks<ComposeOptions> = {
  configDir: orNull(path),
  configDirs: optional(listOf("strings", path, '["more"]')),
  configName: orNull(text),
  overrides: optional(listOf("strings", text, '["db=mysql", "+lr=0.1"]')),
  mode: optional(oneOf("run", "multirun")),
  jobName: optional(text),
  schema: optional(configSchema),
  returnHydraConfig: optional(trueOrFalse),
  fromShell: optional(trueOrFalse),
};
