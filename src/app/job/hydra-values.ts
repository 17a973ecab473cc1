/** Reads values of the `hydra` node. */
import { toPlain } from "../../engine/compose/index.ts";
import { isInterpolationNode } from "../../engine/values/interpolation/interpolation-parser.ts";
import { splitKey } from "../../engine/values/key-path.ts";
import { type ConfigNode, getAt, isMissing, type MapNode } from "../../engine/values/node.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import { asDeclared, type ResolveContext } from "../../engine/values/resolution/context.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";

/** Whether a node is its own value: nothing has to be resolved. */
const isPlain = (node: ConfigNode | undefined): boolean =>
  node?.kind === "scalar" && !isMissing(node) && !isInterpolationNode(node);

/** A value as text; undefined for null and for a missing value. */
export function textAt(root: MapNode, key: string, context: ResolveContext): string | undefined {
  const written = getAt(root, splitKey(key));
  const node = isPlain(written) ? written : selectNode(root, key, asDeclared(context));
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  return pyStr(node);
}

/** A value as plain data, resolved; undefined where there is none. */
export function plainAt(root: MapNode, key: string, context: ResolveContext): unknown {
  const node = selectNode(root, key, asDeclared(context), { deep: true });
  return node === undefined ? undefined : toPlain(node);
}

/**
 * As `plainAt`, for values that Hydra requires.
 * @throws ConfigError `value.missing` for `???`
 */
export function requiredAt(root: MapNode, key: string, context: ResolveContext): unknown {
  const node = requiredNode(root, key, context);
  return node === undefined ? undefined : toPlain(node);
}

/**
 * As `requiredAt`, but returns the tree.
 * @throws ConfigError `value.missing` for `???`
 */
export const requiredNode = (
  root: MapNode,
  key: string,
  context: ResolveContext,
): ConfigNode | undefined =>
  selectNode(root, key, asDeclared(context), { deep: true, throwOnMissing: true });

/** The items of a list as texts; empty if there is no list. */
export function textsAt(root: MapNode, key: string, context: ResolveContext): readonly string[] {
  const written = getAt(root, splitKey(key));
  const isWritten = written?.kind === "list" && written.items.every(isPlain);
  const node = isWritten ? written : selectNode(root, key, asDeclared(context));
  return node?.kind === "list" ? node.items.map((item) => pyStr(item)) : [];
}
