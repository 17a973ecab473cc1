import { ConfigError, isConfigError } from "../errors.ts";
import type { ConfigNode } from "../node.ts";
import type { Place } from "../place.ts";
import { fullKeyOf, resultPlace } from "../place.ts";
import { pyStr, pyTypeName } from "../python-text.ts";
import { convertScalar } from "./convert-scalar.ts";
import { describeType } from "./describe.ts";
import { isContainerType } from "./type-of.ts";

/**
 * A typed scalar that is an interpolation takes its result in its own type, which no map or list has.
 * @throws ConfigError `value.wrong_type`
 */
export function convertResult(at: Place, result: Place): Place {
  const { type } = at.node;
  if (type === undefined || type.kind === "any") return result;
  const { node } = result;
  if (node.kind !== "scalar") {
    if (isContainerType(type)) return result;
    throw new ConfigError({
      code: "value.wrong_type",
      message: `Value '${pyStr(node)}' of type '${pyTypeName(node)}' is no ${describeType(type)}`,
      key: fullKeyOf(at),
      origin: at.node.origin,
    });
  }
  const converted = taking(at, () => convertScalar(type, node, at));
  return converted === node ? result : resultPlace(converted, at);
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
