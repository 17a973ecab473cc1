import type { SourceText } from "../origin.ts";
import { refusal } from "./refusal.ts";
import { type MappingSyntax, type SyntaxPair, TAG } from "./syntax-node.ts";

/**
 * Merged pairs of all mappings of a document; more can only come from aliases of aliases that are
 * meant to exhaust the memory.
 */
const MAX_MERGED_PAIRS = 1_000_000;

/** The mappings whose `<<` keys were already replaced by what they stand for. */
export interface MergedPairs {
  readonly source: SourceText;
  get(node: MappingSyntax): readonly SyntaxPair[] | undefined;
  set(node: MappingSyntax, pairs: readonly SyntaxPair[]): void;
}

export function mergedPairs(source: SourceText): MergedPairs {
  const done = new Map<MappingSyntax, readonly SyntaxPair[]>();
  let total = 0;
  return {
    source,
    get: (node) => done.get(node),
    set(node, pairs) {
      total += pairs.length;
      if (total > MAX_MERGED_PAIRS)
        throw refusal(source, {
          code: "yaml.alias_limit",
          problem: `merge keys expand to more than ${MAX_MERGED_PAIRS} pairs`,
          start: node.start,
        });
      done.set(node, pairs);
    },
  };
}

/**
 * YAML 1.1's merge keys. What `<<` brings stands before the mapping's own pairs, whatever the
 * position of `<<`; of a list of mappings the first wins, so it comes last. The result is kept, as
 * another mapping may merge this one.
 */
export function flatten(node: MappingSyntax, merges: MergedPairs): readonly SyntaxPair[] {
  const pairs = merges.get(node) ?? node.pairs;
  const own: SyntaxPair[] = [];
  const merged: SyntaxPair[] = [];
  // A mapping that merges itself sees the pairs that were read up to there, not its `<<`.
  const withoutMergeKeys = pairs.filter(({ key }) => key.tag !== TAG.merge);
  if (withoutMergeKeys.length < pairs.length) merges.set(node, withoutMergeKeys);
  for (const pair of pairs) {
    if (pair.key.tag === TAG.merge) merged.push(...broughtBy(node, pair, merges));
    else if (pair.key.tag === TAG.value)
      own.push({ ...pair, key: { ...pair.key, tag: TAG.string } });
    else own.push(pair);
  }
  const result = merged.length > 0 ? [...merged, ...own] : own;
  merges.set(node, result);
  return result;
}

function broughtBy(
  node: MappingSyntax,
  { value }: SyntaxPair,
  merges: MergedPairs,
): readonly SyntaxPair[] {
  if (value.kind === "mapping") return flatten(value, merges);
  if (value.kind === "scalar")
    throw refusal(merges.source, {
      code: "yaml.invalid_value",
      context: "while constructing a mapping",
      contextStart: node.start,
      problem: "expected a mapping or list of mappings for merging, but found scalar",
      start: value.start,
      end: value.end,
    });
  const groups = value.items.map((item) => {
    if (item.kind === "mapping") return flatten(item, merges);
    throw refusal(merges.source, {
      code: "yaml.invalid_value",
      context: "while constructing a mapping",
      contextStart: node.start,
      problem: `expected a mapping for merging, but found ${item.kind}`,
      start: item.start,
      end: item.end,
    });
  });
  return groups.reverse().flat();
}
