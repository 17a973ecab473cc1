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
}

/** One config of the list and its content, not yet at its package. */
interface Layer {
  readonly row: DefaultsRow;
  readonly node: ConfigNode;
}

/**
 * Merges the configs of a defaults list, each at its package, in order.
 *
 * @throws ConfigError `compose.invalid_config` naming the config that does not fit.
 */
export function mergeRows(
  rows: readonly DefaultsRow[],
  repository: Repository,
  context: ResolveContext,
): MergedRows {
  const warnings: CompositionWarning[] = [];
  const layers = rows.map((row): Layer => {
    const { node, warning } = matchSchema(row, repository, context);
    if (warning) warnings.push(warning);
    return { row, node };
  });
  const root = someSharesContent(rows)
    ? mergeOneByOne(layers, context)
    : mergeOnKnown(layers, knownMerges(repository), context);
  return { root: withoutDefaultsFields(root, rows), warnings };
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
): MapNode {
  const rows = layers.map(({ row }) => row);
  const { length, root: start = EMPTY, shared } = known.find(rows);
  let root = start;
  const watched = watchResolvers(context);
  const mergeTo = (from: number, end: number): void => {
    if (from === end) return;
    const placed = layers.slice(from, end).map(({ row, node }) => placeLayer(row, node, context));
    root = requireMap(mergeNodes([root, ...placed], watched.context));
    if (!watched.wereCalled()) known.add(rows.slice(0, end), root);
  };
  try {
    mergeTo(length, shared);
    mergeTo(shared, rows.length);
    return root;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    // Only when the merge has failed is it worth finding out at which config.
    return mergeOneByOne(layers, context);
  }
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

function mergeOneByOne(layers: readonly Layer[], context: ResolveContext): MapNode {
  const beforeFirst = new Map<LoadedConfig, MapNode>();
  return layers.reduce((tree, { row, node }) => {
    const before = beforeFirst.get(row.loaded);
    const content = before === undefined ? node : sharedContent(node, before, tree);
    if (before === undefined && row.package === "") beforeFirst.set(row.loaded, tree);
    const layer = placeLayer(row, content, context);
    try {
      return requireMap(mergeNodes([tree, layer], context));
    } catch (error) {
      throw isConfigError(error) ? blame(row, error) : error;
    }
  }, EMPTY);
}

function blame(row: DefaultsRow, error: ConfigError): ConfigError {
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
    hint: "move it to the primary config, or give it on the command line: hydra.searchpath=[...]",
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
