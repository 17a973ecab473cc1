/** Evaluates interpolations: references, calls of resolvers, and text around them. */
import type { Dialect } from "../dialect.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import type {
  DictElement,
  Element,
  Interpolation,
  InterpolationAst,
  NestedReference,
  ResolverUse,
  Sequence,
  TextPart,
} from "../interpolation/interpolation-ast.ts";
import { createSharedTexts, parseNode } from "../interpolation/interpolation-parser.ts";
import { type ReferenceKey, referenceKey } from "../key-path.ts";
import { checkSize, createBudget, isLimitError, sizeOf, spendCharacters } from "../limits.ts";
import {
  type ConfigNode,
  isPathValue,
  type Key,
  list,
  map,
  type ScalarValue,
  scalar,
} from "../node.ts";
import {
  createPlaceIndex,
  detachedPlace,
  fullKeyOf,
  PENDING,
  type Place,
  resultPlace,
  rootPlace,
} from "../place.ts";
import { pyStr, pyTypeName } from "../python-text.ts";
import { convertResult } from "../types/convert.ts";
import { callResolver } from "./call-resolver.ts";
import type { ResolveContext } from "./context.ts";
import { cycleError, followReference, isInterpolation, type Resolution } from "./resolution.ts";

/**
 * The limit for nested evaluation of interpolations, lists and dicts, reached long before the stack is exhausted.
 * Python fails below 100.
 */
const MAX_DEPTH = 500;

/**
 * Starts the resolution of a tree. Results are cached as long as it lives, but only if no impure resolver was called
 * for them: a tree of n references costs n evaluations, and yet every reference to an impure value evaluates it again.
 */
export function createResolution(root: ConfigNode, context: ResolveContext): Resolution {
  const shared = createSharedTexts();
  let impureCalls = 0;
  let depth = 0;
  const others = new Map<ConfigNode, Place>();
  const placeOfShared = new Map<Place, Place>();

  const resolution: Resolution = {
    context,
    root: rootPlace(root),
    places: createPlaceIndex(),
    budget: createBudget(context.limits),
    sizes: new Map(),
    otherRoot(other) {
      const place = others.get(other) ?? rootPlace(other);
      others.set(other, place);
      return place;
    },
    sharedPlace(place) {
      const shared = detachedPlace(place);
      placeOfShared.set(shared, place);
      return shared;
    },
    ownPlace(shared) {
      const place = placeOfShared.get(shared) ?? detachedPlace(shared);
      placeOfShared.set(shared, place);
      return place;
    },
    dereference(place) {
      if (!isInterpolation(place)) return place;
      const outcome = place.outcome;
      if (outcome === PENDING) throw cycleError(place, "Recursive interpolation detected");
      if (outcome !== undefined) return outcome;
      place.outcome = PENDING;
      let kept: Place | undefined;
      try {
        const callsBefore = impureCalls;
        const ast = parseNode(place.node, context.dialect, shared);
        const result = convertResult(
          place,
          evaluateText(resolution, ast, place),
          context.dialect,
          context.declared,
        );
        if (impureCalls === callsBefore) kept = result;
        return result;
      } finally {
        place.outcome = kept;
      }
    },
    evaluate: (element, place) => evaluateElement(resolution, element, place),
    enter(place) {
      if (depth >= MAX_DEPTH)
        throw cycleError(place, `Interpolations are nested more than ${MAX_DEPTH} levels deep`);
      depth++;
    },
    leave() {
      depth--;
    },
    markImpure() {
      impureCalls++;
    },
    impureCalls: () => impureCalls,
  };
  return resolution;
}

/**
 * The value of a text at a place. A single interpolation keeps its type (and, for a map or list, its place); any other
 * text gives a string.
 */
function evaluateText(resolution: Resolution, ast: InterpolationAst, place: Place): Place {
  const [first] = ast.parts;
  if (ast.parts.length === 1 && first !== undefined && first.kind !== "literal")
    return evaluateInterpolation(resolution, first, place);
  return resultPlace(
    textAt(place, concatenate(resolution, ast.parts, place, writtenAt(place))),
    place,
  );
}

/** The length of the source text at a place. */
const writtenAt = ({ node }: Place): number =>
  node.kind === "scalar" && typeof node.value === "string" ? node.value.length : 0;

/** The string that a text evaluates to, as the node that replaces it. */
const textAt = ({ node }: Place, value: string): ConfigNode => ({
  kind: "scalar",
  value,
  origin: node.origin,
  replaced: node,
});

/** The value of one element of a resolver's arguments. */
function evaluateElement(resolution: Resolution, element: Element, place: Place): Place {
  switch (element.kind) {
    case "primitive":
      return valueAt(place, element.value);
    case "text":
      return valueAt(place, concatenate(resolution, element.parts, place, 0));
    case "list": {
      const items = evaluateSequence(resolution, element.items, place).map((item) => item.node);
      return made(resolution, list(items, place.node.origin), place);
    }
    case "dict":
      return evaluateDict(resolution, element, place);
    default:
      return evaluateInterpolation(resolution, element, place);
  }
}

function evaluateDict(resolution: Resolution, element: DictElement, place: Place): Place {
  resolution.enter(place);
  const entries: (readonly [Key, ConfigNode])[] = [];
  try {
    for (const [key, value] of element.entries)
      entries.push([keyOf(key.value), evaluateElement(resolution, value, place).node]);
  } finally {
    resolution.leave();
  }
  return made(resolution, map(entries, place.node.origin), place);
}

/** A list or dict among the arguments, in which the same map can occur many times. */
function made(resolution: Resolution, node: ConfigNode, place: Place): Place {
  checkSize(resolution.budget, sizeOf(node, resolution.sizes), place);
  return resultPlace(node, place);
}

function evaluateInterpolation(
  resolution: Resolution,
  interpolation: Interpolation,
  place: Place,
): Place {
  resolution.enter(place);
  try {
    return interpolation.kind === "reference"
      ? followReference(
          resolution,
          interpolation.parts === undefined
            ? interpolation
            : keyOfParts(resolution, interpolation, place),
          place,
        )
      : evaluateResolver(resolution, interpolation, place);
  } catch (error) {
    throw asInterpolationError(error, interpolation, place);
  } finally {
    resolution.leave();
  }
}

function evaluateResolver(resolution: Resolution, use: ResolverUse, place: Place): Place {
  const name = use.name.map((part) => nameComponent(resolution, part, place)).join(".");
  const args = evaluateSequence(resolution, use.args, place);
  const sources = use.args.args.map((argument) => argument.source);
  return callResolver(resolution, { name, args, sources, place });
}

function evaluateSequence(
  resolution: Resolution,
  sequence: Sequence,
  place: Place,
): readonly Place[] {
  const firstMissing =
    sequence.incomplete === undefined
      ? -1
      : sequence.args.findIndex((argument) => argument.source === "");
  resolution.enter(place);
  try {
    return sequence.args.map((argument, index) => {
      // Not before the elements in front of it, one of which may fail.
      if (index === firstMissing)
        resolution.context.warn(
          `In the sequence \`${sequence.incomplete}\` some elements are missing: please replace them with empty quoted strings. See ${resolution.context.dialect.omegaconfIssues}/572 for details.`,
        );
      return evaluateElement(resolution, argument.value, place);
    });
  } finally {
    resolution.leave();
  }
}

function keyOfParts(
  resolution: Resolution,
  { parts }: NestedReference,
  place: Place,
): ReferenceKey {
  let key = "";
  for (const part of parts) {
    if (typeof part === "string") key += part;
    else {
      const { node } = evaluateInterpolation(resolution, part, place);
      const text = nestedKey(node, resolution.context.dialect);
      if (text === undefined)
        throw notText(
          node,
          place,
          "is used to denote a config key and thus should return a string",
        );
      key += text;
      spendCharacters(resolution.budget, text.length, place);
    }
  }
  return referenceKey(key, resolution.context.dialect);
}

/** The text of a value within a key; undefined for a value that cannot be part of one. */
function nestedKey(node: ConfigNode, { findsIntegerKeys }: Dialect): string | undefined {
  if (node.kind !== "scalar") return undefined;
  if (findsIntegerKeys && typeof node.value === "bigint") return String(node.value);
  return typeof node.value === "string" ? node.value : undefined;
}

function nameComponent(resolution: Resolution, part: string | Interpolation, place: Place): string {
  if (typeof part === "string") return part;
  const { node } = evaluateInterpolation(resolution, part, place);
  if (node.kind === "scalar" && typeof node.value === "string") return node.value;
  throw notText(node, place, "is used as the name of a resolver, which must be a string");
}

function notText(node: ConfigNode, place: Place, why: string): ConfigError {
  return new ConfigError({
    code: "value.wrong_type",
    message: `An interpolation in '${pyStr(place.node)}' ${why}, but it returned '${pyStr(node)}' of type ${pyTypeName(node)}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
  });
}

/** @param written length of the text that the result replaces: only the excess counts as added */
function concatenate(
  resolution: Resolution,
  parts: readonly TextPart[],
  place: Place,
  written: number,
): string {
  let text = "";
  let counted = written;
  for (const part of parts) {
    text +=
      part.kind === "literal"
        ? part.text
        : textOf(resolution, evaluateInterpolation(resolution, part, place).node, place);
    if (text.length > counted) {
      spendCharacters(resolution.budget, text.length - counted, place);
      counted = text.length;
    }
  }
  return text;
}

/** The text of a value within a string. That of a map is as long as everything in it, so its size is checked first. */
function textOf({ budget, sizes }: Resolution, node: ConfigNode, place: Place): string {
  if (node.kind !== "scalar") checkSize(budget, sizeOf(node, sizes), place);
  return pyStr(node);
}

const valueAt = (place: Place, value: ScalarValue): Place =>
  resultPlace(scalar(value, place.node.origin), place);

const keyOf = (value: ScalarValue): Key => (isPathValue(value) ? value.path : value);

const INTERPOLATION_CODES: ReadonlySet<string> = new Set([
  "interpolation.not_found",
  "interpolation.cycle",
  "interpolation.to_missing",
  "resolver.unknown",
  "resolver.failed",
  "value.wrong_type",
]);

/**
 * Any error inside an interpolation is an error of that interpolation. Its key is that of the node that holds the
 * interpolation, since that is what the user has to correct.
 */
function asInterpolationError(error: unknown, interpolation: Interpolation, place: Place): unknown {
  if (!isConfigError(error)) return error;
  if (INTERPOLATION_CODES.has(error.code) || isLimitError(error)) return error;
  return new ConfigError({
    ...error.details,
    code: interpolation.kind === "resolver" ? "resolver.failed" : "value.wrong_type",
    message: `Error while resolving '${pyStr(place.node)}': ${error.message}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
    cause: error,
  });
}
