import { ConfigError } from "./errors.ts";
import type { Resolution } from "./interpolation/resolution.ts";
import { tryDereference } from "./interpolation/resolution.ts";
import { keyComponents } from "./key-path.ts";
import { isMissing } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";
import { parsePythonInt } from "./python-number.ts";
import { isContainerType } from "./types/type-of.ts";

export interface SelectPlaceOptions {
  /** Refuse a missing value (`???`) on the way or at the end. Default: false. */
  readonly throwOnMissing?: boolean;
  /** Refuse what cannot be resolved; otherwise it is not found. Default: true. */
  readonly throwOnResolutionFailure?: boolean;
  /** A key that leads through a scalar is not found; otherwise it is refused. Default: false. */
  readonly scalarsAreEmpty?: boolean;
}

/**
 * Follows a key from a place downwards, resolving interpolations on the way and at the end.
 * Undefined when there is no such key. The empty key is the place itself.
 * @throws ConfigError `value.missing`, `value.wrong_type` (a scalar on the way), `key.invalid_type`
 *   (a list index that is no number), `key.not_found` (`[a`) or that of an interpolation
 */
export function selectPlace(
  resolution: Resolution,
  start: Place,
  key: string,
  options: SelectPlaceOptions = {},
): Place | undefined {
  return selectPath(resolution, start, key === "" ? [] : keyComponents(key), options);
}

/**
 * As `selectPlace`, of a key that is taken apart already.
 * @throws ConfigError as `selectPlace`
 */
export function selectPath(
  resolution: Resolution,
  start: Place,
  components: readonly string[],
  options: SelectPlaceOptions = {},
): Place | undefined {
  const strict = options.throwOnResolutionFailure !== false;
  const last = components.length - 1;
  let at: Place = start;
  // Every reference passes here: an iterator with its pairs would be a quarter of what it allocates.
  for (let index = 0; index <= last; index++) {
    const child = step(resolution, at, components[index] ?? "", options);
    if (child === undefined) return undefined;
    const found = strict ? resolution.dereference(child) : tryDereference(resolution, child);
    if (found === undefined || index === last) return found;
    if (!isContainer(found)) {
      if (options.scalarsAreEmpty === true) return undefined;
      throw notContainer(components, index, found);
    }
    if (isNone(found)) return undefined;
    at = found;
  }
  return at;
}

/** A map or list, or a node declared as one that is still null, missing or an interpolation. */
const isContainer = ({ node, result }: Place): boolean =>
  result !== true && (node.kind !== "scalar" || isContainerType(node.type));

const isNone = ({ node }: Place): boolean => node.kind === "scalar";

function step(
  resolution: Resolution,
  at: Place,
  component: string,
  options: SelectPlaceOptions,
): Place | undefined {
  const key = at.node.kind === "list" ? listIndex(at, component, options) : component;
  const child = key === undefined ? undefined : resolution.places.child(at, key);
  if (child !== undefined && options.throwOnMissing === true && isMissing(child.node))
    throw new ConfigError({
      code: "value.missing",
      message: `Missing mandatory value: ${fullKeyOf(child)}`,
      key: fullKeyOf(child),
      origin: child.node.origin,
    });
  return child;
}

function listIndex(at: Place, component: string, options: SelectPlaceOptions): bigint | undefined {
  const index = parsePythonInt(component);
  if (index !== null) return index < 0n ? undefined : index;
  if (options.throwOnResolutionFailure === false) return undefined;
  throw new ConfigError({
    code: "key.invalid_type",
    message: `Index '${component}' (str) is not an int`,
    key: fullKeyOf(at),
    origin: at.node.origin,
  });
}

function notContainer(components: readonly string[], index: number, found: Place): ConfigError {
  const key = components.join(".");
  const parent = components.slice(0, index + 1).join(".");
  return new ConfigError({
    code: "value.wrong_type",
    message: `Error trying to access ${key}: node \`${parent}\` is not a container and thus cannot contain \`${components[index + 1]}\``,
    key: fullKeyOf(found),
    origin: found.node.origin,
  });
}
