import { type Budget, isLimitError } from "../budget.ts";
import { ConfigError } from "../errors.ts";
import type { ConfigNode } from "../node.ts";
import type { Place } from "../place.ts";
import { fullKeyOf } from "../place.ts";
import type { PlaceIndex } from "../place-index.ts";
import type { KnownSizes } from "../size.ts";
import type { Element } from "./ast.ts";
import type { ResolveContext } from "./context.ts";
import { type InterpolationNode, isInterpolationNode } from "./parse-node.ts";

/**
 * The resolution of one tree, as the parts of the evaluator see it: they call each other through
 * it.
 * @see createResolution
 */
export interface Resolution {
  readonly context: ResolveContext;
  readonly root: Place;
  readonly places: PlaceIndex;
  /** What the resolution has added to the tree so far. */
  readonly budget: Budget;
  /** Sizes of maps and lists that were referred to. */
  readonly sizes: KnownSizes;
  /** The root of another tree. What stands in it is resolved by what stands in it. */
  otherRoot(root: ConfigNode): Place;
  /**
   * A place of this resolution as others may have it: resolving in place writes to places, and what others
   * made of their trees is not to be seen here.
   */
  sharedPlace(place: Place): Place;
  /** What stands for a shared place here: where it is from, or a place that is this resolution's own. */
  ownPlace(shared: Place): Place;
  /**
   * What a place stands for: itself, or where its interpolation leads in the end.
   * @throws ConfigError of an interpolation: every failure on the way is one
   */
  dereference(place: Place): Place;
  /** The value of one element of a resolver's arguments, as if it stood at a place. */
  evaluate(element: Element, at: Place): Place;
  /**
   * Says that the evaluation of a part of the text at a place begins, one within the other.
   * @throws ConfigError `interpolation.cycle` when there are too many
   */
  enter(at: Place): void;
  /** Says that it ended, whether or not it failed. */
  leave(): void;
  /** Says that an impure resolver is called. */
  markImpure(): void;
  /** How often one was called: a result may be kept if none was while it was evaluated. */
  impureCalls(): number;
}

/**
 * As `dereference`, but undefined where that throws, unless the text at the place itself has broken
 * syntax: OmegaConf parses it before it looks away. What is too large is not absent, either.
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
