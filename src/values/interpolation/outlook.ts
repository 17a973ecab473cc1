import { ConfigError } from "../errors.ts";
import type { ConfigNode } from "../node.ts";
import { child } from "../node.ts";
import type { Place } from "../place.ts";
import { parsePythonInt } from "../python-number.ts";
import type { StaticReference } from "./ast.ts";
import { parseNode } from "./parse-node.ts";
import { startOf } from "./reference.ts";
import type { InterpolationNode } from "./resolution.ts";
import { isInterpolationNode } from "./resolution.ts";

/**
 * Whether an interpolation may lead to a map or list of a declared type, told without evaluating
 * anything: a key that leads to something else, or nowhere, is a matter of a few look-ups, whereas an
 * evaluation that fails takes the time of an error.
 * @throws ConfigError `interpolation.syntax`
 */
export function mayLeadToTyped(node: InterpolationNode, at: Place): boolean {
  const [only, ...others] = parseNode(node).parts;
  if (only === undefined || others.length > 0 || only.kind === "literal") return false;
  if (only.kind === "resolver" || only.parts !== undefined) return true;
  const target = targetOf(only, at);
  if (target === undefined) return false;
  return target.kind === "scalar" ? isInterpolationNode(target) : target.type !== undefined;
}

/** What stands at the key, or the interpolation on the way there that would have to be followed. */
function targetOf(reference: StaticReference, at: Place): ConfigNode | undefined {
  let node: ConfigNode | undefined = startNode(reference, at);
  for (const component of reference.components) {
    if (node === undefined || node.kind === "scalar") return node;
    node = node.kind === "map" ? child(node, component) : itemOf(node, component);
  }
  return node;
}

function startNode(reference: StaticReference, at: Place): ConfigNode | undefined {
  try {
    return startOf(reference, at).node;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function itemOf(node: ConfigNode, component: string): ConfigNode | undefined {
  const index = parsePythonInt(component);
  return index === null ? undefined : child(node, index);
}
