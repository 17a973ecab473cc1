/** Composes configs for one run of a program: one snapshot of its files, one time, one set of resolvers. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import {
  type Alias,
  aliasesIn,
  aliasesOf,
  expandAliases,
  explainingAliases,
} from "../../engine/compose/aliases.ts";
import { type ComposeRequest, type Composition, eachOnce } from "../../engine/compose/compose.ts";
import {
  type ConfigPlugin,
  pluginLayers,
  pluginResolvers,
} from "../../engine/compose/config-plugin.ts";
import type { CompositionWarning } from "../../engine/compose/defaults/deprecations.ts";
import type { RunMode } from "../../engine/compose/defaults/list.ts";
import {
  checkSweeps,
  composeConfig,
  composeDefaults,
  type Defaults,
  type DefaultsTreeNode,
  requirePrimary,
  withSyntaxRemedy,
} from "../../engine/compose/index.ts";
import { type ConfigLayer, readLayers } from "../../engine/compose/layers/layer.ts";
import { extendSearchPath, openTree, primaryAtRoot } from "../../engine/compose/open-tree.ts";
import { composedMode, modeBefore } from "../../engine/compose/run-mode.ts";
import { secretOverrides, secretTexts } from "../../engine/compose/secrets.ts";
import { DISK_ACCESS } from "../../engine/compose/sources/file-source.ts";
import type { ConfigFormat } from "../../engine/compose/sources/formats.ts";
import type { StoreEntry } from "../../engine/compose/sources/memory-source.ts";
import type { Repository, SourceFactory } from "../../engine/compose/sources/repository.ts";
import { FUNCTIONS } from "../../engine/overrides/functions/function-table.ts";
import { type Override, parseOverride, parseOverrides } from "../../engine/overrides/index.ts";
import { isSweep } from "../../engine/overrides/sweep.ts";
import { readSchemaFile } from "../../engine/schema/schema-file.ts";
import type { ConfigSchema } from "../../engine/values/config-schema.ts";
import { DEFAULT_DIALECT, type Dialect, withoutExtensions } from "../../engine/values/dialect.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { isInterpolationNode } from "../../engine/values/interpolation/interpolation-parser.ts";
import { splitKey } from "../../engine/values/key-path.ts";
import type { Limits } from "../../engine/values/limits.ts";
import { type ConfigNode, getAt, type MapNode, setAt } from "../../engine/values/node.ts";
import {
  createResolveContext,
  type ResolveContext,
} from "../../engine/values/resolution/context.ts";
import type { Resolver } from "../../engine/values/resolution/resolver.ts";
import type { Reading } from "../../engine/values/yaml/reader.ts";
import { requireIn } from "../../foundation/system/require-in.ts";
import { type ProgramOptions, readSchema, schemaForComposing } from "./options.ts";
import type { Invocation } from "./process/invocation.ts";
import type { Redaction } from "./redaction.ts";
import { withHydraResolvers } from "./resolvers.ts";

export interface ComposerRequest {
  readonly jobName: string;
  /** Directory (or `pkg://NAME/DIR`) of the primary config; null for a program without one. */
  readonly configPath: string | null;
  readonly configName: string | null;
  /** The directory of the program. Default: the working directory. */
  readonly base?: string;
  /** Keys whose mappings take further keys from overrides without a `+`; `""` is the whole config. */
  readonly freeKeys?: readonly string[];
  /** Keys of lists of texts: an interpolation in them has the declared type `str`. */
  readonly textLists?: readonly string[];
  /** Further directories where `pkg://` finds packages. */
  readonly packageRoots?: () => readonly string[];
  /** Directory added to the end of the search path (`--config-dir`). */
  readonly configDir?: string;
  /** The mode of the task, whatever configs and overrides say. Default: they decide. */
  readonly taskMode?: RunMode;
  /** Default: Hydra 1.3. */
  readonly dialect?: Dialect;
  /** The value of `hydra.runtime.version_base`. Default: the name of the dialect. */
  readonly versionBase?: string;
  readonly plugins: readonly ConfigPlugin[];
  /** The program's own resolvers. */
  readonly resolvers?: Iterable<Resolver>;
  /** The program's limits. Default: those that the environment sets. */
  readonly limits?: Partial<Limits>;
  /** Further kinds of sources for search paths, by scheme. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /** Values above the config files and below the overrides, after those of plugins. */
  readonly layers?: readonly ConfigLayer[];
  /** Formats of config files beside YAML. */
  readonly formats?: readonly ConfigFormat[];
  /** The config store. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** The reader of the store's schemas, and the program's own schema if composing needs it. */
  readonly schemas?: Schemas;
  /** Texts that stand for those of files (`Reading.overlay`). */
  readonly overlay?: Reading["overlay"];
  /** Learns every secret that is composed. */
  readonly redaction?: Redaction;
  /** Receives each warning once. */
  readonly onWarning?: (message: string) => void;
  /** Receives, once each, notes of our own: those that Hydra does not give. */
  readonly onNote?: (message: string) => void;
  /** Whether keys that only one option of a group sets get a note. Default: false. */
  readonly notesRareCases?: boolean;
  /** Whether the program's schema takes no null at a path. */
  readonly refusesNull?: ComposeRequest["refusesNull"];
  /** Short names of the user's settings, in every dialect; those of the primary config come first. */
  readonly aliases?: MapNode;
}

/** The schemas that composition uses. */
export type Schemas = Pick<ComposeRequest, "schemaReader" | "programSchema">;

type OfSchemas = Pick<ProgramOptions, "layers" | "schema" | "store"> &
  Partial<Pick<ProgramOptions, "base">>;

/**
 * Composing needs the store's schemas, and the program's schema if it marks secrets, gives values, or gives types to the values of layers.
 */
export async function openSchemas({ base, layers, schema, store }: OfSchemas): Promise<Schemas> {
  const programSchema =
    schema === undefined
      ? undefined
      : layers === undefined
        ? schemaForComposing(schema)
        : readSchema(schema);
  if (store === undefined && programSchema === undefined) return {};
  const { createConfigReader } = await import("../../engine/schema/config-reader.ts");
  const { createConfigAjv } = await import("../../engine/schema/ajv.ts");
  return {
    schemaReader: createConfigReader({
      ajvOf: createConfigAjv,
      readFile: (path) =>
        readSchemaFile(path, (name) => DISK_ACCESS.system.read(resolve(base ?? "", name))),
    }),
    ...(programSchema !== undefined && { programSchema }),
  };
}

/** Differences between a composition and that of a normal run. */
export interface CompositionChanges {
  /** A primary config other than the program's; null for none. */
  readonly configName?: string | null;
  /** `multirun` keeps sweep overrides and groups without an option unresolved. */
  readonly mode?: RunMode;
  /** The overrides of the sweep whose job this is: what a hint proposes must work in its other jobs, too. */
  readonly sweep?: readonly Override[];
}

/** The mode in which a program runs its task, and the composition for that mode. */
export interface ComposedTask {
  /** `multirun` for a sweep. */
  readonly mode: RunMode;
  /** The overrides of the command line, plus one that records the mode unless one of them sets it. */
  readonly overrides: readonly string[];
  readonly warning?: string;
  /**
   * The composition of the job, or of the sweep itself without its sweep overrides.
   *
   * @throws ConfigError if composition fails in this mode
   */
  readonly composition: () => Composition;
}

/** Composes for one program run: one snapshot of the files, one time, one set of resolvers. */
export interface Composer {
  /** Tells a note of our own, each once. */
  readonly note: (message: string) => void;
  readonly configName: string | null;
  readonly context: ResolveContext;
  readonly plugins: readonly ConfigPlugin[];
  /** The search path before the config adds entries. */
  readonly repository: Repository;
  /** The search path with the entries of overrides and the primary config, without composing. */
  searchPath(overrides: readonly string[]): Repository;
  compose(overrides: readonly string[], changes?: CompositionChanges): Composition;
  /** Keeps the secrets in overrides out of messages, also if they are never composed. */
  hide(overrides: readonly string[]): void;
  /**
   * The aliases of the primary config.
   *
   * @throws ConfigError for invalid ones
   */
  aliases(): readonly Alias[];
  /**
   * Typed overrides with the aliases in them expanded. Errors about them then tell what was typed.
   *
   * @throws ConfigError for invalid aliases, and for the alias of a key without a value
   */
  expand(typed: readonly string[]): readonly string[];
  /** What was typed for an expanded override. */
  typed(override: string): string;
  /**
   * Composes the config of a program's task, and decides between one job and a sweep: `--multirun`, else `hydra.mode`
   * of the config or an override, else one job.
   */
  composeTask(overrides: readonly string[], isMultirun: boolean): ComposedTask;
  /** The defaults list: the configs that take part, without their values. */
  defaults(overrides: readonly string[], changes: Pick<CompositionChanges, "configName">): Defaults;
  /** Sets the tree that the `hydra` resolver reads. */
  publish(root: MapNode): void;
}

/** @throws ConfigError if the added directory does not exist */
export function openComposer(request: ComposerRequest, invocation: Invocation): Composer {
  const { configName: primary, plugins, redaction } = request;
  const { cwd } = invocation;
  const layers = [...pluginLayers(plugins), ...(request.layers ?? [])];
  const {
    env,
    settersOf,
    values: layerValues,
  } = readLayers(layers, {
    cwd,
    env: invocation.env,
    files: DISK_ACCESS.system,
  });
  const published: { root?: MapNode; hidden?: ReadonlySet<string> } = {};
  const context = contextOf(
    request,
    { ...invocation, env, settersOf },
    () => published.root,
    () => published.hidden ?? new Set(),
  );
  const configDirs = addedDirectories(request, cwd);
  const snapshot = openTree({
    ...request,
    files: DISK_ACCESS,
    configDir: request.configPath,
    configDirs,
    cwd,
    env,
    reading: {
      limits: context.limits,
      dialect: context.dialect,
      env: context.env,
      ...(request.formats !== undefined && {
        formats: request.formats,
        loadLibrary: (name: string) => requireIn(request.base ?? cwd)(name),
      }),
      ...(request.overlay && { overlay: request.overlay }),
    },
  });
  const warnOnce = eachOnce(request.onWarning);
  const noteOnce = eachOnce(request.onNote);
  const onWarning = ({ code, message }: CompositionWarning): void =>
    code === "note" ? noteOnce(message) : warnOnce(message);
  let latest: readonly Override[] = [];
  let expanded: ReadonlyMap<string, string> = new Map();
  const aliases = (): readonly Alias[] => {
    const { dialect } = context;
    const settings = request.aliases === undefined ? [] : aliasesIn(request.aliases, dialect);
    if (!dialect.hasAliases) return settings;
    requirePrimary(snapshot.repository, { fromShell: true, dialect });
    const declared = aliasesOf(primaryAtRoot(primary, snapshot.repository), dialect);
    return [
      ...declared,
      ...settings.filter(({ name }) => declared.every((alias) => alias.name !== name)),
    ];
  };
  /** Reuses parsed overrides: jobs of a sweep share most of them, and they may be long. */
  const parse = (overrides: readonly string[]): readonly Override[] => {
    const { dialect } = context;
    try {
      const parsed = overrides.map((text, index) => {
        const latestOverride = latest[index];
        return latestOverride?.origin.text === text
          ? latestOverride
          : parseOverride(text, { dialect }, index);
      });
      latest = parsed;
      return parsed;
    } catch {
      // `parseOverrides` reports all errors, not only the first.
      return parseOverrides(overrides, { dialect });
    }
  };
  const surroundings = { snapshot, context, onWarning };
  const hide = (overrides: readonly string[], spelling: Spelling = "similar") =>
    redaction?.learn(suspectTexts(overrides, request, spelling));
  const composeShowing = (
    overrides: readonly string[],
    { configName = primary, mode = "run", sweep }: CompositionChanges = {},
    further: Pick<ComposeRequest, "appended" | "taskMode"> = {},
  ): Composition => {
    requirePrimary(snapshot.repository, { fromShell: true, dialect: context.dialect });
    // A validator resolves: a value of `hydra` would be that of the job before.
    delete published.root;
    const asked = {
      ...request.schemas,
      snapshot,
      context,
      configName,
      layerValues,
      mode,
      ...(request.freeKeys && { freeKeys: request.freeKeys }),
      fromShell: true,
      jobName: request.jobName,
      ...(request.versionBase !== undefined && { versionBase: request.versionBase }),
      cwd,
    };
    const parsed = (): readonly Override[] => {
      try {
        return parse(overrides);
      } catch (error) {
        throw withSyntaxRemedy(error, {
          texts: overrides,
          compose: (texts) =>
            composeConfig({
              ...asked,
              overrides: parseOverrides(texts, { dialect: context.dialect }),
            }),
        });
      }
    };
    const composed = explainingAliases(expanded, () =>
      composeConfig({
        ...asked,
        onWarning,
        overrides: parsed(),
        ...(sweep && { sweep }),
        ...further,
        ...(request.notesRareCases === true && { notesRareCases: true }),
        ...(request.refusesNull && { refusesNull: request.refusesNull }),
      }),
    );
    const composition = withTextLists(composed, request.textLists ?? []);
    if (composition.secrets.length > 0) redaction?.learn(secretTexts(composition, context));
    published.root = composition.root;
    published.hidden = new Set(secretOverrides(composition).keys());
    return composition;
  };
  const compose: typeof composeShowing = (overrides, ...more) => {
    // First, so that no error message can show a secret.
    hide(overrides, "exact");
    try {
      return composeShowing(overrides, ...more);
    } catch (error) {
      // What composes is not misspelt: its values may stand in many texts.
      hide(overrides);
      throw error;
    }
  };
  return {
    note: noteOnce,
    configName: primary,
    context,
    plugins,
    repository: snapshot.repository,
    searchPath: (overrides) =>
      extendSearchPath(primary, parse(overrides), snapshot, context).repository,
    defaults: (overrides, { configName = primary }) =>
      composeDefaults({ ...surroundings, configName, overrides: parse(overrides) }),
    compose: (overrides, changes) => compose(overrides, changes),
    hide: (overrides) => hide(overrides),
    aliases,
    expand(typed) {
      const expansion = expandAliases(typed, aliases(), context.dialect);
      expanded = expansion.typed;
      return expansion.overrides;
    },
    typed: (override) => expanded.get(override) ?? override,
    composeTask: (overrides, isMultirun) =>
      context.dialect.modeIsPrimary
        ? composeKnownTask(overrides, isMultirun, compose, () => {
            if (request.taskMode !== undefined) return request.taskMode;
            requirePrimary(snapshot.repository, { fromShell: true, dialect: context.dialect });
            const root = primaryAtRoot(primary, snapshot.repository);
            return explainingAliases(expanded, () => modeBefore(root, parse(overrides), context));
          })
        : composeTask(overrides, isMultirun, context.dialect, compose, (root) => {
            published.root = root;
            return composedMode(root, context);
          }),
    publish: (root) => {
      published.root = root;
    },
  };
}

type Compose = (
  overrides: readonly string[],
  changes: CompositionChanges,
  further?: Pick<ComposeRequest, "appended" | "taskMode">,
) => Composition;

/** Where the mode is known before anything is composed. */
function composeKnownTask(
  texts: readonly string[],
  isMultirun: boolean,
  compose: Compose,
  modeOf: () => RunMode | undefined,
): ComposedTask {
  let configured: RunMode | undefined;
  try {
    configured = modeOf();
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const mode = isMultirun ? "multirun" : "run";
    const composition = (): Composition => {
      throw error;
    };
    return { mode, overrides: texts, composition };
  }
  const { added, mode, warning } = chooseMode(configured, isMultirun);
  const overrides = mode === "run" ? texts : [...texts, ...added];
  return {
    mode,
    overrides,
    ...(warning !== undefined && { warning }),
    composition: () => compose(overrides, { mode }, { taskMode: mode }),
  };
}

/** The composition with the declared type `str` of each interpolation in lists of texts. */
function withTextLists(composition: Composition, keys: readonly string[]): Composition {
  const typed = keys.flatMap((key) => {
    const path = splitKey(key);
    const list = getAt(composition.config, path);
    return list?.kind !== "list" || !list.items.some(isInterpolationNode)
      ? []
      : [{ path, list: { ...list, items: list.items.map(asText) } }];
  });
  const edited = (root: MapNode): MapNode =>
    typed.reduce((tree, { list, path }) => setAt(tree, path, list), root);
  return typed.length === 0
    ? composition
    : { ...composition, root: edited(composition.root), config: edited(composition.config) };
}

const asText = (item: ConfigNode): ConfigNode =>
  isInterpolationNode(item) ? { ...item, type: { kind: "str" } } : item;

/**
 * As in Hydra before 1.4, the mode is known only after composition. The composition that reveals the mode is reused for the task,
 * unless the mode changes it. If it fails, composing in the mode of the flag alone gives the error.
 */
function composeTask(
  texts: readonly string[],
  isMultirun: boolean,
  dialect: Dialect,
  compose: Compose,
  modeOf: (root: MapNode) => RunMode | undefined,
): ComposedTask {
  let chosen = chooseMode(undefined, isMultirun);
  const appended = (root: MapNode): readonly Override[] => {
    chosen = chooseMode(modeOf(root), isMultirun);
    return chosen.added.map((text, index) =>
      parseOverride(text, { dialect }, texts.length + index),
    );
  };
  try {
    const composition = compose(texts, { mode: "multirun" }, { appended });
    const { added, ...others } = chosen;
    const overrides = [...texts, ...added];
    return {
      ...others,
      overrides,
      composition: () => {
        checkSweeps(composition.overrides, {
          mode: others.mode,
          fromShell: true,
          root: () => composition.root,
          tryJob: (sweep, job) =>
            compose(withoutSweeps(texts, composition.overrides, { sweep, job }), {
              sweep: composition.overrides,
            }),
        });
        return others.mode === "run" && composition.tree.roots.some(hasOpenGroup)
          ? compose(overrides, { mode: "run" })
          : composition;
      },
    };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const { added, mode } = chooseMode(undefined, isMultirun);
    const overrides = [...texts, ...added];
    return { mode, overrides, composition: () => compose(overrides, { mode }) };
  }
}

/** With a job in place of one sweep, and without the others. */
const withoutSweeps = (
  texts: readonly string[],
  overrides: readonly Override[],
  { sweep, job }: { readonly sweep: Override; readonly job: readonly string[] },
): readonly string[] => {
  const swept = new Set(overrides.filter(isSweep).map(({ origin }) => origin.index));
  return texts.flatMap((text, index) =>
    index === sweep.origin.index ? job : swept.has(index) ? [] : [text],
  );
};

interface ChosenMode {
  readonly mode: RunMode;
  /** Overrides to add, so that the mode is recorded. */
  readonly added: readonly string[];
  readonly warning?: string;
}

function chooseMode(configured: RunMode | undefined, isMultirun: boolean): ChosenMode {
  if (isMultirun)
    return {
      mode: "multirun",
      added: configured === "multirun" ? [] : ["hydra.mode=MULTIRUN"],
      ...(configured === "run" && {
        warning: "\n\tRunning Hydra app with --multirun, overriding with `hydra.mode=MULTIRUN`.",
      }),
    };
  if (configured !== undefined) return { mode: configured, added: [] };
  return { mode: "run", added: ["hydra.mode=RUN"] };
}

/** Whether a group still has no option: a sweep may leave one open that each job must choose. */
const hasOpenGroup = ({ children, state }: DefaultsTreeNode): boolean =>
  state === "missing" || children.some((child) => child.kind !== "self" && hasOpenGroup(child));

const contextOf = (
  { dialect = DEFAULT_DIALECT, limits, plugins, resolvers = [] }: ComposerRequest,
  { now, env, console, settersOf }: Invocation & Pick<ResolveContext, "settersOf">,
  root: () => MapNode | undefined,
  hidden: () => ReadonlySet<string>,
): ResolveContext =>
  createResolveContext({
    resolvers: withHydraResolvers([...pluginResolvers(plugins), ...resolvers], {
      now,
      root,
      hidden,
      dialect,
    }),
    env,
    ...(limits && { limits }),
    dialect: plugins.length === 0 ? withoutExtensions(dialect) : dialect,
    onWarning: (message) => console.stderr(`UserWarning: ${message}\n`),
    ...(settersOf && { settersOf }),
  });

/**
 * The search path entries of `--config-dir`.
 *
 * @throws ConfigError if it is not a directory
 */
export function addedDirectories(
  { configDir }: Pick<ComposerRequest, "configDir">,
  cwd: string,
): readonly string[] {
  if (configDir === undefined) return [];
  const path = resolve(cwd, configDir);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return [`file://${path}`];
  throw new ConfigError({
    code: "compose.missing_config",
    message: `Additional config directory '${path}' not found`,
  });
}

type Spelling = "exact" | "similar";

/** A schema and the package it applies to. */
interface Marked {
  readonly path: readonly string[];
  readonly schema: ConfigSchema;
}

/**
 * The values of overrides whose keys a schema marks as secret, taken from the text of the overrides: so they are hidden
 * even in errors about overrides that cannot be composed.
 */
function suspectTexts(
  overrides: readonly string[],
  { schemas = {}, store = new Map() }: Pick<ComposerRequest, "schemas" | "store">,
  spelling: Spelling,
): readonly string[] {
  const { schemaReader: reader, programSchema: schema } = schemas;
  if (reader === undefined || (schema === undefined && store.size === 0)) return [];
  const marked: readonly Marked[] = [
    ...(schema === undefined ? [] : [{ path: [], schema }]),
    ...[...store].flatMap(([name, entry]) => markedBy(name, entry)),
  ];
  const isSecret = (path: readonly string[]) =>
    marked.some(
      (mark) =>
        mark.path.every((part, index) => path[index] === part) &&
        reader.isSecret(mark.schema, path.slice(mark.path.length), spelling),
    );
  let rest: RestOfValue = "none";
  return overrides.flatMap((text) => {
    const isRest = text.startsWith("=") || !/^~|=/.test(text);
    if (rest !== "none" && isRest) {
      if (rest === "one word" && text !== "=") rest = "none";
      return [text.replace(/^=/, "")];
    }
    const [, key = "", value] = /^[+~]*([^=@]+)(?:=(.*))?$/su.exec(text) ?? [];
    const path = splitKey(key);
    const isOfSecret = isSecret(path);
    rest = !isOfSecret ? "none" : value === undefined ? "one word" : "all";
    if (value === undefined) return [];
    return isOfSecret
      ? [value, unquoted(value), ...partsOfValue(value)]
      : secretsInDicts(value, (inner) => isSecret([...path, ...inner]));
  });
}

/** What may follow of a secret value: `db.password = x` has one more word, and a shell splits `db.password=x y z`. */
type RestOfValue = "none" | "one word" | "all";

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/su, "$2");

/** The values of secret keys in a dict, which may be no complete one. */
function secretsInDicts(
  text: string,
  isSecret: (keys: readonly string[]) => boolean,
): readonly string[] {
  const found: string[] = [];
  // Of each dict that is open the key, null before it is read; of each list its bracket.
  const open: (string | null)[] = [];
  let last = "";
  for (const [part] of text.includes("{") ? text.matchAll(DICT_PARTS) : []) {
    if (part === "{") open.push(null);
    else if (part === "[") open.push(part);
    else if (part === "}" || part === "]") open.pop();
    else if (part === ",") {
      if (open.at(-1) !== "[") open.splice(-1, 1, null);
    } else if (part !== ":") {
      last = unquoted(part.trim());
      const keys = open.flatMap((key) => (key === null ? [] : key === "[" ? "0" : key));
      if (keys.length === open.length && isSecret(keys)) found.push(last);
    } else if (open.at(-1) === null) open.splice(-1, 1, last);
  }
  return found;
}

const DICT_PARTS = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[{}[\],:]|[^{}[\],:"']+/gsu;

/** The texts in a list, a call or a row of values, which a hint may write in another form. */
const partsOfValue = (value: string): readonly string[] =>
  /[([{,]/.test(value)
    ? value.split(/[\s,:=()[\]{}'"]+/).filter((part) => !FUNCTIONS.has(part) && !WORDS.test(part))
    : [];

/** What is no secret by itself, and stands in many texts. */
const WORDS = /^(?:true|false|null|none)$/i;

function markedBy(name: string, entry: StoreEntry): readonly Marked[] {
  if (!("schema" in entry) || entry.schema === undefined) return [];
  const group = name.split("/").slice(0, -1);
  const { package: pkg } = entry;
  const path = pkg === undefined ? group : pkg === "_global_" || pkg === "" ? [] : splitKey(pkg);
  return [{ path, schema: entry.schema }];
}
