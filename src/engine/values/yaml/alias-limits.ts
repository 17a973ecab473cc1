/** OmegaConf's own limits for the expansion of aliases, which some dialects have. */

import { ConfigError } from "../errors.ts";
import type { SourceText } from "../origin.ts";
import { yamlError } from "./cursor.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import type { ParsedDocument } from "./yaml-parser.ts";

/** Environment variable for the number of nodes that a document may expand to. */
const VARIABLE = "OMEGACONF_MAX_YAML_EXPANDED_NODES";

const DEFAULT_MOST = 10_000;

/** From this size on, a document may expand only to so many times its own nodes. */
const LEAST_FOR_RATIO = 1000;
const MOST_TIMES = 100;

/**
 * @throws ConfigError `yaml.invalid_value` for aliases that contain themselves and for a document that expands to too many nodes,
 *   `value.wrong_type` for an invalid limit
 */
export function checkAliasLimits(
  source: SourceText,
  { hasAliases, root }: ParsedDocument,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const most = mostNodes(env);
  const refuse = (node: SyntaxNode, problem: string): never => {
    const { start, end } = node;
    throw yamlError(source, { code: "yaml.invalid_value", problem, start, end });
  };
  if (hasAliases) {
    const recursive = recursiveNode(root);
    if (recursive !== undefined) refuse(recursive, "YAML recursive aliases are not supported.");
  }
  // Without aliases a document has no more nodes than two per character of its text.
  if (most === Number.POSITIVE_INFINITY || (!hasAliases && 2 * source.text.length < most)) return;
  const sizes = new Map<SyntaxNode, number>();
  const expanded = expandedNodes(root, most, sizes);
  if (expanded > most)
    refuse(
      root,
      `YAML node expansion exceeds the configured limit of ${most}. If that is meant, set ${VARIABLE} to a larger number in the environment, or to none`,
    );
  const nodeCount = sizes.size;
  if (expanded > LEAST_FOR_RATIO && expanded > nodeCount * MOST_TIMES)
    refuse(
      root,
      `YAML aliases expand the document from ${nodeCount} nodes to ${expanded} nodes, exceeding the supported ratio of ${MOST_TIMES}x. If that is meant, set ${VARIABLE}=none in the environment`,
    );
}

function mostNodes(env: Readonly<Record<string, string | undefined>>): number {
  const setting = env[VARIABLE];
  if (setting === undefined) return DEFAULT_MOST;
  const text = setting.trim();
  if (text.toLowerCase() === "none") return Number.POSITIVE_INFINITY;
  const most = /^\+?\d+(?:_\d+)*$/.test(text) ? Number(text.replaceAll("_", "")) : 0;
  if (most > 0) return most;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `Invalid value for ${VARIABLE}: '${text}'. Set it to a positive integer or 'none'.`,
  });
}

function* childrenOf(node: SyntaxNode): Generator<SyntaxNode> {
  if (node.kind === "sequence") yield* node.items;
  else if (node.kind === "mapping")
    for (const { key, value } of node.pairs) {
      yield key;
      yield value;
    }
}

/** The first node that is found again inside itself. */
function recursiveNode(root: SyntaxNode): SyntaxNode | undefined {
  const done = new Set<SyntaxNode>();
  const open = new Set<SyntaxNode>();
  const visit = (node: SyntaxNode): SyntaxNode | undefined => {
    if (node.kind === "scalar" || done.has(node)) return undefined;
    if (open.has(node)) return node;
    open.add(node);
    for (const inner of childrenOf(node)) {
      const found = visit(inner);
      if (found !== undefined) return found;
    }
    open.delete(node);
    done.add(node);
    return undefined;
  };
  return visit(root);
}

/** The number of nodes, those behind aliases at each occurrence; counting stops above the limit. */
function expandedNodes(node: SyntaxNode, most: number, sizes: Map<SyntaxNode, number>): number {
  const cached = sizes.get(node);
  if (cached !== undefined) return cached;
  let total = 1;
  for (const inner of childrenOf(node)) {
    total += expandedNodes(inner, most, sizes);
    if (total > most) break;
  }
  sizes.set(node, total);
  return total;
}
