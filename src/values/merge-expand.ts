import { assign } from "./assign.ts";
import { spend } from "./budget.ts";
import type { Draft } from "./draft.ts";
import { snapshot } from "./draft.ts";
import { tryFollow } from "./follow-draft.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { outlookOf } from "./interpolation/outlook.ts";
import type { InterpolationNode } from "./interpolation/parse-node.ts";
import { isInterpolationNode } from "./interpolation/parse-node.ts";
import { incompatible, refuseInPlaceOfField, refuseInPlaceOfMissing } from "./merge-refusals.ts";
import type { ConfigNode, Key, NodeType, ScalarNode } from "./node.ts";
import { child, isMissing } from "./node.ts";
import type { Place } from "./place.ts";
import { sizeOf } from "./size.ts";
import { madeOf } from "./types/made-of.ts";
import { elementType, isContainerType } from "./types/type-of.ts";
import { notOfClass } from "./types/wrong-type.ts";

/**
 * What a child has to be before something can be merged over it: the map or list that its
 * interpolation leads to, or an empty one where its type says so and it is still null or missing.
 */
export function expand(
  dest: Draft,
  key: Key,
  old: ConfigNode,
  source: ConfigNode,
  context: ResolveContext,
): ConfigNode {
  if (old.kind !== "scalar") return old;
  if (!isInterpolationNode(old) || !isExpanded(dest, key, old, source))
    return asDeclared(dest, key, old, source);
  const target = tryFollow(dest, key, context);
  if (target === undefined || target.result === true || !isContainer(target.node))
    return asDeclared(dest, key, old, source);
  // In place of the interpolation, which was written; what was expanded before can stand in it many times.
  const { values, characters } = sizeOf(target.node, new Map());
  const at: Place = { kind: "place", node: old, parent: dest, key };
  spend(dest.copies.budget, { values: values - 1, characters }, at);
  assign(dest, key, snapshot(target.node, dest.copies));
  const field = fieldType(target);
  refuseInPlaceOfField(dest, key, field, source);
  // Null takes the place of an object, and the field that it stood in says of which class.
  if (field?.kind === "object" && isNull(source) && elementType(dest.node, key) === undefined)
    return { ...source, type: field };
  const written = child(dest.node, key) ?? old;
  return written.kind === "scalar" ? asDeclared(dest, key, written, source) : written;
}

/** A map or list; one that is declared is one of OmegaConf's also where it is null. */
const isContainer = (node: ConfigNode): boolean =>
  node.kind !== "scalar" || isContainerType(node.type);

const fieldType = ({ parent, key }: Place): NodeType | undefined =>
  parent === null || key === undefined ? undefined : elementType(parent.node, key);

/** What is merged as an object whose fields are missing. */
const isMissingObject = (node: ConfigNode): boolean =>
  isMissing(node) && node.type?.kind === "object";

const isNull = (node: ConfigNode): node is ScalarNode =>
  node.kind === "scalar" && node.value === null;

function asDeclared(dest: Draft, key: Key, old: ConfigNode, source: ConfigNode): ConfigNode {
  if (old.type === undefined || !isContainerType(old.type)) return old;
  if (source.kind === "scalar")
    return isInterpolationNode(old) && old.type.kind !== "list" && isMissingObject(source)
      ? madeOf(old.type, old.origin)
      : old;
  const at: Place = { kind: "place", node: source, parent: dest, key };
  const made = madeOf(old.type, old.origin);
  if (made.kind === "map" && source.kind === "list")
    throw isMissing(old)
      ? notOfClass(old.type, source, at)
      : incompatible({ ...at, node: made }, source);
  refuseInPlaceOfMissing(at, old, source);
  return made;
}

/**
 * Whether what stands there has to be followed: for a scalar that takes its place only what has a type
 * can make a difference.
 */
function isExpanded(dest: Draft, key: Key, old: InterpolationNode, source: ConfigNode): boolean {
  const outlook = outlookOf(old, { kind: "place", node: old, parent: dest, key });
  if (outlook === "any container") return true;
  const isReplaced =
    source.kind === "scalar" &&
    !isMissing(source) &&
    old.type === undefined &&
    elementType(dest.node, key) === undefined;
  return outlook === "untyped container" && !isReplaced;
}
