/** Merges the configs of a defaults list, each at its package. */
import { mergeNodes } from "../values/edit/merge.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { splitKey } from "../values/key-path.ts";
import { type Budget, createBudget, isLimitError, type Size, spentOf } from "../values/limits.ts";
import {
  type ConfigNode,
  child,
  getAt,
  isMissingOrNull,
  type MapNode,
  map,
  type ScalarValue,
  setAt,
  withEntry,
  withoutEntry,
} from "../values/node.ts";
import { type ResolveContext, watchResolvers } from "../values/resolution/context.ts";
import { selectNode } from "../values/resolution/select.ts";
import { refuseAliases } from "./aliases.ts";
import { type CompositionWarning, ymlMatches } from "./defaults/deprecations.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import {
  HYDRA_CONFIG,
  hydraClassName,
  settingMeant,
  withoutDefaultsField,
} from "./hydra/hydra-schema.ts";
import { defaultsOf, type LoadedConfig, yamlFileName } from "./sources/config-source.ts";
import { optionsForHint, type Repository } from "./sources/repository.ts";

export interface MergedRows {
  readonly root: MapNode;
  readonly warnings: readonly CompositionWarning[];
  /** What merging added by expanding interpolations. */
  readonly expanded: Size;
}

/** One config of the list with its content, not yet at its package. */
interface Layer {
  readonly row: DefaultsRow;
  readonly node: ConfigNode;
  readonly warnings: readonly CompositionWarning[];
}

/**
 * Merges the configs of a defaults list, each at its package, in order.
 *
 * @param onWarning called with each warning about a list that cannot be merged, up to the config where it fails
 * @throws ConfigError `compose.invalid_config` naming the config that does not fit.
 */
export function mergeRows(
  rows: readonly DefaultsRow[],
  repository: Repository,
  context: ResolveContext,
  onWarning: (warning: CompositionWarning) => void = () => {},
): MergedRows {
  const merge = (): Merged => {
    const schemas = createBudget(context.limits);
    const layers = rows.map((row) => matchLayer(row, repository, context, schemas));
    return { layers, ...mergeOnKnown(layers, mergeCacheOf(repository), context) };
  };
  const { expanded, layers, root } =
    (someSharesContent(rows) ? undefined : unlessRefused(merge)) ??
    // The failing config is searched for only after the merge has failed.
    mergeOneByOne(rows, repository, context, onWarning);
  return {
    root: withoutDefaultsFields(root, rows),
    expanded,
    warnings: layers.flatMap(({ warnings }) => warnings),
  };
}

interface Merged {
  readonly layers: readonly Layer[];
  readonly root: MapNode;
  readonly expanded: Size;
}

function matchLayer(
  row: DefaultsRow,
  repository: Repository,
  context: ResolveContext,
  schemas: Budget,
): Layer {
  const { node, warning } = matchSchema(row, repository, context, schemas);
  const lookups = ymlMatches(row.configPath, row.loaded, context.dialect);
  return { row, node, warnings: warning === undefined ? lookups : [...lookups, warning] };
}

function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** Removes defaults lists that are fields of types; see `withDefaults`. */
function withoutDefaultsFields(root: MapNode, rows: readonly DefaultsRow[]): MapNode {
  return rows.reduce((tree, { loaded, package: pkg }) => {
    const { type } = loaded.node;
    if (type?.kind !== "object" || !type.fields.has("defaults")) return tree;
    if (pkg === "" || pkg === "_global_") return withoutDefaultsField(tree);
    const path = splitKey(pkg);
    const node = getAt(tree, path);
    return node?.kind === "map" ? setAt(tree, path, withoutDefaultsField(node)) : tree;
  }, root);
}

const EMPTY: MapNode = map([], { kind: "code", by: "compose" });

/**
 * Merges layers on top of the longest cached prefix. If other lists shared a longer prefix, the merge of that prefix is
 * cached, since the next list will probably share it, too.
 */
function mergeOnKnown(
  layers: readonly Layer[],
  cache: MergeCache,
  context: ResolveContext,
): Pick<Merged, "root" | "expanded"> {
  const rows = layers.map(({ row }) => row);
  const { length, merged, shared } = cache.find(rows);
  let root = merged?.root ?? EMPTY;
  // The expansion of the cached prefix counts again, so that limits do not depend on the cache.
  const budget = createBudget(context.limits, merged?.expanded);
  const watched = watchResolvers(context);
  const mergeTo = (from: number, end: number): void => {
    if (from === end) return;
    const placed = layers.slice(from, end).map(({ row, node }) => placeLayer(row, node, context));
    root = requireMap(mergeNodes([root, ...placed], watched.context, budget));
    if (!watched.wereCalled()) cache.add(rows.slice(0, end), { root, expanded: spentOf(budget) });
  };
  mergeTo(length, shared);
  mergeTo(shared, rows.length);
  return { root, expanded: spentOf(budget) };
}

/** Whether a config that was merged at the root is included again; see `sharedContent`. */
function someSharesContent(rows: readonly DefaultsRow[]): boolean {
  const atRoot = new Set<LoadedConfig>();
  return rows.some(({ loaded, package: pkg }) => {
    if (atRoot.has(loaded)) return true;
    if (pkg === "") atRoot.add(loaded);
    return false;
  });
}

/** Checks and merges one config after the other, so that the error is about the first one that does not fit. */
function mergeOneByOne(
  rows: readonly DefaultsRow[],
  repository: Repository,
  context: ResolveContext,
  onWarning: (warning: CompositionWarning) => void,
): Merged {
  const beforeFirst = new Map<LoadedConfig, MapNode>();
  const layers: Layer[] = [];
  const [schemas, budget] = [createBudget(context.limits), createBudget(context.limits)];
  let root = EMPTY;
  for (const row of rows) {
    const layer = matchLayer(row, repository, context, schemas);
    layers.push(layer);
    layer.warnings.forEach(onWarning);
    const firstRoot = beforeFirst.get(row.loaded);
    if (firstRoot === undefined && row.package === "") beforeFirst.set(row.loaded, root);
    const content =
      firstRoot === undefined ? layer.node : sharedContent(layer.node, firstRoot, root);
    root = mergeLayer(root, row, placeLayer(row, content, context), context, budget, repository);
  }
  return { layers, root, expanded: spentOf(budget) };
}

function mergeLayer(
  root: MapNode,
  row: DefaultsRow,
  layer: ConfigNode,
  context: ResolveContext,
  budget: Budget,
  repository: Repository,
): MapNode {
  try {
    return requireMap(mergeNodes([root, layer], context, budget));
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const { code, details } = error;
    const key = details.key ?? "";
    const meant =
      code === "value.struct" ? settingMeant(splitKey(key), context.dialect) : undefined;
    if (meant === undefined) throw blame(row, error, choiceHint(layer, key, repository));
    // A similar name would not be what was meant.
    const bare = new ConfigError({ ...details, nearest: undefined });
    throw blame(row, bare, meant.versionHint ?? `set it as ${meant.key}`);
  }
}

/** The remedy where the option of a config group was given as the value of its package: `hydra: {launcher: joblib}`. */
function choiceHint(layer: ConfigNode, key: string, repository: Repository): string | undefined {
  const path = splitKey(key);
  const group = path.join("/");
  const written = getAt(layer, path);
  if (written?.kind !== "scalar" || typeof written.value !== "string") return undefined;
  return optionsForHint(repository, group).includes(written.value)
    ? `to choose an option of the config group ${group}, write \`- override /${group}: ${written.value}\` in the defaults list`
    : undefined;
}

function blame(row: DefaultsRow, error: ConfigError, hint?: string): ConfigError {
  if (isLimitError(error)) return error;
  const { details } = error;
  return new ConfigError({
    ...details,
    code: "compose.invalid_config",
    message: `In '${row.configPath}': ${hydraClassName(error.code)} raised while composing config:\n${details.message}`,
    origin: details.origin ?? row.loaded.origin,
    ...(hint !== undefined && { hint }),
    cause: error,
  });
}

function placeLayer(row: DefaultsRow, node: ConfigNode, context: ResolveContext): ConfigNode {
  const layer = embed(node, row.package);
  refuseSearchPath(row, layer, context);
  if (context.dialect.hasAliases && !row.primary && row.configPath !== HYDRA_CONFIG)
    refuseAliases(row.configPath, layer);
  return layer;
}

/** Puts a config's content under its package; every part of a package is a string key. */
function embed(node: ConfigNode, pkg: string): ConfigNode {
  if (pkg === "") return node;
  return splitKey(pkg).reduceRight<ConfigNode>(
    (inner, key) => map([[key, inner]], node.origin),
    node,
  );
}

function refuseSearchPath(row: DefaultsRow, layer: ConfigNode, context: ResolveContext): void {
  if (row.primary || row.configPath === HYDRA_CONFIG || layer.kind !== "map") return;
  if (!layer.entries.has("hydra")) return;
  const found = selectNode(layer, "hydra.searchpath", context);
  if (found === undefined || isMissingOrNull(found)) return;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `In '${row.configPath}': Overriding hydra.searchpath is only supported from the primary config`,
    origin: found.origin,
    key: "hydra.searchpath",
    hint: "move it to the primary config, or set it on the command line: hydra.searchpath=[...]",
  });
}

export function requireMap(node: ConfigNode): MapNode {
  if (node.kind === "map") return node;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: "The composed config must be a mapping",
    origin: node.origin,
  });
}

/**
 * Checks a config against the entry of the same path in the schema store, and adds the entry's missing fields. An entry
 * that is `replaceable` is skipped if the config names another class: launchers and sweepers of ours have names that
 * trees use for their own (`hydra/launcher/local`).
 *
 * @throws ConfigError if the entry has a defaults list, which Hydra does not support either.
 */
function matchSchema(
  row: DefaultsRow,
  repository: Repository,
  context: ResolveContext,
  budget: Budget,
): { readonly node: ConfigNode; readonly warning?: CompositionWarning } {
  const { configPath, loaded } = row;
  const { node } = loaded;
  if (loaded.source.scheme === "structured") return { node };
  const schema = repository.loadSchema(yamlFileName(configPath, context.dialect));
  if (schema === undefined || givesWay(schema, node)) return { node };

  const notice =
    `'${configPath}' is validated against ConfigStore schema with the same name.\n` +
    "This behavior is deprecated in Hydra 1.1 and will be removed in Hydra 1.2.";
  const help =
    "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/automatic_schema_matching for migration instructions.";
  if (defaultsOf(schema, context).length > 0)
    throw new ConfigError({
      code: "compose.invalid_config",
      message:
        `${notice}\nIn addition, the automatically matched schema contains a defaults list.\n` +
        `This combination is no longer supported.\n${help}`,
      origin: loaded.origin,
      key: configPath,
      hint: `rename the file: '${configPath}' is a config of Hydra itself`,
    });
  const { program, hydra } =
    row.primary && node.kind === "map" ? takeHydra(node) : { program: node, hydra: undefined };
  const merged = mergeSchema(schema.node, program, configPath, context, budget);
  return {
    node: hydra === undefined || merged.kind !== "map" ? merged : withEntry(merged, "hydra", hydra),
    warning: { code: "schema_match", message: `\n${notice}\n${help}`, origin: loaded.origin },
  };
}

const givesWay = (schema: LoadedConfig, node: ConfigNode): boolean =>
  schema.replaceable === true && targetOf(node) !== targetOf(schema.node);

function targetOf(node: ConfigNode): ScalarValue | undefined {
  const target = child(node, "_target_");
  return target?.kind === "scalar" ? target.value : undefined;
}

function mergeSchema(
  schema: ConfigNode,
  node: ConfigNode,
  configPath: string,
  context: ResolveContext,
  budget: Budget,
): ConfigNode {
  try {
    return mergeNodes([schema, node], context, budget);
  } catch (error) {
    if (!isConfigError(error) || isLimitError(error)) throw error;
    throw new ConfigError({
      ...error.details,
      code: "compose.invalid_config",
      message: `Error merging '${configPath}' with schema\n${error.message}`,
      cause: error,
    });
  }
}

/** A schema of a primary config need not declare the config's `hydra` node. */
function takeHydra(node: MapNode): { readonly program: MapNode; readonly hydra?: ConfigNode } {
  const hydra = node.entries.get("hydra")?.value;
  return hydra === undefined ? { program: node } : { program: withoutEntry(node, "hydra"), hydra };
}

/**
 * The content of a config that a defaults list includes again, after it was merged at the root.
 *
 * Hydra puts the maps and lists of such a config into the result without copying them, and later merges change them in
 * place. If the same config is included again, it therefore contributes their changed state. Scalars are replaced,
 * never changed, and so keep their value; a config that was merged under a package was copied and is not affected.
 *
 * @param node the config as it was loaded.
 * @param earlier the composed tree when the config was first merged at the root.
 * @param now the composed tree when it is included again.
 */
function sharedContent(
  node: ConfigNode,
  earlier: ConfigNode | undefined,
  now: ConfigNode | undefined,
): ConfigNode {
  if (node.kind !== "map" || now?.kind !== "map") return node;
  const entries = new Map(node.entries);
  for (const [id, entry] of node.entries) {
    const value = sharedChild(entry.value, entryOf(earlier, id), now.entries.get(id)?.value);
    if (value !== entry.value) entries.set(id, { ...entry, value });
  }
  return { ...node, entries };
}

function sharedChild(
  content: ConfigNode,
  earlier: ConfigNode | undefined,
  now: ConfigNode | undefined,
): ConfigNode {
  if (content.kind === "scalar" || now === undefined) return content;
  // An existing map was kept, so only its new entries are shared.
  if (earlier?.kind === content.kind) return sharedContent(content, earlier, now);
  return now.kind === content.kind ? now : content;
}

const entryOf = (
  node: ConfigNode | undefined,
  id: Parameters<MapNode["entries"]["get"]>[0],
): ConfigNode | undefined => (node?.kind === "map" ? node.entries.get(id)?.value : undefined);

/**
 * A cache of merged prefixes of defaults lists. The jobs of a sweep over groups begin with the same rows, above all
 * Hydra's own: those are merged once and shared, since trees are immutable. Merges that called a resolver are not
 * cached, because its result may differ for another job.
 */
interface MergeCache {
  find(rows: readonly DefaultsRow[]): CachedPrefix;
  add(rows: readonly DefaultsRow[], merged: KnownMerge): void;
}

interface KnownMerge {
  readonly root: MapNode;
  /** What merging added by expanding interpolations. */
  readonly expanded: Size;
}

interface CachedPrefix {
  /** The length of the longest cached prefix of the rows, and its merge. */
  readonly length: number;
  readonly merged: KnownMerge | undefined;
  /** The length of the longest prefix that some merged list has in common. */
  readonly shared: number;
}

function mergeCacheOf(repository: Repository): MergeCache {
  const cached = MERGE_CACHES.get(repository);
  if (cached !== undefined) return cached;
  const merges = createMergeCache();
  MERGE_CACHES.set(repository, merges);
  return merges;
}

const MERGE_CACHES = new WeakMap<Repository, MergeCache>();

/** Above this number the cache is cleared; merges still in use are made again by the next few jobs. */
const MAX_CACHED_MERGES = 64;

/** A row in the tree of prefixes. */
interface Step {
  readonly row: DefaultsRow;
  readonly next: Step[];
  /** The merge of all rows up to here, if it is cached. */
  merged: KnownMerge | undefined;
}

function createMergeCache(): MergeCache {
  let first: Step[] = [];
  let count = 0;
  return {
    find(rows) {
      let [length, shared]: [number, number] = [0, 0];
      let merged: KnownMerge | undefined;
      let steps = first;
      for (const row of rows) {
        const step = stepOf(steps, row);
        if (step === undefined) break;
        shared++;
        if (step.merged !== undefined) [length, merged] = [shared, step.merged];
        steps = step.next;
      }
      return { length, merged, shared };
    },
    add(rows, merged) {
      if (count === MAX_CACHED_MERGES) [first, count] = [[], 0];
      let steps = first;
      for (const [index, row] of rows.entries()) {
        const step = stepOf(steps, row) ?? addStep(steps, row);
        if (index === rows.length - 1) step.merged = merged;
        steps = step.next;
      }
      count++;
    },
  };
}

const stepOf = (steps: readonly Step[], row: DefaultsRow): Step | undefined =>
  steps.find((step) => areEqualRows(step.row, row));

function addStep(steps: Step[], row: DefaultsRow): Step {
  const step: Step = { row, next: [], merged: undefined };
  steps.push(step);
  return step;
}

/** Compares everything that the content of a row depends on. */
const areEqualRows = (row: DefaultsRow, other: DefaultsRow): boolean =>
  row.loaded === other.loaded &&
  row.package === other.package &&
  row.configPath === other.configPath &&
  row.primary === other.primary;
