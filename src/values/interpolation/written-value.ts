import { ConfigError } from "../errors.ts";
import type { ConfigNode } from "../node.ts";
import type { Place } from "../place.ts";
import { fullKeyOf } from "../place.ts";
import { refuseReadonly, refuseSetting } from "../readonly.ts";
import { bareValue, convertNode, convertWritten } from "../types/convert.ts";
import { convertWide } from "../types/convert-result.ts";
import { isContainerType } from "../types/type-of.ts";
import { checkSyntax } from "./check-syntax.ts";
import { isInterpolationNode } from "./parse-node.ts";

/**
 * What an interpolation led to, as it is written to its place.
 * @param value what stands at the target, resolved
 * @throws ConfigError `value.readonly`, `value.wrong_type`, `interpolation.syntax`
 */
export function writtenValue(value: ConfigNode, target: Place, place: Place): ConfigNode {
  const { type } = place.node;
  const isReplaced = type === undefined && isContainer(target.node) && target.result !== true;
  if (isReplaced && place.parent !== null) refuseReadonly(place.parent, place);
  else refuseSetting(place);
  refuseNoValue(target, place);
  if (type === undefined) return isContainer(target.node) ? value : bareValue(value);
  if (!isContainerType(type) && type.kind !== "union") return convertWritten(type, value, place);
  const fitting = convertWide(type, value, place);
  return target.result === true && fitting.kind !== "scalar"
    ? convertNode(type, fitting, { ...place, plain: true })
    : convertWritten(type, fitting, place);
}

/** What is declared as a map or list is one of OmegaConf's also where it is null. */
const isContainer = (node: ConfigNode): boolean =>
  node.kind !== "scalar" || isContainerType(node.type);

function refuseNoValue({ node, result }: Place, place: Place): void {
  if (result !== true) return;
  if (isInterpolationNode(node)) checkSyntax(node.value);
  // A declared map or list takes plain data as its own.
  if (node.kind === "scalar" || isContainerType(place.node.type)) return;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Value '${node.kind === "map" ? "dict" : "list"}' is not a supported primitive type`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
}
