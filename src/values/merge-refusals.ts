import { ConfigError } from "./errors.ts";
import { follow, tryFollow } from "./follow-draft.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { isInterpolationNode } from "./interpolation/parse-node.ts";
import type { ConfigNode, Key, MapNode, NodeType } from "./node.ts";
import { isMissing, isMissingOrNull } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";
import { pyStr, pyTypeName } from "./python-text.ts";
import { extendsType, refuseNull } from "./types/convert.ts";
import { isContainerType } from "./types/type-of.ts";
import { notOfClass, notOptional, wrongType } from "./types/wrong-type.ts";

/*
 * What cannot be merged over what.
 */

/** What stands for a map or list that is not there: null, `???` or an interpolation. */
export const isSpecialScalar = (node: ConfigNode): boolean =>
  node.kind === "scalar" && (node.value === null || isMissing(node) || isInterpolationNode(node));

/** Whatever field an object stands in: nothing but a map or null is merged over it, and no reference of a file either. */
export function refuseInPlaceOfObject(
  dest: Place,
  key: Key,
  known: ConfigNode,
  source: ConfigNode,
): void {
  if (known.type?.kind !== "object" || known.kind !== "map" || source.kind === "map") return;
  // A reference that is declared as a map or list is one of OmegaConf's maps or lists.
  if (isMissingOrNull(source)) return;
  if (source.kind === "scalar" && isContainerType(source.type)) return;
  const found = source.kind === "list" ? "list" : pyTypeName(source);
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Merge error: ${found} is not a subclass of ${known.type.name}. value: ${pyStr(source)}`,
    key: fullKeyOf(dest, key),
    origin: source.origin,
  });
}

/**
 * What an interpolation led to brings the type of its own field along: a field for objects takes no scalar in the
 * object's place, and null only if it is optional. (Other types stand at the node, which refuses what does not fit.)
 * @param type of the field that it led to
 */
export function refuseInPlaceOfField(
  dest: Place,
  key: Key,
  type: NodeType | undefined,
  source: ConfigNode,
): void {
  if (type?.kind !== "object" || source.kind !== "scalar") return;
  if (isMissing(source) || isInterpolationNode(source)) return;
  const at: Place = { kind: "place", node: source, parent: dest, key };
  refuseNull(type, source, at);
  if (source.value !== null) throw notOfClass(type, source, at);
}

/** Where a source comes from: its interpolations are those of the tree that it came in. */
interface SourceSide {
  readonly from: Place;
  readonly context: ResolveContext;
}

/**
 * An interpolation that is merged over what is declared as a map or list is followed in the tree that it comes from: to
 * null it does not lead where something has to be, and over null it leads somewhere.
 * @throws ConfigError `value.wrong_type`, and of the interpolation
 */
export function refuseReference(
  dest: Place,
  key: Key,
  known: ConfigNode,
  source: ConfigNode,
  { from, context }: SourceSide,
): void {
  const { type } = known;
  if (isContainerType(type) && type.kind !== "list" && type.optional !== true) {
    const target = tryFollow(from, key, context)?.node;
    if (target?.kind === "scalar" && target.value === null)
      throw notOptional(type, source, { kind: "place", node: source, parent: dest, key });
  }
  if (known.kind === "scalar" && known.value === null) follow(from, key, context);
}

/** An object of a class takes those of the class and of its subclasses. */
export function refuseOtherObject(dest: Place, source: MapNode): void {
  const [own, other] = [dest.node.type, source.type];
  if (own?.kind !== "object" || other?.kind !== "object" || extendsType(other, own)) return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Merge error: ${other.name} is not a subclass of ${own.name}. value: ${pyStr(source)}`,
    key: fullKeyOf(dest),
    origin: source.origin,
  });
}

/** What has not been given yet takes what it would take when it is assigned: objects of its class, and maps no object. */
export function refuseInPlaceOfMissing(at: Place, missing: ConfigNode, source: ConfigNode): void {
  const { type } = missing;
  if (!isMissing(missing) || source.type?.kind !== "object") return;
  if (type?.kind === "map") throw wrongType(type, source, at);
  if (type?.kind === "object" && !extendsType(source.type, type))
    throw notOfClass(type, source, at);
}

export const incompatible = (dest: Place, source: ConfigNode): ConfigError =>
  new ConfigError({
    code: "merge.incompatible",
    message:
      dest.node.kind !== "scalar" && source.kind !== "scalar"
        ? "Cannot merge DictConfig with ListConfig"
        : `Cannot merge ${pyTypeName(dest.node)} with ${pyTypeName(source)}`,
    key: fullKeyOf(dest),
    origin: source.origin,
  });
