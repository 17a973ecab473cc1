import { ConfigError } from "../errors.ts";
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
  if (result.node.kind !== "scalar") {
    if (isContainerType(type)) return result;
    throw new ConfigError({
      code: "value.wrong_type",
      message: `Value '${pyStr(result.node)}' of type '${pyTypeName(result.node)}' is no ${describeType(type)}`,
      key: fullKeyOf(at),
      origin: at.node.origin,
    });
  }
  const converted = convertScalar(type, result.node, at);
  return converted === result.node ? result : resultPlace(converted, at);
}
