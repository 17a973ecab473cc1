/** Overrides that delete: `~key` and `~key=value`. */
import type { Override } from "../overrides/ast.ts";
import type { Dialect } from "../values/dialect.ts";
import { type Copies, draftAt, draftRoot } from "../values/edit/draft.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { mapKey, nearestKey, splitKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  isMissing,
  isMissingOrNull,
  isObject,
  keyId,
  type MapNode,
  type ScalarValue,
} from "../values/node.ts";
import type { Place } from "../values/place.ts";
import { pyStr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate-interpolation.ts";
import { type Resolution, selectPath, selectPlace } from "../values/resolution/resolution.ts";
import { resolveDeep } from "../values/resolution/resolve-tree.ts";
import { overrideValue } from "./open-tree.ts";
import type { SecretPath } from "./secrets.ts";

/** State shared by applying the overrides of a composition. */
export interface Applying {
  readonly context: ResolveContext;
  /** Ensures that a map is copied by the first override in it only, however many there are. */
  readonly copies: Copies;
  /** The configs with the other options of swept groups, for hints. */
  readonly swept: () => readonly ConfigNode[];
  /** The values of the config that are not to be shown in hints. */
  readonly secretPaths: () => readonly SecretPath[];
  /** An override as it was typed, for hints: for a job of a sweep, that of the sweep. */
  readonly typed: (override: Override) => Override;
  /** What would choose options that have a key, for hints. */
  readonly optionsWith: (path: readonly string[]) => readonly string[];
  /** The option of every group, by override key, for hints. */
  readonly choices: ReadonlyMap<string, string | null>;
}

/**
 * `~key` and `~key=value`: deletes a key from the config, with `=value` only if it has that value. A key whose value is
 * null or `???` counts as absent.
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
  checkValue(found.node, () => resolveDeep(resolution, found), override, context.dialect);

  const { name, parent } = holderOf(resolution, key);
  if (parent?.node.kind !== "map") throw notInMap(override);
  // Hydra turns struct mode off for the root only, not for the nodes below it.
  if (isObject(parent.node) && parent !== resolution.root) throw declared(override, parent.node);
  if (root.kind === "scalar" || !standsInTree(parent)) return root;
  const start = draftRoot(root, copies);
  const holder = draftAt(start, parent)?.node;
  if (holder?.kind === "map") holder.entries.delete(keyId(name));
  return start.node;
}

/**
 * `~key` and `~key=value` of Hydra 1.4: deletes a key of a mapping or an item of a list, whatever its value is. With
 * `=value` only if the values are equal, where `???` matches a missing value.
 *
 * @throws ConfigError `compose.override_failed`
 */
export function deleteAny(
  root: ConfigNode,
  override: Override,
  { context, copies }: Applying,
): ConfigNode {
  const key = override.keyOrGroup;
  const resolution = createResolution(root, context);
  const { name, parent } = holderOf(resolution, key);
  const found = selectPlace(resolution, resolution.root, key, { scalarsAreEmpty: true });
  if (found === undefined || parent === undefined || parent.node.kind === "scalar")
    throw noSuchKey(root, override);
  const expected = overrideValue(override, context.dialect);
  const isSame =
    expected === null ||
    (isMissing(found.node)
      ? isMissing(expected)
      : sameShape(expected, found.node) &&
        equalsResolved(expected, () => resolveDeep(resolution, found)));
  if (expected !== null && !isSame) throw otherValue(found.node, expected, override);
  if (isObject(parent.node)) throw declared(override, parent.node);
  if (root.kind === "scalar" || !standsInTree(parent)) return root;
  const holder = draftRoot(root, copies);
  const draft = draftAt(holder, parent)?.node;
  if (draft?.kind === "map") draft.entries.delete(keyId(mapKey(draft, name, context.dialect)));
  else if (draft?.kind === "list") draft.items.splice(Number(name), 1);
  return holder.node;
}

/** The last part of a key, and the parent from which it is deleted: interpolations on the path are followed. */
function holderOf(
  resolution: Resolution,
  key: string,
): { readonly name: string; readonly parent: Place | undefined } {
  const components = splitKey(key, resolution.context.dialect);
  const parent = selectPath(resolution, resolution.root, components.slice(0, -1));
  return { name: components.at(-1) ?? "", parent };
}

/** A mapping made by a resolver is new for each lookup, and not a part of the tree. */
export function standsInTree(place: Place): boolean {
  for (let current = place; current.parent !== null; current = current.parent)
    if (current.key === undefined) return false;
  return true;
}

function checkValue(
  found: ConfigNode,
  resolve: () => ConfigNode,
  override: Override,
  dialect: Dialect,
): void {
  const expected = overrideValue(override, dialect);
  if (expected === null) return;
  if (expected.kind === "scalar" && expected.value === null) return;
  if (sameShape(expected, found) && equalsResolved(expected, resolve)) return;
  throw otherValue(found, expected, override);
}

function otherValue(
  found: ConfigNode,
  expected: ConfigNode,
  { keyOrGroup: key, origin }: Override,
): ConfigError {
  return new ConfigError({
    code: "compose.override_failed",
    message: `Could not delete from config. The value of '${key}' is ${pyStr(found)} and not ${pyStr(expected)}.`,
    origin,
    key,
    hint: `to delete it whatever its value, use ~${key}`,
  });
}

/** A value that cannot be resolved does not equal the expected one. */
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
  const { available, hint, nearest } = nearestKey(root, key);
  return new ConfigError({
    code: "compose.override_failed",
    message: `Could not delete from config. '${key}' does not exist.`,
    origin,
    key,
    available,
    ...(hint !== undefined && { hint }),
    ...(nearest !== undefined && { nearest, hint: `use ~${nearest}` }),
  });
}

/** The fields of a structured config belong to its type; they can be changed but not deleted. */
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

/**
 * Python's `==` of an override's value and a config value: `1 == 1.0 == True`, and the order of keys does not matter.
 * The values of overrides contain no bytes and no paths.
 */
function pythonEqual(left: ConfigNode, right: ConfigNode): boolean {
  if (left.kind === "scalar" && right.kind === "scalar")
    return isMissing(left) === isMissing(right) && scalarEqual(left.value, right.value);
  if (left.kind === "list" && right.kind === "list")
    return (
      left.items.length === right.items.length &&
      left.items.every((item, index) => {
        const other = right.items[index];
        return other !== undefined && pythonEqual(item, other);
      })
    );
  if (left.kind === "map" && right.kind === "map")
    return (
      left.entries.size === right.entries.size &&
      [...left.entries].every(([id, { value }]) => {
        const other = right.entries.get(id)?.value;
        return other !== undefined && pythonEqual(value, other);
      })
    );
  return false;
}

function scalarEqual(left: ScalarValue, right: ScalarValue): boolean {
  if (isNumeric(left) && isNumeric(right)) return keyId(left) === keyId(right);
  return left === right;
}

const isNumeric = (value: ScalarValue): value is boolean | bigint | number =>
  typeof value === "boolean" || typeof value === "bigint" || typeof value === "number";
