import type { ScalarNode } from "../node.ts";
import type { InterpolationAst } from "./ast.ts";
import { parseInterpolation } from "./parser.ts";
import type { InterpolationNode } from "./resolution.ts";
import { placeSyntaxError } from "./syntax-error.ts";

/** Nodes are immutable and shared between trees, so each is parsed at most once. */
const parsed = new WeakMap<ScalarNode, InterpolationAst>();

/**
 * The interpolation that a node holds. A syntax error points into the text the node was read from.
 * @throws ConfigError `interpolation.syntax`
 */
export function parseNode(node: InterpolationNode): InterpolationAst {
  const known = parsed.get(node);
  if (known !== undefined) return known;
  try {
    const ast = parseInterpolation(node.value);
    parsed.set(node, ast);
    return ast;
  } catch (error) {
    throw placeSyntaxError(error, node.value, node.origin);
  }
}

/**
 * Whether the text is one interpolation and nothing else: only then can its value be a map or list.
 * @throws ConfigError `interpolation.syntax`
 */
export function isWholeInterpolation(node: InterpolationNode): boolean {
  const { parts } = parseNode(node);
  return parts.length === 1 && parts[0]?.kind !== "literal";
}
