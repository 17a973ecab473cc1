import { createBudget } from "../budget.ts";
import type { ConfigNode } from "../node.ts";
import type { Place } from "../place.ts";
import { detachedPlace, PENDING, rootPlace } from "../place.ts";
import { createPlaceIndex } from "../place-index.ts";
import { convertResult } from "../types/convert-result.ts";
import type { ResolveContext } from "./context.ts";
import { evaluateElement, evaluateText } from "./evaluate.ts";
import { createSharedTexts, parseNode } from "./parse-node.ts";
import type { Resolution } from "./resolution.ts";
import { cycleError, isInterpolation } from "./resolution.ts";

/**
 * Interpolations, lists and dicts that wait for each other beyond this are refused, long before the
 * stack is exhausted. Python gives up below 100.
 */
const MAX_DEPTH = 500;

/**
 * Starts the resolution of a tree. Results are kept as long as it lives, but only where no impure
 * resolver had a part in them: a tree of n references costs n evaluations, and yet every reference
 * to an impure value evaluates it anew.
 */
export function createResolution(root: ConfigNode, context: ResolveContext): Resolution {
  const shared = createSharedTexts();
  let impureCalls = 0;
  let depth = 0;
  const others = new Map<ConfigNode, Place>();
  const own = new Map<Place, Place>();

  const resolution: Resolution = {
    context,
    root: rootPlace(root),
    places: createPlaceIndex(),
    budget: createBudget(context.limits),
    sizes: new Map(),
    otherRoot(other) {
      const known = others.get(other) ?? rootPlace(other);
      others.set(other, known);
      return known;
    },
    sharedPlace(place) {
      const shared = detachedPlace(place);
      own.set(shared, place);
      return shared;
    },
    ownPlace(shared) {
      const known = own.get(shared) ?? detachedPlace(shared);
      own.set(shared, known);
      return known;
    },
    dereference(place) {
      if (!isInterpolation(place)) return place;
      const known = place.outcome;
      if (known === PENDING) throw cycleError(place, "Recursive interpolation detected");
      if (known !== undefined) return known;
      place.outcome = PENDING;
      let kept: Place | undefined;
      try {
        const before = impureCalls;
        const ast = parseNode(place.node, shared);
        const result = convertResult(place, evaluateText(resolution, ast, place), context.declared);
        if (impureCalls === before) kept = result;
        return result;
      } finally {
        place.outcome = kept;
      }
    },
    evaluate: (element, at) => evaluateElement(resolution, element, at),
    enter(at) {
      if (depth >= MAX_DEPTH)
        throw cycleError(at, `Interpolations are nested more than ${MAX_DEPTH} levels deep`);
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
