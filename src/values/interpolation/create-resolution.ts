import type { ConfigNode } from "../node.ts";
import type { Place } from "../place.ts";
import { createPlaceIndex, rootPlace } from "../place.ts";
import { convertResult } from "../types/convert-result.ts";
import type { ResolveContext } from "./context.ts";
import { evaluateElement, evaluateText } from "./evaluate.ts";
import { parseNode } from "./parse-node.ts";
import type { Resolution } from "./resolution.ts";
import { cycleError, isInterpolation } from "./resolution.ts";

/** References that wait for each other beyond this are refused; Python gives up far earlier. */
const MAX_PENDING = 300;

/**
 * Starts the resolution of a tree. Results are kept as long as it lives, but only where no impure
 * resolver had a part in them: a tree of n references costs n evaluations, and yet every reference
 * to an impure value evaluates it anew.
 */
export function createResolution(root: ConfigNode, context: ResolveContext): Resolution {
  const results = new Map<Place, Place>();
  const pending = new Set<Place>();
  let impureCalls = 0;

  const resolution: Resolution = {
    context,
    root: rootPlace(root),
    places: createPlaceIndex(),
    dereference(place) {
      if (!isInterpolation(place)) return place;
      const known = results.get(place);
      if (known !== undefined) return known;
      if (pending.has(place)) throw cycleError(place, "Recursive interpolation detected");
      if (pending.size >= MAX_PENDING)
        throw cycleError(place, `More than ${MAX_PENDING} interpolations wait for each other`);
      pending.add(place);
      try {
        const { value, pure } = resolution.observe(() =>
          convertResult(place, evaluateText(resolution, parseNode(place.node), place)),
        );
        if (pure) results.set(place, value);
        return value;
      } finally {
        pending.delete(place);
      }
    },
    evaluate: (element, at) => evaluateElement(resolution, element, at),
    markImpure() {
      impureCalls++;
    },
    observe(run) {
      const before = impureCalls;
      const value = run();
      return { value, pure: impureCalls === before };
    },
  };
  return resolution;
}
