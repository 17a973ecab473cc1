import { ConfigError } from "../errors.ts";
import type { ConfigNode } from "../node.ts";
import { child } from "../node.ts";
import type { Place } from "../place.ts";
import { parsePythonInt } from "../python-number.ts";
import { isContainerType } from "../types/type-of.ts";
import type { StaticReference } from "./ast.ts";
import type { InterpolationNode } from "./parse-node.ts";
import { isInterpolationNode, parseNode } from "./parse-node.ts";
import { startOf } from "./reference.ts";

/**
 * What an interpolation may lead to, told without evaluating anything: a key that leads to a scalar, or
 * nowhere, is a matter of a few look-ups, whereas an evaluation that fails takes the time of an error.
 */
export type Outlook =
  /** A map or list of no declared type. */
  | "untyped container"
  /** A map or list of a declared type, or something that only an evaluation tells. */
  | "any container"
  /** A scalar or a text, or the evaluation will fail. */
  | "no container";

/** @throws ConfigError `interpolation.syntax` */
export function outlookOf(node: InterpolationNode, at: Place): Outlook {
  const [only, ...others] = parseNode(node).parts;
  if (only === undefined || others.length > 0 || only.kind === "literal") return "no container";
  if (only.kind === "resolver" || only.parts !== undefined) return "any container";
  const target = targetOf(only, at);
  if (target === undefined) return "no container";
  if (target.kind === "scalar")
    return isInterpolationNode(target) || isContainerType(target.type)
      ? "any container"
      : "no container";
  return target.type === undefined ? "untyped container" : "any container";
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
