import type { Place } from "../place.ts";
import { resultPlace } from "../place.ts";
import { convertScalar } from "./convert-scalar.ts";

/**
 * A typed scalar that is an interpolation takes its result in its own type.
 * @throws ConfigError `value.wrong_type`
 */
export function convertResult(at: Place, result: Place): Place {
  const { type } = at.node;
  if (type === undefined || result.node.kind !== "scalar") return result;
  const converted = convertScalar(type, result.node, at);
  return converted === result.node ? result : resultPlace(converted, at);
}
