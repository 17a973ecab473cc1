/** The engine as an object of a program: compositions with its sources, resolvers and dialect. */
import { withHydraResolvers } from "./app/job/resolvers.ts";
import { aliasesOf, expandAliases, explainingAliases } from "./engine/compose/aliases.ts";
import { type Composition, composeConfig } from "./engine/compose/compose.ts";
import { type Config, createConfig } from "./engine/compose/config.ts";
import {
  type ConfigPlugin,
  pluginLayers,
  pluginResolvers,
  refuseClashes,
} from "./engine/compose/config-plugin.ts";
import type { CheckedOverrides, DataOf } from "./engine/compose/config-types.ts";
import type { RunMode } from "./engine/compose/defaults/list.ts";
import { type ConfigLayer, readLayers } from "./engine/compose/layers/layer.ts";
import { openTree, primaryAtRoot, type TreeRequest } from "./engine/compose/open-tree.ts";
import { fitPart } from "./engine/compose/schemas.ts";
import type { SchemaReader } from "./engine/compose/sources/config-source.ts";
import type { ConfigFormat, LoadLibrary } from "./engine/compose/sources/formats.ts";
import type { StoreEntry } from "./engine/compose/sources/memory-source.ts";
import type { FileAccess, Snapshot, SourceFactory } from "./engine/compose/sources/repository.ts";
import { withSyntaxRemedy } from "./engine/compose/syntax-remedy.ts";
import type { InstantiateDefaults } from "./engine/instantiate/instantiate.ts";
import { parseOverrides } from "./engine/overrides/index.ts";
import {
  checkOptions,
  listOf,
  type OptionChecks,
  oneOf,
  optional,
  orNull,
  path,
  schemaOption,
  text,
  trueOrFalse,
} from "./engine/values/check-options.ts";
import type { ConfigSchema } from "./engine/values/config-schema.ts";
import {
  type Dialect,
  type DialectName,
  dialectNamed,
  withoutExtensions,
} from "./engine/values/dialect.ts";
import type { Limits } from "./engine/values/limits.ts";
import { createResolveContext, type ResolveContext } from "./engine/values/resolution/context.ts";
import type { Resolver } from "./engine/values/resolution/resolver.ts";

/** The input of a composition: the directories, the primary config and the overrides. */
export interface ComposeOptions<
  Schema extends ConfigSchema | undefined = ConfigSchema | undefined,
  Dir extends string | null = string | null,
  Name extends string | null = string | null,
  Overrides extends readonly string[] = readonly string[],
> {
  /** The directory of the primary config, or `pkg://…`; null if only the config store is used. */
  readonly configDir?: Dir;
  /** Further directories, searched after `configDir` (`--config-dir`). */
  readonly configDirs?: readonly string[];
  /** Default: null, which composes only what the overrides append, as in Hydra: no config of the directory is read for its name. */
  readonly configName?: Name;
  /** Where the tree is declared (`hydraconf schema --types`), options of groups and keys that it does not have are no overrides. */
  readonly overrides?: CheckedOverrides<Dir, Name, Overrides>;
  /** In `multirun`, sweep overrides are ignored and groups without an option stay open. Default: `run`. */
  readonly mode?: RunMode;
  /**
   * What the config must fit: a JSON Schema, the path of a file with one, or the validator of a library that implements
   * https://standardschema.dev, such as zod. What it gives, defaults and conversions included, is the config. Default: that of the engine.
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
export interface Engine<Default extends ConfigSchema | undefined = undefined> {
  /** @throws ConfigError for any problem of the files or the overrides */
  compose<
    const Schema extends ConfigSchema | undefined = Default,
    const Dir extends string | null = null,
    const Name extends string | null = null,
    const Overrides extends readonly string[] = readonly string[],
  >(options: ComposeOptions<Schema, Dir, Name, Overrides>): Config<DataOf<Schema, Dir, Name>>;
  /** Like `compose`, but returns all results of the composition instead of a `Config`. */
  composition(options: ComposeOptions): Composition;
  /** The files as seen by this engine. */
  snapshot(options: Pick<ComposeOptions, "configDir" | "configDirs">): Snapshot;
  /** A context for resolving interpolations, with this engine's resolvers and a separate cache. */
  resolveContext(): ResolveContext;
  /** Drops the files read so far, so that the next composition reads them again. */
  refresh(): void;
}

/** What an engine composes with. */
export interface EngineSettings {
  /** The base of relative directories. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In addition to the built-in `oc.*`. */
  readonly resolvers?: Iterable<Resolver>;
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** Of compositions that have none of their own. */
  readonly schema?: ConfigSchema | undefined;
  readonly plugins: readonly ConfigPlugin[];
  readonly layers?: readonly ConfigLayer[];
  readonly formats?: readonly ConfigFormat[];
  readonly loadLibrary?: LoadLibrary;
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  readonly dialect: Dialect;
  readonly limits?: Partial<Limits>;
  /** What reads directories. */
  readonly files: FileAccess;
  readonly schemaReader: SchemaReader;
}

/**
 * The options with the resolvers that Hydra itself registers, in addition to those of the program.
 * @throws ConfigError `compose.unsupported` for an unknown dialect, `resolver.invalid`
 */
export function withHydra<
  Options extends { readonly dialect?: DialectName; readonly resolvers?: Iterable<Resolver> },
>(options: Options, now = new Date()): Options {
  const { dialect } = options;
  const program = {
    now,
    root: () => undefined,
    ...(dialect !== undefined && { dialect: dialectNamed(dialect) }),
  };
  return { ...options, resolvers: withHydraResolvers(options.resolvers, program) };
}

/** The same engine, whose methods check their options. */
export function checkedEngine(engine: Engine): Engine {
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
export function openEngine(settings: EngineSettings): Engine {
  const { cwd, plugins, resolvers = [], schemaReader } = settings;
  const dialect = plugins.length === 0 ? withoutExtensions(settings.dialect) : settings.dialect;
  refuseClashes(plugins);
  const all = [...pluginResolvers(plugins), ...resolvers];
  const layers = [...pluginLayers(plugins), ...(settings.layers ?? [])];
  const open = () => {
    const { env, settersOf, values } = readLayers(layers, {
      ...settings,
      files: settings.files.system,
    });
    const context = createResolveContext({
      ...settings,
      dialect,
      env,
      resolvers: all,
      settersOf,
    });
    const reading = { ...formatsOf(settings), limits: context.limits, dialect, env };
    return { context, snapshots: createSnapshots({ ...settings, env, reading }), values };
  };
  // What is wrong with options is told where they were given; layers are read when something is composed.
  let opened = layers.length === 0 ? open() : undefined;
  const current = () => {
    opened ??= open();
    return opened;
  };
  const resolveContext = (): ResolveContext => ({ ...current().context, cache: new Map() });

  const composeIn = (request: ComposeOptions, context: ResolveContext): Composition => {
    const { configName = null, overrides: texts = [], schema = settings.schema } = request;
    const { snapshots, values } = current();
    const snapshot = snapshots.snapshotOf(request);
    const aliases = dialect.hasAliases
      ? aliasesOf(primaryAtRoot(configName, snapshot.repository), dialect)
      : [];
    const { overrides, typed } = expandAliases(texts, aliases, dialect);
    const compose = (texts: readonly string[]): Composition =>
      composeConfig({
        snapshot,
        configName,
        layerValues: values,
        overrides: parseOverrides(texts, { dialect }),
        mode: request.mode ?? "run",
        fromShell: request.fromShell ?? false,
        jobName: request.jobName ?? "app",
        cwd,
        context,
        schemaReader,
        ...(schema !== undefined && { schema }),
      });
    const composition = explainingAliases(typed, () => {
      try {
        return compose(overrides);
      } catch (error) {
        throw withSyntaxRemedy(error, { texts: overrides, compose });
      }
    });
    if (dialect.notice === null) return composition;
    const notice = { code: "deprecated", message: dialect.notice } as const;
    return { ...composition, warnings: [notice, ...composition.warnings] };
  };

  return {
    compose(request: ComposeOptions) {
      const context = resolveContext();
      const composition = composeIn(request, context);
      const root = request.returnHydraConfig ? composition.root : composition.config;
      return createConfig<never>(root, composition, context);
    },
    composition: (request) => composeIn(request, resolveContext()),
    snapshot: (request) => current().snapshots.snapshotOf(request),
    resolveContext,
    refresh() {
      if (layers.length > 0) opened = undefined;
      else current().snapshots.forget();
    },
  };
}

/** What `instantiate` does with a schema. */
export const fitWith =
  (reader: SchemaReader): InstantiateDefaults["fit"] =>
  ({ context, path, root, schema }) =>
    fitPart(root, { path, schema, reader }, context);
const formatsOf = ({ formats, loadLibrary }: EngineSettings) => ({
  ...(formats !== undefined && { formats }),
  ...(loadLibrary !== undefined && { loadLibrary }),
});

/** One snapshot for each combination of directories. */
function createSnapshots(settings: Omit<TreeRequest, "configDir" | "configDirs">): {
  readonly snapshotOf: Engine["snapshot"];
  readonly forget: () => void;
} {
  const opened = new Map<string, Snapshot>();
  return {
    snapshotOf({ configDir = null, configDirs = [] }) {
      const id = JSON.stringify([configDir, configDirs]);
      const snapshot = opened.get(id) ?? openTree({ ...settings, configDir, configDirs });
      opened.set(id, snapshot);
      return snapshot;
    },
    forget: () => opened.clear(),
  };
}

/** The checks of the options of a composition. */
export const COMPOSE_OPTIONS: OptionChecks<ComposeOptions> = {
  configDir: orNull(path),
  configDirs: optional(listOf("strings", path, '["more"]')),
  configName: orNull(text),
  overrides: optional(listOf("strings", text, '["db=mysql", "+lr=0.1"]')),
  mode: optional(oneOf("run", "multirun")),
  jobName: optional(text),
  schema: optional(schemaOption),
  returnHydraConfig: optional(trueOrFalse),
  fromShell: optional(trueOrFalse),
};
