import type { ConfigNode, ScalarNode } from "../node.ts";
import type { InterpolationAst, StaticReference } from "./ast.ts";
import { hasInterpolation, parseInterpolation } from "./parser.ts";
import { placeSyntaxError } from "./syntax-error.ts";

/** A text with an interpolation. */
export interface InterpolationNode extends ScalarNode {
  readonly value: string;
}

export const isInterpolationNode = (node: ConfigNode): node is InterpolationNode =>
  node.kind === "scalar" && typeof node.value === "string" && hasInterpolation(node.value);

/** Nodes are immutable and shared between trees, so each is parsed at most once. */
const parsed = new WeakMap<ScalarNode, InterpolationAst>();

/**
 * What equal texts of one tree, and equal references in them, were parsed to: they share it. A large
 * tree repeats itself, and how long it takes to resolve depends on how much of it the processor's
 * caches hold.
 */
export interface SharedTexts {
  readonly texts: Map<string, InterpolationAst>;
  readonly references: Map<string, StaticReference>;
}

export const createSharedTexts = (): SharedTexts => ({ texts: new Map(), references: new Map() });

/**
 * The interpolation that a node holds. A syntax error points into the text the node was read from.
 * @throws ConfigError `interpolation.syntax`
 */
export function parseNode(node: InterpolationNode, shared?: SharedTexts): InterpolationAst {
  const known = parsed.get(node);
  if (known !== undefined) return known;
  const ast = shared?.texts.get(node.value) ?? parseText(node, shared);
  shared?.texts.set(node.value, ast);
  parsed.set(node, ast);
  return ast;
}

function parseText(node: InterpolationNode, shared: SharedTexts | undefined): InterpolationAst {
  try {
    return parseInterpolation(node.value, shared?.references);
  } catch (error) {
    throw placeSyntaxError(error, node.value, node.origin);
  }
}
