import type { ErrorCode } from "../errors.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import { nearestKey } from "../nearest-key.ts";
import type { Place } from "../place.ts";
import { fullKeyOf, isWithin, rootOf } from "../place.ts";
import { pyStr } from "../python-text.ts";
import { selectPath } from "../select-place.ts";
import type { ReferenceKey } from "./reference-key.ts";
import type { Resolution } from "./resolution.ts";
import { cycleError } from "./resolution.ts";

/**
 * What `${key}` at a place leads to, resolved.
 * @throws ConfigError `interpolation.not_found`, `interpolation.to_missing`, `interpolation.cycle`,
 *   or as `selectPlace`
 */
export function followReference(resolution: Resolution, key: ReferenceKey, at: Place): Place {
  const target = selectTarget(resolution, key, at);
  if (target === undefined)
    throw new ConfigError(
      {
        code: "interpolation.not_found",
        message: `Interpolation key '${key.rest}' not found`,
        key: fullKeyOf(at),
        origin: at.node.origin,
      },
      () => keysBeside(key, at),
    );
  if (isWithin(at.parent, target)) throw cycleError(at, "Interpolation to parent node detected");
  return target;
}

const WIDEST = 200;

/** The keys that a reference could have meant, as it would write them. */
function keysBeside(
  key: ReferenceKey,
  at: Place,
): { readonly available?: readonly string[]; readonly nearest?: string } {
  const { available, nearest } = nearestKey(startOf(key, at).node, key.rest, WIDEST);
  if (available.length === 0) return {};
  const written = (name: string) => `${".".repeat(key.levels)}${name}`;
  return {
    available: available.map(written),
    ...(nearest !== undefined && { nearest: written(nearest) }),
  };
}

/** The place that a key is looked up from: the root, or as many levels up as it has leading dots. */
export function startOf({ levels, rest }: ReferenceKey, at: Place): Place {
  if (levels === 0) return rootOf(at);
  let start: Place | null = at;
  for (let level = 0; level < levels && start !== null; level++) start = start.parent;
  if (start === null)
    throw new ConfigError({
      code: "key.not_found",
      message: `Error resolving key '${".".repeat(levels)}${rest}': there are fewer levels above`,
      key: fullKeyOf(at),
      origin: at.node.origin,
    });
  return start;
}

function selectTarget(resolution: Resolution, key: ReferenceKey, at: Place): Place | undefined {
  try {
    return selectPath(resolution, startOf(key, at), key.components, REFERENCE);
  } catch (error) {
    const code = isConfigError(error) ? REFERENCE_CODES.get(error.code) : undefined;
    if (!isConfigError(error) || code === undefined) throw error;
    throw new ConfigError({
      code,
      message: `Error while resolving interpolation '${pyStr(at.node)}': ${error.message}`,
      key: fullKeyOf(at),
      origin: at.node.origin,
      cause: error,
    });
  }
}

const REFERENCE = { throwOnMissing: true } as const;

/** What failures to select become when it is an interpolation that selects. */
const REFERENCE_CODES: ReadonlyMap<ErrorCode, ErrorCode> = new Map([
  ["value.missing", "interpolation.to_missing"],
  ["key.not_found", "interpolation.not_found"],
]);
