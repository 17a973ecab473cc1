import { ConfigError } from "./errors.ts";
import { isInterpolationNode } from "./interpolation/resolution.ts";
import type { ConfigNode, Key, MapNode } from "./node.ts";
import { isMissing } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";
import { pyStr, pyTypeName } from "./python-text.ts";
import { extendsType } from "./types/convert.ts";

/*
 * What cannot be merged over what.
 */

/** What stands for a map or list that is not there: null, `???` or an interpolation. */
export const isSpecialScalar = (node: ConfigNode): boolean =>
  node.kind === "scalar" && (node.value === null || isMissing(node) || isInterpolationNode(node));

/** Whatever field an object stands in: nothing but a map, null or a reference is merged over it. */
export function refuseInPlaceOfObject(
  dest: Place,
  key: Key,
  known: ConfigNode,
  source: ConfigNode,
): void {
  if (known.type?.kind !== "object" || known.kind !== "map" || source.kind === "map") return;
  if (isSpecialScalar(source)) return;
  const found = source.kind === "list" ? "list" : pyTypeName(source);
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Merge error: ${found} is not a subclass of ${known.type.name}. value: ${pyStr(source)}`,
    key: fullKeyOf(dest, key),
    origin: source.origin,
  });
}

/** An object of a class takes those of the class and of its subclasses. */
export function refuseOtherObject(dest: Place, source: MapNode): void {
  const [own, other] = [dest.node.type, source.type];
  if (own?.kind !== "object" || other?.kind !== "object" || extendsType(other, own)) return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Merge error: ${other.name} is not a subclass of ${own.name}`,
    key: fullKeyOf(dest),
    origin: source.origin,
  });
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
