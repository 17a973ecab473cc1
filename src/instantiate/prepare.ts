import { ConfigError } from "../values/errors.ts";
import { withFlags } from "../values/flags.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { createResolution } from "../values/interpolation/create-resolution.ts";
import type { Resolution } from "../values/interpolation/resolution.ts";
import { isInterpolation, tryDereference } from "../values/interpolation/resolution.ts";
import { resolveDeep } from "../values/interpolation/resolve-tree.ts";
import { mergeNodes } from "../values/merge.ts";
import { nearestKey } from "../values/nearest-key.ts";
import type { ConfigNode, KeyId, MapEntry, MapNode } from "../values/node.ts";
import { isMissing } from "../values/node.ts";
import { fromCode } from "../values/origin.ts";
import type { Place } from "../values/place.ts";
import { pyTypeName } from "../values/python-text.ts";
import { selectPath } from "../values/select-place.ts";
import { isForeign, toTree } from "./foreign.ts";

export interface Preparation {
  readonly root: ConfigNode;
  /** The keys that lead to the part of the tree that is meant; none for all of it. */
  readonly path: readonly string[];
  /** That part as messages name it. */
  readonly key: string;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly context: ResolveContext;
}

/**
 * The place that is to be instantiated, resolved where it stands in its tree and with the overrides
 * merged into it; undefined for null.
 *
 * As in Hydra the overrides are merged before anything is resolved: what refers to them relatively
 * sees them, and what refers to them from the root sees the tree as it was.
 *
 * @throws ConfigError `key.not_found`, `instantiate.invalid`, and of interpolations
 */
export function prepare({ root, path, key, overrides, context }: Preparation): Place | undefined {
  const resolution = createResolution(root, context);
  const found = find(resolution, path, key);
  const { node } = found;
  if (node.kind === "scalar") {
    if (node.value === null && !isForeign(node)) return undefined;
    throw notContainer(node, key);
  }
  const merged = node.kind === "map" ? merge(resolution, found, overrides) : node;
  // What stands at the root is its own root: an override of it is seen from everywhere.
  const place: Place = { ...found, node: merged };
  const alone = place.parent === null ? createResolution(merged, context) : undefined;
  const resolved = alone
    ? resolveDeep(alone, alone.root, LENIENT)
    : resolveDeep(resolution, place, LENIENT);
  return { ...place, node: resolved };
}

/** Missing values are refused where a target wants them, not here. */
const LENIENT = { toMissing: "missing", inPlace: true } as const;

function find(resolution: Resolution, path: readonly string[], key: string): Place {
  const place = selectPath(resolution, resolution.root, path, {
    throwOnMissing: true,
    scalarsAreEmpty: true,
  });
  if (place !== undefined) return place;
  throw new ConfigError({
    code: "key.not_found",
    message: `Key '${key}' not found in config`,
    key,
    ...nearestKey(resolution.root.node, key),
  });
}

function merge(
  resolution: Resolution,
  place: Place,
  overrides: Readonly<Record<string, unknown>>,
): ConfigNode {
  const open = withFlags(place.node, { struct: false, readonly: false });
  if (Object.keys(overrides).length === 0) return open;
  const over = toTree(overrides, fromCode("overrides of instantiate()"));
  const expanded = expand(resolution, { ...place, node: open }, over);
  return mergeNodes([expanded, over], resolution.context);
}

/** Puts in what the interpolations lead to that an override merges something into. */
function expand(resolution: Resolution, place: Place, over: ConfigNode): ConfigNode {
  const target = isInterpolation(place) ? tryDereference(resolution, place) : place;
  if (target === undefined || target.node.kind === "scalar") return place.node;
  if (target.node.kind !== "map" || over.kind !== "map") return target.node;
  const entries = new Map<KeyId, MapEntry>(target.node.entries);
  for (const [id, { value }] of over.entries) {
    const entry = entries.get(id);
    const below = entry && resolution.places.child(target, entry.key);
    if (entry === undefined || below === undefined || value.kind === "scalar") continue;
    entries.set(id, { key: entry.key, value: expand(resolution, below, value) });
  }
  return { ...target.node, entries } satisfies MapNode;
}

const notContainer = (node: ConfigNode, key: string): ConfigError =>
  new ConfigError({
    code: isMissing(node) ? "value.missing" : "instantiate.invalid",
    message: `Cannot instantiate config of type ${pyTypeName(node)}: it must be a map or a list`,
    ...(key !== "" && { key }),
    origin: node.origin,
  });
