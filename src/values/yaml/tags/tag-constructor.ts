import type { ConfigNode, KeyId, MapEntry } from "../../node.ts";
import type { Construction } from "../construction.ts";
import { type Refusal, refusal } from "../refusal.ts";
import { type SyntaxNode, TAG } from "../syntax-node.ts";

/**
 * How the nodes of one tag become values; a table of these is all that the reader knows of tags.
 * Collections are filled after they were made, as their content may refer to them.
 */
export type TagConstructor = ValueTag | ListTag | MapTag;

export interface ValueTag {
  readonly kind: "value";
  readonly tag: string;
  construct(node: SyntaxNode, construction: Construction): ConfigNode;
}

export interface ListTag {
  readonly kind: "list";
  readonly tag: string;
  fill(node: SyntaxNode, items: ConfigNode[], construction: Construction): void;
}

export interface MapTag {
  readonly kind: "map";
  readonly tag: string;
  fill(node: SyntaxNode, entries: Map<KeyId, MapEntry>, construction: Construction): void;
}

/** The text of a scalar node; of a mapping, YAML 1.1 takes what its `=` key holds. */
export function textOf(node: SyntaxNode, construction: Construction): string {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "mapping") {
    const pair = node.pairs.find(({ key }) => construction.merges.tagOf(key) === TAG.value);
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
