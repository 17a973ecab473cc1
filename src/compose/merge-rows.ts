import { type Budget, createBudget, isLimitError, type Size, spentOf } from "../values/budget.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { type ResolveContext, watchResolvers } from "../values/interpolation/context.ts";
import { splitKey } from "../values/key-path.ts";
import { mergeNodes } from "../values/merge.ts";
import type { ConfigNode, MapNode } from "../values/node.ts";
import { isMissingOrNull, map } from "../values/node.ts";
import { selectNode } from "../values/select.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import { hydraClassName } from "./hydra/class-name.ts";
import { HYDRA_CONFIG } from "./hydra/schema.ts";
import { withoutDefaultsField } from "./hydra/typed.ts";
import { type KnownMerges, knownMerges } from "./known-merges.ts";
import { matchSchema } from "./match-schema.ts";
import { sharedContent } from "./shared-content.ts";
import type { LoadedConfig } from "./sources/config-source.ts";
import type { Repository } from "./sources/repository.ts";
import { getAt, setAt } from "./tree-edit.ts";
import type { CompositionWarning } from "./warning.ts";

export interface MergedRows {
  readonly root: MapNode;
  readonly warnings: readonly CompositionWarning[];
  /** What merging has put in where interpolations stood. */
  readonly expanded: Size;
}

/** One config of the list and its content, not yet at its package. */
interface Layer {
  readonly row: DefaultsRow;
  readonly node: ConfigNode;
  readonly warning?: CompositionWarning;
}

/**
 * Merges the configs of a defaults list, each at its package, in order.
 *
 * @param onWarning is told what there is to warn about of a list that does not merge, up to where it fails
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
    return { layers, ...mergeOnKnown(layers, knownMerges(repository), context) };
  };
  const { expanded, layers, root } =
    (someSharesContent(rows) ? undefined : unlessRefused(merge)) ??
    // Only when the merge has failed is it worth finding out at which config.
    mergeOneByOne(rows, repository, context, onWarning);
  return {
    root: withoutDefaultsFields(root, rows),
    expanded,
    warnings: layers.flatMap(({ warning }) => warning ?? []),
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
  return { row, ...matchSchema(row, repository, context, schemas) };
}

function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** Defaults lists that are fields of types stay until here; see `withDefaults`. */
function withoutDefaultsFields(root: MapNode, rows: readonly DefaultsRow[]): MapNode {
  return rows.reduce((tree, { loaded, package: pkg }) => {
    const { type } = loaded.node;
    if (type?.kind !== "object" || !type.fields.has("defaults")) return tree;
    const path = splitKey(pkg);
    const node = getAt(tree, path);
    return node?.kind === "map" ? setAt(tree, path, withoutDefaultsField(node)) : tree;
  }, root);
}

const EMPTY: MapNode = map([], { kind: "code", by: "compose" });

/**
 * Goes on from what is known of the first layers. Where other lists went on differently, the layers up to
 * there become known: the next list will probably share them as well.
 */
function mergeOnKnown(
  layers: readonly Layer[],
  known: KnownMerges,
  context: ResolveContext,
): Pick<Merged, "root" | "expanded"> {
  const rows = layers.map(({ row }) => row);
  const { length, merged, shared } = known.find(rows);
  let root = merged?.root ?? EMPTY;
  // What was merged before counts as if it were merged now: the same list must not come to something else.
  const budget = createBudget(context.limits, merged?.expanded);
  const watched = watchResolvers(context);
  const mergeTo = (from: number, end: number): void => {
    if (from === end) return;
    const placed = layers.slice(from, end).map(({ row, node }) => placeLayer(row, node, context));
    root = requireMap(mergeNodes([root, ...placed], watched.context, budget));
    if (!watched.wereCalled()) known.add(rows.slice(0, end), { root, expanded: spentOf(budget) });
  };
  mergeTo(length, shared);
  mergeTo(shared, rows.length);
  return { root, expanded: spentOf(budget) };
}

/** A config that was merged at the root and comes again: see `sharedContent`. */
function someSharesContent(rows: readonly DefaultsRow[]): boolean {
  const atRoot = new Set<LoadedConfig>();
  return rows.some(({ loaded, package: pkg }) => {
    if (atRoot.has(loaded)) return true;
    if (pkg === "") atRoot.add(loaded);
    return false;
  });
}

/** Each config is looked at when those before it are merged: the first that does not fit is told of. */
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
    if (layer.warning) onWarning(layer.warning);
    const before = beforeFirst.get(row.loaded);
    if (before === undefined && row.package === "") beforeFirst.set(row.loaded, root);
    const content = before === undefined ? layer.node : sharedContent(layer.node, before, root);
    root = mergeLayer(root, row, placeLayer(row, content, context), context, budget);
  }
  return { layers, root, expanded: spentOf(budget) };
}

function mergeLayer(
  root: MapNode,
  row: DefaultsRow,
  layer: ConfigNode,
  context: ResolveContext,
  budget: Budget,
): MapNode {
  try {
    return requireMap(mergeNodes([root, layer], context, budget));
  } catch (error) {
    throw isConfigError(error) ? blame(row, error) : error;
  }
}

function blame(row: DefaultsRow, error: ConfigError): ConfigError {
  if (isLimitError(error)) return error;
  const { details } = error;
  return new ConfigError({
    ...details,
    code: "compose.invalid_config",
    message: `In '${row.configPath}': ${hydraClassName(error.code)} raised while composing config:\n${details.message}`,
    origin: details.origin ?? row.loaded.origin,
    cause: error,
  });
}

function placeLayer(row: DefaultsRow, node: ConfigNode, context: ResolveContext): ConfigNode {
  const layer = embed(node, row.package);
  refuseSearchPath(row, layer, context);
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
