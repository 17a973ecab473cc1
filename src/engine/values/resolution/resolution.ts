/** The state of one resolution, and how references are followed in it. */
import type { Dialect } from "../dialect.ts";
import { ConfigError, type ErrorCode, isConfigError } from "../errors.ts";
import type { Element, StaticReference } from "../interpolation/interpolation-ast.ts";
import { calculationHint } from "../interpolation/interpolation-lexer.ts";
import {
  type InterpolationNode,
  isInterpolationNode,
  parseElement,
  parseNode,
} from "../interpolation/interpolation-parser.ts";
import { keyComponents, mapKey, nearestKey, obstacle, type ReferenceKey } from "../key-path.ts";
import { type Budget, isLimitError, type SizeCache } from "../limits.ts";
import {
  type ConfigNode,
  child,
  getAt,
  holdsContainer,
  isContainerType,
  isMissing,
  type ListNode,
} from "../node.ts";
import { fullKeyOf, isWithin, type Place, type PlaceIndex, pathOf, rootOf } from "../place.ts";
import { parsePythonInt, pyStr } from "../python-text.ts";
import type { ResolveContext } from "./context.ts";

/**
 * The resolution of one tree, through which the parts of the evaluator call each other.
 * @see createResolution
 */
export interface Resolution {
  readonly context: ResolveContext;
  readonly root: Place;
  readonly places: PlaceIndex;
  /** What the resolution has added to the tree so far. */
  readonly budget: Budget;
  /** Sizes of maps and lists that were referred to. */
  readonly sizes: SizeCache;
  /** The root place of another tree, whose interpolations are resolved within that tree. */
  otherRoot(root: ConfigNode): Place;
  /**
   * A place of this resolution for use by others: resolving in place writes to places, so others get a detached copy.
   */
  sharedPlace(place: Place): Place;
  /** The counterpart of a shared place: the place it was copied from, or a detached place of this resolution. */
  ownPlace(shared: Place): Place;
  /**
   * The target of a place: the place itself, or where its interpolation finally leads.
   * @throws ConfigError of the interpolation: a failure on the way is one of the interpolation
   */
  dereference(place: Place): Place;
  /** The value of one element of a resolver's arguments, as if it were written at a place. */
  evaluate(element: Element, place: Place): Place;
  /**
   * Begins the evaluation of a part of the text at a place; calls are nested.
   * @throws ConfigError `interpolation.cycle` if they are nested too deep
   */
  enter(place: Place): void;
  /** Ends it, whether or not it failed. */
  leave(): void;
  /** Records a call of an impure resolver. */
  markImpure(): void;
  /** The number of such calls: a result may be cached if it did not change during its evaluation. */
  impureCalls(): number;
}

/**
 * As `dereference`, but undefined where that throws. Only broken syntax of the text at the place itself, which
 * OmegaConf parses outside its own error handling, and exceeded limits are still errors.
 * @throws ConfigError `interpolation.syntax`, `limit.values`, `limit.characters`
 */
export function tryDereference(resolution: Resolution, place: Place): Place | undefined {
  try {
    return resolution.dereference(place);
  } catch (error) {
    if (isLimitError(error)) throw error;
    if (error instanceof ConfigError && error.code !== "interpolation.syntax") return undefined;
    throw error;
  }
}

export const isInterpolation = (
  place: Place,
): place is Place & { readonly node: InterpolationNode } =>
  place.result !== true && isInterpolationNode(place.node);

export const cycleError = (place: Place, message: string): ConfigError =>
  new ConfigError({
    code: "interpolation.cycle",
    message,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });

/**
 * The resolved target of `${key}` at a place.
 * @throws ConfigError `interpolation.not_found`, `interpolation.to_missing`, `interpolation.cycle`, or as `selectPlace`
 */
export function followReference(resolution: Resolution, key: ReferenceKey, place: Place): Place {
  const target = selectTarget(resolution, key, place);
  if (target === undefined) throw keyNotFound(resolution, key, place);
  if (isWithin(place.parent, target))
    throw cycleError(place, "Interpolation to parent node detected");
  return target;
}

/** `${HOME}`: a variable of the environment, as a shell has it. */
const variableHint = ({ levels, rest }: ReferenceKey): string | undefined =>
  levels === 0 && /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(rest) && rest.length > 2
    ? `for an environment variable, write \${oc.env:${rest}}`
    : undefined;

const keyNotFound = (resolution: Resolution, key: ReferenceKey, place: Place): ConfigError =>
  new ConfigError(
    {
      code: "interpolation.not_found",
      message: `Interpolation key ${notFound(resolution, key, place)}`,
      key: fullKeyOf(place),
      origin: place.node.origin,
    },
    () => {
      const {
        hint = referenceHint(key, place) ?? resolverHint(key, resolution, place),
        ...beside
      } = keysBeside(key, place);
      return { ...beside, hint };
    },
  );

/** What is in the way of a reference: an index that a list does not have, or a calculation. */
function referenceHint(key: ReferenceKey, place: Place): string | undefined {
  let { node } = startOf(key, place);
  for (const [index, part] of key.components.entries()) {
    if (node.kind === "list" && /^-?\d+$/.test(part) && child(node, BigInt(part)) === undefined)
      return obstacle(node, key.components.slice(0, index).join("."), part);
    const next = child(node, node.kind === "list" && /^\d+$/.test(part) ? BigInt(part) : part);
    if (next === undefined) break;
    node = next;
  }
  return groupHint(key, place) ?? calculatedHint(key, place) ?? variableHint(key);
}

/** A resolver with a dot in place of its colon: `${hydra.job.name}`, `${oc.env.HOME}`; and a variable, as a shell has it. */
function resolverHint(
  { levels, rest }: ReferenceKey,
  resolution: Resolution,
  place: Place,
): string | undefined {
  const { context, root } = resolution;
  // A key of the config with the name of a resolver is meant itself.
  if (levels > 0 || nodeAt(root.node, /^[^.[]*/.exec(rest)?.[0] ?? "") !== undefined)
    return undefined;
  const name = [...context.resolvers.keys()].find((resolverName) =>
    rest.startsWith(`${resolverName}.`),
  );
  if (name !== undefined) {
    const argument = rest.slice(name.length + 1);
    const meant =
      name === "hydra"
        ? settingBeside(argument, resolution, place)
        : name === "oc.env" && context.env[argument] === undefined
          ? `${argument},null`
          : argument;
    return `a colon follows the name of a resolver: write \${${name}:${meant}}`;
  }
  return /^[A-Z_][A-Z\d_]*$/.test(rest) && context.env[rest] !== undefined
    ? `an environment variable is read by a resolver: write \${oc.env:${rest}}`
    : undefined;
}

/** A key of the `hydra` node, or the likely one. */
function settingBeside(key: string, resolution: Resolution, place: Place): string {
  try {
    const { node } = resolution.evaluate(
      parseElement("${hydra:''}", resolution.context.dialect),
      place,
    );
    return nearestKey(node, keyComponents(key), WIDEST).nearest ?? key;
  } catch (error) {
    if (isConfigError(error)) return key;
    throw error;
  }
}

/** A config group with its option, as in a path of files, where the config has the group's package: `${db/mysql.port}`. */
function groupHint({ levels, rest }: ReferenceKey, place: Place): string | undefined {
  const [group = "", below = "", ...more] = rest.split(/(?<=[\w-])\/(?=\w)/);
  if (below === "" || levels > 0) return undefined;
  const root = startOf({ levels: 0, rest: "", components: [] }, place).node;
  const [, ...keys] = [below, ...more].at(-1)?.split(".") ?? [];
  const path = [group, ...[below, ...more].slice(0, -1)].join(".");
  const meant = [path, ...keys].join(".");
  return nodeAt(root, meant) === undefined
    ? undefined
    : `an interpolation has the package of a config group, and not the option: write \${${meant}}`;
}

const OPERATORS = /(\s*[-+*/%()]+\s*|\s+)/;

/** The reference as a calculation, if it has operators between keys that are there. */
function calculatedHint(key: ReferenceKey, place: Place): string | undefined {
  const parts = key.rest.split(OPERATORS);
  const start = startOf(key, place).node;
  const isKey = (part: string) => /^[A-Za-z_]/.test(part) && nodeAt(start, part) !== undefined;
  if (parts.length < 3 || !parts.some(isKey)) return undefined;
  const dots = ".".repeat(key.levels);
  const written = parts.map((part) => (isKey(part) ? `\${${dots}${part}}` : part.trim())).join("");
  return calculationHint(written);
}

const nodeAt = (root: ConfigNode, key: string): ConfigNode | undefined =>
  key.split(".").reduce<ConfigNode | undefined>((node, part) => node && child(node, part), root);

/** The message for the key, as the dialect words it. */
function notFound({ context }: Resolution, key: ReferenceKey, place: Place): string {
  const { levels, rest } = key;
  if (levels === 0 || !context.dialect.showsRelativeKeys) return `'${rest}' not found`;
  const full = fullKeyOf(startOf(key, place), rest);
  return `'${".".repeat(levels)}${rest}' not found (resolved to '${full}')`;
}

const WIDEST = 200;

/** The keys that the reference could have meant, in its own notation. */
function keysBeside(
  key: ReferenceKey,
  place: Place,
): { readonly available?: readonly string[]; readonly nearest?: string; readonly hint?: string } {
  const { available, hint, nearest } = nearestKey(startOf(key, place).node, key.components, WIDEST);
  if (available.length === 0) return hint === undefined ? {} : { hint };
  const written = (name: string) => `${".".repeat(key.levels)}${name}`;
  return {
    available: available.map(written),
    ...(nearest !== undefined && { nearest: written(nearest) }),
  };
}

/** The start of a lookup: the root, or as many levels up as the key has leading dots. */
export function startOf({ components, levels, rest }: ReferenceKey, place: Place): Place {
  if (levels === 0) return rootOf(place);
  let start: Place | null = place;
  for (let level = 0; level < levels && start !== null; level++) start = start.parent;
  if (start === null)
    throw new ConfigError({
      code: "key.not_found",
      message: `Error resolving key '${".".repeat(levels)}${rest}': there are fewer levels above`,
      key: fullKeyOf(place),
      origin: place.node.origin,
      ...(getAt(rootOf(place).node, components) !== undefined &&
        components.length > 0 && { hint: `write \${${rest}}, which counts from the root` }),
    });
  return start;
}

const selectTarget = (resolution: Resolution, key: ReferenceKey, place: Place): Place | undefined =>
  asReference(place, () =>
    selectPath(resolution, startOf(key, place), key.components, REFERENCE, key.rest),
  );

/** Looks up the target of a reference; errors become those of an interpolation. */
function asReference(place: Place, find: () => Place | undefined): Place | undefined {
  try {
    return find();
  } catch (error) {
    const code = isConfigError(error) ? REFERENCE_CODES.get(error.code) : undefined;
    if (!isConfigError(error) || code === undefined) throw error;
    throw new ConfigError({
      code,
      message: `Error while resolving interpolation '${pyStr(place.node)}': ${error.message}`,
      key: fullKeyOf(place),
      origin: place.node.origin,
      hint: error.details.hint,
      cause: error,
    });
  }
}

const REFERENCE = { throwOnMissing: true } as const;

/** The codes that errors of a selection get when an interpolation selects. */
const REFERENCE_CODES: ReadonlyMap<ErrorCode, ErrorCode> = new Map([
  ["value.missing", "interpolation.to_missing"],
  ["key.not_found", "interpolation.not_found"],
  ["key.invalid_type", "value.wrong_type"],
]);

/**
 * The kind of target of an interpolation, determined without an evaluation. Following keys to a scalar, or to nothing,
 * takes a few lookups, whereas a failing evaluation costs an error.
 */
export type StaticKind =
  /** A map or list of no declared type. */
  | "untyped container"
  /** A map or list of a declared type, or a target that only an evaluation can determine. */
  | "any container"
  /** A scalar or a string, or an interpolation that will fail. */
  | "no container";

/** @throws ConfigError `interpolation.syntax` */
export function staticKind(node: InterpolationNode, place: Place, dialect: Dialect): StaticKind {
  const [only, ...others] = parseNode(node, dialect).parts;
  if (only === undefined || others.length > 0 || only.kind === "literal") return "no container";
  if (only.kind === "resolver" || only.parts !== undefined) return "any container";
  const target = targetOf(only, place, dialect);
  if (target === undefined) return "no container";
  if (target.kind === "scalar")
    return isInterpolationNode(target) || isContainerType(target.type)
      ? "any container"
      : "no container";
  return target.type === undefined ? "untyped container" : "any container";
}

/** The node at the key, or the first interpolation on the way. */
function targetOf(
  reference: StaticReference,
  place: Place,
  dialect: Dialect,
): ConfigNode | undefined {
  let node: ConfigNode | undefined = startNode(reference, place);
  for (const component of reference.components) {
    if (node === undefined || node.kind === "scalar") return node;
    node =
      node.kind === "map"
        ? child(node, mapKey(node, component, dialect))
        : itemOf(node, component, dialect);
  }
  return node;
}

function startNode(reference: StaticReference, place: Place): ConfigNode | undefined {
  try {
    return startOf(reference, place).node;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function itemOf(node: ListNode, component: string, dialect: Dialect): ConfigNode | undefined {
  const index = parsePythonInt(component);
  return index === null ? undefined : child(node, fromEnd(node, index, dialect));
}

/** The index from the start; a negative one counts from the end where the dialect allows it. */
export const fromEnd = (node: ListNode, index: bigint, { indicesFromEnd }: Dialect): bigint =>
  index < 0n && indicesFromEnd ? index + BigInt(node.items.length) : index;

/**
 * The target of the reference at a place, found by keys alone, without calling resolvers. Undefined for a text that is
 * more than a reference, and where the path leads through such a text.
 * @throws ConfigError as `followReference`
 */
export function referredPlace(
  resolution: Resolution,
  place: Place,
  open: ReadonlySet<Place> = new Set(),
): Place | undefined {
  if (!isInterpolation(place)) return place;
  if (open.has(place)) throw cycleError(place, "Recursive interpolation detected");
  const [only, ...others] = parseNode(place.node, resolution.context.dialect).parts;
  if (only === undefined || others.length > 0 || only.kind !== "reference") return undefined;
  if (only.parts !== undefined) return resolution.dereference(place);
  const inside = new Set(open).add(place);
  const target = asReference(place, () => {
    let current = startOf(only, place);
    for (const [index, component] of only.components.entries()) {
      const child = step(resolution, current, component, REFERENCE);
      if (child === undefined) throw keyNotFound(resolution, only, place);
      const found = referredPlace(resolution, child, inside);
      if (found === undefined) return undefined;
      if (index < only.components.length - 1 && !isContainer(found))
        throw notContainer(only.components, index, found, only.rest);
      current = found;
    }
    return current;
  });
  if (target !== undefined && isWithin(place.parent, target))
    throw cycleError(place, "Interpolation to parent node detected");
  return target;
}

export interface SelectPlaceOptions {
  /** Refuse a missing value (`???`) on the path or at its end. Default: false. */
  readonly throwOnMissing?: boolean;
  /** Refuse an interpolation that cannot be resolved; otherwise the key counts as not found. Default: true. */
  readonly throwOnResolutionFailure?: boolean;
  /** A key that leads through a scalar counts as not found; otherwise it is refused. Default: false. */
  readonly scalarsAreEmpty?: boolean;
}

/**
 * Follows a key downwards from a place, resolving interpolations on the path and at its end. Undefined if there is no
 * such key. The empty key selects the place itself.
 * @throws ConfigError `value.missing`, `value.wrong_type` (a scalar on the path), `key.invalid_type` (a list index that
 *   is no number), `key.not_found` (`[a`) or that of an interpolation
 */
export function selectPlace(
  resolution: Resolution,
  start: Place,
  key: string,
  options: SelectPlaceOptions = {},
): Place | undefined {
  const components = key === "" ? [] : keyComponents(key, resolution.context.dialect);
  return selectPath(resolution, start, components, options, key);
}

/**
 * As `selectPlace`, for a key that is already split.
 * @param written the key as an error shows it; by default its parts with dots between them
 * @throws ConfigError as `selectPlace`
 */
export function selectPath(
  resolution: Resolution,
  start: Place,
  components: readonly string[],
  options: SelectPlaceOptions = {},
  written?: string,
): Place | undefined {
  const strict = options.throwOnResolutionFailure !== false;
  const last = components.length - 1;
  let current: Place = start;
  // A hot loop: an iterator over entries would account for a quarter of all allocations.
  for (let index = 0; index <= last; index++) {
    const child = step(resolution, current, components[index] ?? "", options);
    if (child === undefined) return undefined;
    const found = strict ? resolution.dereference(child) : tryDereference(resolution, child);
    if (found === undefined || index === last) return found;
    if (!isContainer(found)) {
      if (options.scalarsAreEmpty === true) return undefined;
      throw notContainer(components, index, found, written);
    }
    if (isNone(found)) return undefined;
    current = found;
  }
  return current;
}

/** A map or list, or a node declared as one that is still null, missing or an interpolation. */
const isContainer = ({ node, result }: Place): boolean => result !== true && holdsContainer(node);

const isNone = ({ node }: Place): boolean => node.kind === "scalar";

function step(
  resolution: Resolution,
  place: Place,
  component: string,
  options: SelectPlaceOptions,
): Place | undefined {
  const { node } = place;
  const { dialect } = resolution.context;
  const key =
    node.kind === "list"
      ? listIndex(place, node, component, { ...options, dialect })
      : node.kind === "map"
        ? mapKey(node, component, dialect)
        : component;
  const child = key === undefined ? undefined : resolution.places.child(place, key);
  if (child !== undefined && options.throwOnMissing === true && isMissing(child.node))
    throw missingValue(child, resolution.context);
  return child;
}

/** The error of a place that is read, but has no value yet. The caller throws it. */
export const missingValue = (place: Place, context: ResolveContext): ConfigError =>
  new ConfigError({
    code: "value.missing",
    message: `Missing mandatory value: ${fullKeyOf(place)}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
    hint: setterHint(pathOf(place).map(String), context),
  });

/** What would set a key that has no value, where that is known. */
export function setterHint(
  path: readonly string[],
  { settersOf }: Pick<ResolveContext, "settersOf">,
): string | undefined {
  const setters = settersOf?.(path) ?? [];
  return setters.length === 0 ? undefined : `it is set by ${setters.join(" or ")}`;
}

function listIndex(
  place: Place,
  node: ListNode,
  component: string,
  options: SelectPlaceOptions & { readonly dialect: Dialect },
): bigint | undefined {
  const signedIndex = parsePythonInt(component);
  const index = signedIndex === null ? null : fromEnd(node, signedIndex, options.dialect);
  if (index !== null) return index < 0n ? undefined : index;
  if (options.throwOnResolutionFailure === false) return undefined;
  throw new ConfigError({
    code: "key.invalid_type",
    message: `Index '${component}' (str) is not an int`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
}

function notContainer(
  components: readonly string[],
  index: number,
  found: Place,
  written = components.join("."),
): ConfigError {
  const parent = components.slice(0, index + 1).join(".");
  return new ConfigError({
    code: "value.wrong_type",
    message: `Error trying to access ${written}: node \`${parent}\` is not a container and thus cannot contain \`${components[index + 1]}\``,
    key: fullKeyOf(found),
    origin: found.node.origin,
  });
}
