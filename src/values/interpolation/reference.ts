import { ConfigError, isConfigError } from "../errors.ts";
import type { Place } from "../place.ts";
import { fullKeyOf, isWithin, rootOf } from "../place.ts";
import { selectPlace } from "../select-place.ts";
import type { Resolution } from "./resolution.ts";
import { cycleError } from "./resolution.ts";

/**
 * What `${key}` at a place leads to, resolved.
 * @throws ConfigError `interpolation.not_found`, `interpolation.to_missing`, `interpolation.cycle`,
 *   or as `selectPlace`
 */
export function followReference(resolution: Resolution, key: string, at: Place): Place {
  const { start, rest } = startOf(key, at);
  const target = selectTarget(resolution, start, rest, at);
  if (target === undefined)
    throw new ConfigError({
      code: "interpolation.not_found",
      message: `Interpolation key '${rest}' not found`,
      key: fullKeyOf(at),
      origin: at.node.origin,
    });
  if (isWithin(at.parent, target)) throw cycleError(at, "Interpolation to parent node detected");
  return target;
}

/** The place that a key is looked up from: the root, or as many levels up as it has leading dots. */
export function startOf(key: string, at: Place): { readonly start: Place; readonly rest: string } {
  if (!key.startsWith(".")) return { start: rootOf(at), rest: key };
  let start = at.parent;
  let rest = key.slice(1);
  while (start !== null && rest.startsWith(".")) {
    start = start.parent;
    rest = rest.slice(1);
  }
  if (start === null)
    throw new ConfigError({
      code: "interpolation.not_found",
      message: `ConfigKeyError while resolving interpolation: Error resolving key '${key}'`,
      key: fullKeyOf(at),
      origin: at.node.origin,
    });
  return { start, rest };
}

function selectTarget(
  resolution: Resolution,
  start: Place,
  key: string,
  at: Place,
): Place | undefined {
  try {
    return selectPlace(resolution, start, key, { throwOnMissing: true });
  } catch (error) {
    if (!isConfigError(error) || error.code !== "value.missing") throw error;
    throw new ConfigError({
      code: "interpolation.to_missing",
      message: `MissingMandatoryValue while resolving interpolation: ${error.message}`,
      key: fullKeyOf(at),
      origin: at.node.origin,
      cause: error,
    });
  }
}
