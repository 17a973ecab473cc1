import type { Draft } from "./draft.ts";
import { draftChild, draftFor, draftRoot } from "./draft.ts";
import { isConfigError } from "./errors.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { createResolution } from "./interpolation/create-resolution.ts";
import type { Resolution } from "./interpolation/resolution.ts";
import { tryDereference } from "./interpolation/resolution.ts";
import type { Key } from "./node.ts";
import { child } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf, pathOf, rootOf } from "./place.ts";

/*
 * What interpolations lead to in trees that are merged or changed, as they are at that moment.
 */

/**
 * What the interpolation at a key leads to; undefined where that fails.
 * @throws ConfigError `interpolation.syntax`
 */
export function tryFollow(parent: Place, key: Key, context: ResolveContext): Place | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  return place === undefined ? undefined : tryDereference(resolution, place);
}

/**
 * What stands at a key, or what its interpolation leads to.
 * @throws ConfigError of the interpolation
 */
export function follow(parent: Place, key: Key, context: ResolveContext): Place | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  return place === undefined ? undefined : dereferenced(resolution, place);
}

/**
 * The map or list that the interpolation at a key leads to, to be changed where it stands. One that a resolver
 * made stands nowhere: what becomes of it is seen by nobody. Undefined where it leads to anything else.
 * @throws ConfigError of the interpolation
 */
export function draftFollowed(parent: Draft, key: Key, context: ResolveContext): Draft | undefined {
  const { resolution, place } = placeAt(parent, key, context);
  if (place === undefined) return undefined;
  const target = dereferenced(resolution, place);
  if (target.node.kind === "scalar" || target.result === true) return undefined;
  return isIn(resolution.root, target)
    ? draftAt(parent, target)
    : draftFor(parent, key, target.node);
}

/** Whether keys lead from a root to a place: what a resolver made to stand somewhere has none there. */
function isIn(root: Place, target: Place): boolean {
  let at = target;
  while (at.parent !== null && at.key !== undefined) at = at.parent;
  return at === root;
}

function dereferenced(resolution: Resolution, place: Place): Place {
  try {
    return resolution.dereference(place);
  } catch (error) {
    throw isConfigError(error) ? error.askedFor(fullKeyOf(place)) : error;
  }
}

interface Following {
  readonly resolution: Resolution;
  readonly place: Place | undefined;
}

function placeAt(parent: Place, key: Key, context: ResolveContext): Following {
  const resolution = createResolution(rootOf(parent).node, context);
  let place: Place | undefined = resolution.root;
  for (const step of [...pathOf(parent), key])
    place = place === undefined ? undefined : resolution.places.child(place, step);
  return { resolution, place };
}

/** The draft that stands at the same keys as a place, in the tree that another draft is a part of. */
export function draftAt(other: Draft, target: Place): Draft | undefined {
  const root = rootOf(other).node;
  if (root.kind === "scalar") return undefined;
  let at = draftRoot(root, other.copies);
  for (const key of pathOf(target)) {
    const node = child(at.node, key);
    if (node === undefined || node.kind === "scalar") return undefined;
    at = draftChild(at, key, node);
  }
  return at;
}
