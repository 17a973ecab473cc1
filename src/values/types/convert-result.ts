import { ConfigError, isConfigError } from "../errors.ts";
import type { ConfigNode, ContainerType, UnionType } from "../node.ts";
import type { Place } from "../place.ts";
import { resultPlace } from "../place.ts";
import { pyStr } from "../python-text.ts";
import { convertResolved, convertScalar } from "./convert-scalar.ts";
import { isContainerType } from "./type-of.ts";
import { wrongType } from "./wrong-type.ts";

/** What OmegaConf keeps in a node of its own around a value, which takes whatever its interpolation leads to. */
type WideType = ContainerType | UnionType;

/**
 * A typed value that is an interpolation takes its result in its own type: a scalar is converted. That a map, list,
 * object or union is something else is seen when it is written, and not when it is read.
 * @param declared whether it is refused when it is read, too
 * @throws ConfigError `value.wrong_type`
 */
export function convertResult(at: Place, result: Place, declared = false): Place {
  const { type } = at.node;
  if (type === undefined || type.kind === "any") return result;
  const { node } = result;
  if (isContainerType(type) || type.kind === "union") {
    if (!declared) return result;
    const fitting = convertWide(type, node, at, convertResolved);
    return fitting === node ? result : resultPlace(fitting, at);
  }
  const converted = taking(at, () => {
    if (node.kind === "scalar") return convertResolved(type, node, { ...at, plain: true });
    throw wrongType(type, node, at);
  });
  return converted === node ? result : resultPlace(converted, at);
}

/**
 * What an interpolation in the place of a map, list, object or union led to: it has to be one.
 * @param convert whether a text that looks like an interpolation, or missing, is one, as where it is written
 * @throws ConfigError `value.wrong_type`
 */
export function convertWide(
  type: WideType,
  node: ConfigNode,
  at: Place,
  convert: typeof convertScalar = convertScalar,
): ConfigNode {
  if (node.kind === "scalar") return convert(type, node, { ...at, plain: true });
  if (type.kind === node.kind || (type.kind === "object" && node.kind === "map")) return node;
  throw wrongType(type, node, at);
}

/** What a field does not take is told with the interpolation that it came from. */
function taking({ node }: Place, convert: () => ConfigNode): ConfigNode {
  try {
    return convert();
  } catch (error) {
    if (!isConfigError(error) || error.code !== "value.wrong_type") throw error;
    const message = `While dereferencing interpolation '${pyStr(node)}': ${error.details.message}`;
    throw new ConfigError({ ...error.details, message });
  }
}
