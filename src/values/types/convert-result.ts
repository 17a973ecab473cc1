import { ConfigError, isConfigError } from "../errors.ts";
import type { ConfigNode } from "../node.ts";
import type { Place } from "../place.ts";
import { resultPlace } from "../place.ts";
import { pyStr } from "../python-text.ts";
import { convertResolved } from "./convert-scalar.ts";
import { isContainerType } from "./type-of.ts";
import { wrongType } from "./wrong-type.ts";

/**
 * A typed value that is an interpolation takes its result in its own type: a scalar is converted, a
 * map or list must be one already.
 * @throws ConfigError `value.wrong_type`
 */
export function convertResult(at: Place, result: Place): Place {
  const { type } = at.node;
  if (type === undefined || type.kind === "any") return result;
  const { node } = result;
  const convert = () => {
    if (node.kind === "scalar") return convertResolved(type, node, { ...at, plain: true });
    if (type.kind === node.kind || (type.kind === "object" && node.kind === "map")) return node;
    throw wrongType(type, node, at);
  };
  // OmegaConf sees that something is no map or list when it is written: then it says so in other words.
  const converted = isContainerType(type) ? convert() : taking(at, convert);
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
