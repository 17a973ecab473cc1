/** A whole composition: from a search path, a primary config and overrides to a merged tree with its defaults list. */
import { once } from "../../foundation/system/get-or-create.ts";
import { columnsOf, type Override } from "../overrides/ast.ts";
import { parseOverride } from "../overrides/parser.ts";
import { overrideKeyElement } from "../overrides/print.ts";
import { isSweep, sweepOverrides } from "../overrides/sweep.ts";
import type { ConfigSchema } from "../values/config-schema.ts";
import type { Dialect } from "../values/dialect.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { checkExpansion, type Size } from "../values/limits.ts";
import { type ConfigNode, type MapNode, map, withEntry, withoutEntry } from "../values/node.ts";
import { fromCode, type Origin, type OverrideOrigin } from "../values/origin.ts";
import { type ResolveContext, watchResolvers } from "../values/resolution/context.ts";
import { requireSameAliases } from "./aliases.ts";
import { applySharedOverrides } from "./apply-overrides.ts";
import {
  type CompositionWarning,
  overrideNotices,
  raiseIfAsked,
  readNotices,
} from "./defaults/deprecations.ts";
import {
  checkSweeps,
  type Defaults,
  type DefaultsRequest,
  type DefaultsRow,
  howToSweep,
  listDefaults,
  type RunMode,
  splitOverrides,
} from "./defaults/list.ts";
import type { DefaultsTree } from "./defaults/tree.ts";
import { hydraClassName } from "./hydra/hydra-schema.ts";
import { fillRuntime } from "./hydra/runtime-node.ts";
import { applyLayers, type Layered } from "./layers/apply-layers.ts";
import type { LayerValue } from "./layers/layer.ts";
import { mergeRows, requireMap } from "./merge-rows.ts";
import { type ExtendedSearchPath, extendSearchPath, PRIMARY_PROVIDER } from "./open-tree.ts";
import { optionsWithKey } from "./options-with-key.ts";
import { choiceAdvice } from "./override-remedy.ts";
import { withMode } from "./run-mode.ts";
import {
  applySchemas,
  checkComposed,
  type PlacedSchema,
  placedSchemas,
  refusesNull,
} from "./schemas.ts";
import {
  findSecrets,
  isAboutSecret,
  type SecretPath,
  secretOverrides,
  secretsOfOutput,
} from "./secrets.ts";
import type { SchemaReader, Surroundings } from "./sources/config-source.ts";
import type { Repository, Snapshot } from "./sources/repository.ts";
import { trapNotes } from "./traps.ts";

export interface ComposeRequest {
  readonly snapshot: Snapshot;
  /** null composes only the `hydra` node and what the overrides append. */
  readonly configName: string | null;
  /** Values of layers, above the files and below the overrides. */
  readonly layerValues?: readonly LayerValue[];
  readonly overrides: readonly Override[];
  /** In `multirun`, sweeps are ignored and groups without an option stay open. */
  readonly mode: RunMode;
  /**
   * Further overrides of values, computed from the tree that `overrides` give. The mode is unknown until then, so
   * sweeps are not refused here; the caller must use `checkSweeps` on the result.
   */
  readonly appended?: (root: MapNode) => readonly Override[];
  /** The mode of a program's task, which the composed config must have. Default: any. */
  readonly taskMode?: RunMode;
  /** The overrides of the sweep whose job is composed: a hint must work in its other jobs, too. */
  readonly sweep?: readonly Override[];
  /** Keys of mappings that accept new keys from overrides without a `+`; `""` is the whole config. */
  readonly freeKeys?: readonly string[];
  readonly fromShell: boolean;
  readonly jobName: string;
  /** The value of `hydra.runtime.cwd`. */
  readonly cwd: string;
  /** The value of `hydra.runtime.version_base`. Default: the name of the dialect. */
  readonly versionBase?: string;
  readonly context: ResolveContext;
  /** Reads the schemas of the config store; without it they are not checked. */
  readonly schemaReader?: SchemaReader;
  /** The schema of the whole config; it is checked like those of the config store, and needs `schemaReader`. */
  readonly schema?: ConfigSchema;
  /** The program's own schema: for secrets, and for its output, if the config fits it. Its problems are told before a job begins. */
  readonly programSchema?: ConfigSchema;
  /** Whether a key's value must not be null by a schema that composing does not need. */
  readonly refusesNull?: (path: readonly string[]) => boolean;
  /** Whether keys that only one option of a group sets get a note. Default: false. */
  readonly notesRareCases?: boolean;
  /** Called with each warning when it arises, even if the composition fails later. */
  readonly onWarning?: (warning: CompositionWarning) => void;
}

/**
 * Composes a config: builds the defaults tree, flattens it to a list, merges the list's configs at their packages,
 * applies the overrides, and completes the `hydra` node.
 *
 * Pure over its snapshot: nothing is read twice, printed or stored.
 *
 * @throws ConfigError `compose.*`, `override.sweep_not_allowed`, `schema.*`, and `yaml.*` for bad files.
 */
export function composeConfig(request: ComposeRequest): Composition {
  try {
    return composeChecked(request);
  } catch (error) {
    throw isConfigError(error) && isAboutValues(error) ? asCompositionError(error) : error;
  }
}

function composeChecked(asked: ComposeRequest): Composition {
  // A new base reports warnings as they arise, a cached one all at its end: each must be passed on once.
  const onWarning = eachOnce((warning: CompositionWarning) => {
    raiseIfAsked(warning, asked.context);
    asked.onWarning?.(warning);
  });
  const request = { ...asked, onWarning };
  const { context } = request;
  requirePrimary(request.snapshot.repository, { ...request, dialect: context.dialect });
  const deprecated = request.overrides.flatMap(({ origin, warnings = [] }) =>
    warnings.map((message): CompositionWarning => ({ code: "deprecated", message, origin })),
  );
  deprecated.forEach(onWarning);
  const searchPath = searchPathOf(request);
  const { repository } = searchPath;
  if (request.appended === undefined)
    checkSweeps(request.overrides, {
      ...request,
      root: once(() => rootWithoutSweeps(asked)),
      tryJob: (sweep, job) => composeJob(asked, sweep, job),
    });

  const choices = splitOverrides(request.overrides, repository, request.context.dialect);
  const base = namingSweep(request, () => composeBase({ ...request, repository, choices }));
  base.warnings.forEach(onWarning);
  const { programSchema, schema, schemaReader: reader } = request;
  const schemas = [
    ...placedSchemas(base.defaults, repository, reader),
    ...(schema !== undefined && reader !== undefined ? [{ path: [], schema, reader }] : []),
  ];
  const layered = withLayers(base.root, request);
  const secretsIn = (config: MapNode): readonly SecretPath[] => {
    const marked = findSecrets(config, schemas, {
      ...(programSchema && { schema: programSchema }),
      ...(reader && { reader }),
    });
    return layered.secrets.length === 0 ? marked : [...marked, ...layered.secrets];
  };
  const secretPaths = once(() => secretsIn(layered.root));
  if (asked.onWarning !== undefined)
    trapNotes({
      ...request,
      values: choices.values,
      repository,
      choices: base.tree.choices,
      optionsOf: (override) => chosenOptions(override, repository),
      root: base.root,
      context,
      notesRareCases: asked.notesRareCases === true,
      isSecret: (path) => isAboutSecret(path, secretPaths()),
      refusesNull: (path) => request.refusesNull?.(path) === true || refusesNull(schemas, path),
    }).forEach(onWarning);
  const groups = {
    choices: base.tree.choices,
    repository,
    secretPaths,
    optionsWith: (path: readonly string[]) => optionsWithKey(path, base.tree.choices, repository),
    swept: once(() => sweptRoots({ ...request, repository })),
    typed: (override: Override) => asTyped(override, request.sweep),
  };
  const apply = (root: MapNode, values: readonly Override[]): MapNode =>
    requireMap(applySharedOverrides(root, values, context, groups, base.expanded));
  const facts = {
    ...request,
    version: context.dialect.hydraVersion,
    versionBase: request.versionBase ?? context.dialect.name,
    choices: base.tree.choices,
    sources: repository.sources,
  };
  const overridden = apply(
    withFreeKeys(layered.root, choices.values, request.freeKeys),
    choices.values,
  );
  const appended =
    request.appended?.(fillRuntime(overridden, { ...facts, hidden: new Map() }, context)) ?? [];
  if (context.dialect.hasAliases) requireSameAliases(base.root, overridden, context.limits);
  const applied = appended.length === 0 ? overridden : apply(overridden, appended);
  const changed =
    request.taskMode === undefined ? applied : withMode(applied, request.taskMode, context);
  const overrides = [...request.overrides, ...appended];
  // Counts the aliases of all files, and what merging expanded.
  checkExpansion(changed, context.limits, { previous: base.root });
  const outputs = applySchemas(changed, schemas, { context, overrides });
  const program =
    programSchema === undefined || reader === undefined
      ? undefined
      : applySchemas(outputs.root, [{ path: [], schema: programSchema, reader }], {
          context,
          refuses: false,
        });
  const valid = program?.root ?? outputs.root;
  checkComposed(outputs.pending, valid, overrides);
  const inputSecrets = secretsIn(valid);
  const made = secretsOfOutput(
    { root: valid, config: withoutEntry(valid, "hydra"), secrets: inputSecrets },
    context,
  );
  const secrets = made.length === 0 ? inputSecrets : [...inputSecrets, ...made];
  const hidden = secretOverrides({ secrets, overrides });
  const root = fillRuntime(valid, { ...facts, overrides, hidden }, context);
  return {
    root,
    config: withoutEntry(root, "hydra"),
    hydra: root.entries.get("hydra")?.value ?? root,
    dialect: context.dialect,
    configName: request.configName,
    defaults: base.defaults,
    tree: base.tree,
    choices: base.tree.choices,
    overrides,
    repository,
    schemas: outputs.pending,
    program: program?.pending ?? [],
    objects: new Map([...outputs.objects, ...(program?.objects ?? [])]),
    secrets,
    warnings: [...deprecated, ...searchPath.warnings, ...base.warnings],
  };
}

/** The base with the values of layers: the same tree for all jobs of a sweep, so that what they apply to it can be shared. */
function withLayers(root: MapNode, request: ComposeRequest): Layered {
  const { context, layerValues = [], programSchema, schema, schemaReader: reader } = request;
  if (layerValues.length === 0) return { root, secrets: [] };
  const cached = LAYERED.get(root);
  const declared = schema ?? programSchema;
  if (cached?.values === layerValues && cached.declared === declared) return cached.layered;
  const layered = applyLayers(
    root,
    layerValues,
    (path) => (declared === undefined ? undefined : reader?.typeAt(declared, path)),
    context,
  );
  LAYERED.set(root, { values: layerValues, declared, layered });
  return layered;
}

const LAYERED = new WeakMap<
  MapNode,
  {
    readonly values: readonly LayerValue[];
    /** The schema that gave the values their types. */
    readonly declared: unknown;
    readonly layered: Layered;
  }
>();

/** Passes each warning on once, however many configs or jobs it concerns. */
export function eachOnce<Warning>(report?: (warning: Warning) => void): (warning: Warning) => void {
  const reported = new Set<Warning>();
  return (warning) => {
    if (!reported.has(warning)) report?.(warning);
    reported.add(warning);
  };
}

/** The fields of a request that `composeDefaults` needs. */
export type DefaultsOnlyRequest = Pick<
  ComposeRequest,
  "snapshot" | "configName" | "overrides" | "context" | "onWarning"
>;

/**
 * Only the defaults list and its tree, as a single job has them. Values are not composed, so overrides of values are
 * not checked, and sweeps are ignored.
 *
 * @throws ConfigError as `composeConfig`, for errors of the list
 */
export function composeDefaults(request: DefaultsOnlyRequest): Defaults {
  const { repository } = searchPathOf(request);
  const choices = splitOverrides(request.overrides, repository, request.context.dialect);
  return listDefaults({ ...request, repository, choices, mode: "run" });
}

function searchPathOf(request: DefaultsOnlyRequest): ExtendedSearchPath {
  const { configName, context, onWarning = () => {}, overrides, snapshot } = request;
  const { dialect } = context;
  const extended = extendSearchPath(configName, overrides, snapshot, context);
  const { repository } = snapshot;
  const warnings = [
    ...overrideNotices(overrides, dialect),
    // The primary config is read first, because it may extend the search path.
    ...(configName === null
      ? []
      : readNotices(configName, repository.load(configName), repository, dialect)),
    ...extended.warnings,
  ];
  warnings.forEach(onWarning);
  return { ...extended, warnings };
}

/**
 * The primary directory must exist; other missing entries of the search path only cause a warning.
 *
 * @throws ConfigError `compose.missing_config`
 */
export function requirePrimary(
  { sources }: Repository,
  by: Pick<ComposeRequest, "fromShell"> & { readonly dialect: Dialect },
): void {
  const source = sources.find(({ provider }) => provider === PRIMARY_PROVIDER);
  if (source === undefined || source.available()) return;
  const around = source.surroundings?.();
  throw new ConfigError({
    code: "compose.missing_config",
    message:
      source.scheme === "pkg"
        ? `Primary config module '${source.path}' not found.\n${by.dialect.moduleRemedy}`
        : `Primary config directory not found.\nCheck that the config directory '${source.path}' exists and readable`,
    key: source.path,
    hint: around && missingDirectoryHint(around, by),
  });
}

const isAboutValues = ({ code }: ConfigError): boolean =>
  /^(key|value|merge|interpolation|resolver)\./u.test(code);

/** An error of a value becomes an error of the composition. */
const asCompositionError = (error: ConfigError): ConfigError =>
  new ConfigError({
    ...error.details,
    code: "compose.invalid_config",
    message: `${hydraClassName(error.code)} raised while composing config:\n${error.message}`,
    cause: error,
  });

/** The result of a composition: the tree, and where its parts come from. All of it is immutable. */
export interface Composition {
  /** The whole tree, with the `hydra` node, in struct mode. */
  readonly root: MapNode;
  /** The job's config: the tree without `hydra`. */
  readonly config: MapNode;
  readonly hydra: ConfigNode;
  /** The dialect that it was composed in, in which its YAML is written. */
  readonly dialect: Dialect;
  readonly configName: string | null;
  /** The final defaults list, in the order of composition (`--info defaults`). */
  readonly defaults: readonly DefaultsRow[];
  /** The tree that the list comes from (`--info defaults-tree`). */
  readonly tree: DefaultsTree;
  /** The option of every group, by override key (`hydra.runtime.choices`). */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly overrides: readonly Override[];
  /** The searched sources (`--info searchpath`). */
  readonly repository: Repository;
  /**
   * The schemas that the composed tree fits, and that values are checked against when they are resolved: without validators whose
   * output the tree is.
   */
  readonly schemas: readonly PlacedSchema[];
  /** The program's own schema, unless the tree is the output of its validator. */
  readonly program: readonly PlacedSchema[];
  /** Values of the tree that no node can hold, such as dates, by the JSON text of their path. */
  readonly objects: ReadonlyMap<string, unknown>;
  /** The keys of the values that schemas mark secret. */
  readonly secrets: readonly SecretPath[];
  readonly warnings: readonly CompositionWarning[];
}

/** A composition before the overrides of values: the result of the files and the chosen groups. */
interface Base extends Defaults {
  /** In struct mode, `hydra` included. */
  readonly root: MapNode;
  /** What merging added by expanding interpolations. */
  readonly expanded: Size;
  readonly warnings: readonly CompositionWarning[];
}

/**
 * Composes the base of a choice of groups once per snapshot. The jobs of a sweep mostly differ in values, not in
 * groups, and can share it because it is immutable. It is not cached if a resolver was called for a defaults list or in
 * merging, since its result may differ for the next job.
 */
function composeBase(request: DefaultsRequest): Base {
  const { context, repository } = request;
  const bases = KNOWN.get(repository) ?? new Map<string, Base>();
  KNOWN.set(repository, bases);
  const id = identify(request);
  const cached = bases.get(id);
  if (cached !== undefined) return cached;
  const watched = watchResolvers(context);
  const base = makeBase({ ...request, context: watched.context });
  if (watched.wereCalled()) return base;
  const [oldest] = bases.keys();
  if (bases.size >= LIMIT && oldest !== undefined) bases.delete(oldest);
  bases.set(id, base);
  return base;
}

/** More options of swept groups are not composed for a hint. */
const MOST_SWEPT = 16;

/** The configs with each option of a swept group, which a hint must fit as well. */
function sweptRoots(
  request: Omit<DefaultsRequest, "choices"> & Pick<ComposeRequest, "overrides" | "sweep">,
): readonly ConfigNode[] {
  const { context, mode, repository, sweep } = request;
  const overrides = sweep ?? request.overrides;
  if (mode !== "multirun" && sweep === undefined) return [];
  const roots: ConfigNode[] = [];
  for (const override of overrides) {
    if (!isSweep(override) || !repository.groupExists(override.keyOrGroup)) continue;
    for (const option of chosenOptions(override, repository)) {
      if (roots.length === MOST_SWEPT) return roots;
      const chosen = overrides.map((each) =>
        each === override ? parseOverride(option, { dialect: context.dialect }) : each,
      );
      try {
        const choices = splitOverrides(chosen, repository, context.dialect);
        const base = composeBase({ ...request, mode: "multirun", choices, onWarning: () => {} });
        roots.push(base.root);
      } catch (error) {
        if (!isConfigError(error)) throw error;
      }
    }
  }
  return roots;
}

/** The override of a sweep that an override of a job comes from, or the column of a zip. */
const asTyped = (override: Override, sweep: readonly Override[] = []): Override =>
  sweep
    .flatMap((axis) => [axis, ...columnsOf(axis.value)])
    .find((axis) => isSweep(axis) && overrideKeyElement(axis) === overrideKeyElement(override)) ??
  override;

/** Composes for a job, whose error about a choice of a group then proposes the options of its sweep, or to make one. */
function namingSweep<T>(request: ComposeRequest, work: () => T): T {
  const { overrides, sweep } = request;
  try {
    return work();
  } catch (error) {
    if (!isConfigError(error)) throw error;
    if (sweep === undefined) throw asSweepIfProposed(error, request);
    const { hint, origin, proposals } = error.details;
    const override = overrides.find((candidate) => isSame(candidate.origin, origin));
    if (hint === undefined || override === undefined) throw error;
    const typed = asTyped(override, sweep);
    const advice = choiceAdvice({ hint, proposals }, { override, typed });
    throw new ConfigError({ ...error.details, ...advice });
  }
}

/** Where a sweep is proposed for a single job: with what it needs besides. */
function asSweepIfProposed(
  error: ConfigError,
  { context: { dialect }, fromShell, mode }: ComposeRequest,
): ConfigError {
  const { hint, proposals = [] } = error.details;
  const [proposal] = proposals;
  if (mode !== "run" || proposal === undefined || proposals.length > 1) return error;
  const override = parseOverride(proposal, { dialect });
  return isSweep(override)
    ? new ConfigError({
        ...error.details,
        hint: `${hint}, and ${howToSweep(override, fromShell)}`,
      })
    : error;
}

const isSame = (left: OverrideOrigin, other: Origin | undefined): boolean =>
  other?.kind === "override" && other.index === left.index && other.text === left.text;

function* chosenOptions(override: Override, repository: Repository): Generator<string> {
  const options = { groupOptions: (group: string) => repository.list(group, "config") };
  try {
    for (const texts of sweepOverrides(override, options)) yield* texts.slice(0, 1);
  } catch (error) {
    if (!isConfigError(error)) throw error;
  }
}

/** What the config has at a key without the swept overrides; undefined where it cannot be composed. */
function rootWithoutSweeps({ onWarning: _, ...asked }: ComposeRequest): ConfigNode | undefined {
  const overrides = asked.overrides.filter((override) => !isSweep(override));
  try {
    return composeChecked({ ...asked, overrides }).root;
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** Composes one job of a sweep, without the other sweeps. */
function composeJob(
  { onWarning: _, ...asked }: ComposeRequest,
  sweep: Override,
  job: readonly string[],
): Composition {
  const { dialect } = asked.context;
  const overrides = asked.overrides
    .filter((override) => override === sweep || !isSweep(override))
    .flatMap((override) =>
      override === sweep
        ? job.map((text) => parseOverride(text, { dialect }, sweep.origin.index))
        : [override],
    );
  return composeChecked({ ...asked, overrides, mode: "run", sweep: asked.overrides });
}

const KNOWN = new WeakMap<Repository, Map<string, Base>>();

/** A sweep over groups has as many bases as combinations, so only the recent ones are kept. */
const LIMIT = 64;

/** Overrides are distinguished by text and position, because both are in the origins of the result. */
function identify({ choices, configName, mode }: DefaultsRequest): string {
  const texts = choices.overrides.map(({ origin }) => [origin.index, origin.text]);
  return JSON.stringify([configName, mode, texts]);
}

function makeBase(request: DefaultsRequest): Base {
  const { context, onWarning, repository } = request;
  const { defaults, tree } = listDefaults(request);
  const merged = mergeRows(defaults, repository, context, onWarning);
  return {
    tree,
    defaults,
    root: asStruct(merged.root),
    expanded: merged.expanded,
    warnings: [...tree.warnings, ...merged.warnings],
  };
}

/** From here on only `+` overrides add keys; the `hydra` node is writable in any case. */
function asStruct(root: MapNode): MapNode {
  const hydra = root.entries.get("hydra")?.value;
  const writable =
    hydra === undefined
      ? root
      : withEntry(root, "hydra", { ...hydra, flags: { ...hydra.flags, readonly: false } });
  return { ...writable, flags: { ...writable.flags, struct: true } };
}

/**
 * Turns struct mode off for the maps at these keys. An absent map is created if an override sets something in it. The
 * `hydra` node has its own types in any case.
 */
function withFreeKeys(
  root: MapNode,
  overrides: readonly Override[],
  keys: readonly string[] = [],
): MapNode {
  if (keys.length === 0) return root;
  const made = keys.filter(
    (key) =>
      !root.entries.has(key) &&
      overrides.some(
        ({ keyOrGroup, type }) =>
          (type === "change" || type === "replace") && keyOrGroup.startsWith(`${key}.`),
      ),
  );
  const id = JSON.stringify([keys, made]);
  const cached = FREED.get(root);
  if (cached?.id === id) return cached.tree;
  const tree = freed(root, keys, made);
  FREED.set(root, { id, tree });
  return tree;
}

/** The tree that jobs of a sweep have in common is one, so that what they apply to it can be, too. */
const FREED = new WeakMap<MapNode, { readonly id: string; readonly tree: MapNode }>();

function freed(root: MapNode, keys: readonly string[], made: readonly string[]): MapNode {
  let tree = root;
  for (const key of keys) {
    const there = key === "" ? tree : tree.entries.get(key)?.value;
    const node = there ?? (made.includes(key) ? NOTHING : undefined);
    if (node?.kind !== "map") continue;
    const free = { ...node, flags: { ...node.flags, struct: false } };
    tree = key === "" ? free : withEntry(tree, key, free);
  }
  return tree;
}

const NOTHING = map([], fromCode("compose"));

/**
 * The hint for a config directory that does not exist: the path is a config file, or YAML files are in a directory
 * beside it.
 */
function missingDirectoryHint(
  { config, directories = [] }: Surroundings,
  { fromShell }: Pick<ComposeRequest, "fromShell">,
): string {
  if (config !== undefined) {
    const { directory } = config;
    const name = config.name.replace(/\.yaml$/, "");
    return fromShell
      ? `this is a file: --config-path gives the config directory, --config-name the config in it (-cp ${directory} -cn ${name})`
      : `this is a file: configDir is its directory, configName its name (configDir: "${directory}", configName: "${name}")`;
  }
  const meaning = fromShell
    ? "--config-path DIR (-cp) gives the config directory"
    : "configDir is the config directory";
  return directories.length === 0
    ? meaning
    : `${meaning}; YAML files are in: ${directories.join(", ")}`;
}
