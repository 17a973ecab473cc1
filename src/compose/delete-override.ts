import type { Override } from "../overrides/ast.ts";
import { type Copies, draftRoot } from "../values/draft.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { draftAt } from "../values/follow-draft.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { createResolution } from "../values/interpolation/create-resolution.ts";
import { resolveDeep } from "../values/interpolation/resolve-tree.ts";
import { nearestKey } from "../values/nearest-key.ts";
import type { ConfigNode, MapNode } from "../values/node.ts";
import { isMissingOrNull, keyId } from "../values/node.ts";
import type { Place } from "../values/place.ts";
import { pyStr } from "../values/python-text.ts";
import { selectPlace } from "../values/select-place.ts";
import { isObject } from "../values/types/type-of.ts";
import { overrideValue } from "./override-value.ts";
import { pythonEqual } from "./python-equal.ts";

export interface Applying {
  readonly context: ResolveContext;
  /** A map is copied by the first override in it alone, however many there are. */
  readonly copies: Copies;
}

/**
 * `~key` and `~key=value`: takes a key out of the config, with `=value` only if it has that value.
 * A key whose value is null or `???` does not count as there.
 *
 * @throws ConfigError `compose.override_failed`
 */
export function deleteFromConfig(
  root: ConfigNode,
  override: Override,
  { context, copies }: Applying,
): ConfigNode {
  const key = override.keyOrGroup;
  const resolution = createResolution(root, context);
  const found = selectPlace(resolution, resolution.root, key, { scalarsAreEmpty: true });
  if (found === undefined || isMissingOrNull(found.node)) throw noSuchKey(root, override);
  checkValue(found.node, () => resolveDeep(resolution, found), override);

  const lastDot = key.lastIndexOf(".");
  const name = key.slice(lastDot + 1);
  // The parent is where interpolations on the way lead: there the key is taken out.
  const parent =
    lastDot === -1
      ? resolution.root
      : selectPlace(resolution, resolution.root, key.slice(0, lastDot));
  if (parent?.node.kind !== "map") throw notInMap(override);
  if (isObject(parent.node)) throw declared(override, parent.node);
  if (root.kind === "scalar" || !standsInTree(parent)) return root;
  const start = draftRoot(root, copies);
  const holder = draftAt(start, parent)?.node;
  if (holder?.kind === "map") holder.entries.delete(keyId(name));
  return start.node;
}

/** A mapping that a resolver made is a fresh one at every look: nothing of the tree is in it. */
function standsInTree(place: Place): boolean {
  for (let at = place; at.parent !== null; at = at.parent) if (at.key === undefined) return false;
  return true;
}

function checkValue(found: ConfigNode, resolve: () => ConfigNode, override: Override): void {
  const { keyOrGroup: key, origin } = override;
  const expected = overrideValue(override);
  if (expected === null) return;
  if (expected.kind === "scalar" && expected.value === null) return;
  if (sameShape(expected, found) && equalsResolved(expected, resolve)) return;
  throw new ConfigError({
    code: "compose.override_failed",
    message: `Could not delete from config. The value of '${key}' is ${pyStr(found)} and not ${pyStr(expected)}.`,
    origin,
    key,
    hint: `to delete it whatever its value, use ~${key}`,
  });
}

/** What cannot be resolved has no value, and so not the expected one either. */
function equalsResolved(expected: ConfigNode, resolve: () => ConfigNode): boolean {
  try {
    return pythonEqual(expected, resolve());
  } catch (error) {
    if (isConfigError(error)) return false;
    throw error;
  }
}

function sameShape(left: ConfigNode, right: ConfigNode): boolean {
  if (left.kind === "map" && right.kind === "map") return left.entries.size === right.entries.size;
  if (left.kind === "list" && right.kind === "list")
    return left.items.length === right.items.length;
  return left.kind === right.kind;
}

function noSuchKey(root: ConfigNode, { keyOrGroup: key, origin }: Override): ConfigError {
  const { available, nearest } = nearestKey(root, key);
  return new ConfigError({
    code: "compose.override_failed",
    message: `Could not delete from config. '${key}' does not exist.`,
    origin,
    key,
    available,
    ...(nearest !== undefined && { nearest, hint: `use ~${nearest}` }),
  });
}

/** The fields of a structured config belong to its type; they can be changed but not taken out. */
const declared = ({ keyOrGroup: key, origin }: Override, { type }: MapNode): ConfigError =>
  new ConfigError({
    code: "compose.override_failed",
    message: `Error merging override ${origin.text}\n${type?.kind === "object" ? `${type.name} (DictConfig)` : "Its parent"} does not support deletion`,
    origin,
    key,
    hint: `assign another value: ${key}=VALUE`,
  });

const notInMap = ({ keyOrGroup: key, origin }: Override): ConfigError =>
  new ConfigError({
    code: "compose.override_failed",
    message: `Could not delete from config. '${key}' is not a key of a mapping.`,
    origin,
    key,
    hint: "a list item cannot be deleted: assign the list without it",
  });
