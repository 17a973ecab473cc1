import type { ConfigNode } from "../../node.ts";
import type { Construction } from "../construct.ts";
import { type Refusal, refusal } from "../refusal.ts";
import { type SyntaxNode, TAG } from "../syntax-node.ts";

/** How the nodes of one tag become values. A table of these is all that the reader knows of tags. */
export interface TagConstructor {
  readonly tag: string;
  construct(node: SyntaxNode, construction: Construction): ConfigNode;
}

/** The text of a scalar node; of a mapping, YAML 1.1 takes what its `=` key holds. */
export function textOf(node: SyntaxNode, construction: Construction): string {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "mapping") {
    const pair = node.pairs.find(({ key }) => key.tag === TAG.value);
    if (pair !== undefined && pair.value !== node) return textOf(pair.value, construction);
  }
  throw invalid(node, construction, `expected a scalar node, but found ${node.kind}`);
}

/** The items of a sequence node. */
export function itemsOf(node: SyntaxNode, construction: Construction): readonly SyntaxNode[] {
  if (node.kind === "sequence") return node.items;
  throw invalid(node, construction, `expected a sequence node, but found ${node.kind}`);
}

export const invalid = (
  node: SyntaxNode,
  { source }: Construction,
  problem: string,
  more: Partial<Refusal> = {},
) =>
  refusal(source, {
    code: "yaml.invalid_value",
    problem,
    start: node.start,
    end: node.end,
    ...more,
  });
