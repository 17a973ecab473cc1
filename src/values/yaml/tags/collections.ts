import type { KeyId, MapEntry } from "../../node.ts";
import { TAG } from "../syntax-node.ts";
import { invalid, itemsOf, type TagConstructor } from "./tag-constructor.ts";

export const SEQUENCE: TagConstructor = {
  tag: TAG.sequence,
  construct: (node, construction) =>
    construction.list(node, (items) => {
      for (const item of itemsOf(node, construction)) items.push(construction.construct(item));
    }),
};

export const MAPPING: TagConstructor = {
  tag: TAG.mapping,
  construct: (node, construction) =>
    construction.map(node, (entries) => construction.fillMapping(node, entries)),
};

/** Python makes a set of it, which OmegaConf refuses; its keys are checked all the same. */
export const SET: TagConstructor = {
  tag: "tag:yaml.org,2002:set",
  construct(node, construction) {
    construction.map(node, (entries: Map<KeyId, MapEntry>) =>
      construction.fillMapping(node, entries),
    );
    return construction.foreign(node, "set");
  },
};

/** `!!omap` and `!!pairs`: a list of mappings of one pair, read as a list of `[key, value]`. */
const pairsConstructor = (name: string, what: string): TagConstructor => ({
  tag: `tag:yaml.org,2002:${name}`,
  construct: (node, construction) =>
    construction.list(node, (items) => {
      const context = { context: `while constructing ${what}`, contextStart: node.start };
      if (node.kind !== "sequence")
        throw invalid(node, construction, `expected a sequence, but found ${node.kind}`, context);
      for (const item of node.items) {
        if (item.kind !== "mapping")
          throw invalid(
            item,
            construction,
            `expected a mapping of length 1, but found ${item.kind}`,
            context,
          );
        const [pair] = item.pairs;
        if (pair === undefined || item.pairs.length !== 1)
          throw invalid(
            item,
            construction,
            `expected a single mapping item, but found ${item.pairs.length} items`,
            context,
          );
        const entry = [construction.construct(pair.key), construction.construct(pair.value)];
        items.push({ kind: "list", items: entry, origin: construction.originOf(item) });
      }
    }),
});

export const ORDERED_MAP = pairsConstructor("omap", "an ordered map");
export const PAIRS = pairsConstructor("pairs", "pairs");
