import { buildAs, buildForeign, originOf } from "../construction.ts";
import { fillMapping } from "../fill-mapping.ts";
import { type SyntaxNode, TAG } from "../syntax-node.ts";
import { invalid, itemsOf, type ListTag, type MapTag, type ValueTag } from "./tag-constructor.ts";

export const SEQUENCE: ListTag = {
  kind: "list",
  tag: TAG.sequence,
  fill(node, items, construction) {
    for (const item of itemsOf(node, construction)) items.push(construction.build(item));
  },
};

export const MAPPING: MapTag = {
  kind: "map",
  tag: TAG.mapping,
  fill: fillMapping,
};

/** Python makes a set of it, which OmegaConf refuses; its keys are checked all the same. */
export const SET: ValueTag = {
  kind: "value",
  tag: "tag:yaml.org,2002:set",
  construct(node, construction) {
    buildAs(MAPPING, node, construction);
    return buildForeign(node, "set", construction);
  },
};

/** `!!omap` and `!!pairs`: a list of mappings of one pair, read as a list of `[key, value]`. */
const pairsTag = (name: string, what: string): ListTag => ({
  kind: "list",
  tag: `tag:yaml.org,2002:${name}`,
  fill(node, items, construction) {
    const context = { context: `while constructing ${what}`, contextStart: node.start };
    if (node.kind !== "sequence")
      throw invalid(node, construction, `expected a sequence, but found ${node.kind}`, context);
    for (const item of node.items) {
      const problem = pairProblem(item);
      if (problem !== null) throw invalid(item, construction, problem, context);
      if (item.kind !== "mapping") continue;
      const entry = item.pairs.flatMap(({ key, value }) => [
        construction.build(key),
        construction.build(value),
      ]);
      items.push({ kind: "list", items: entry, origin: originOf(item, construction) });
    }
  },
});

function pairProblem(item: SyntaxNode): string | null {
  if (item.kind !== "mapping") return `expected a mapping of length 1, but found ${item.kind}`;
  const { length } = item.pairs;
  return length === 1 ? null : `expected a single mapping item, but found ${length} items`;
}

export const ORDERED_MAP = pairsTag("omap", "an ordered map");
export const PAIRS = pairsTag("pairs", "pairs");
