import { limitError } from "../budget.ts";
import type { Limits } from "../limits.ts";
import type { SourceText } from "../origin.ts";
import { refusal } from "./refusal.ts";
import { type MappingSyntax, type SyntaxNode, type SyntaxPair, TAG } from "./syntax-node.ts";

/**
 * What merging has changed in the graph. PyYAML changes its nodes in place, and what it does to
 * mappings that merge themselves, or that are read after others merged them, follows from that.
 */
export interface MergeState {
  readonly source: SourceText;
  /** The pairs of a mapping as they are now. */
  pairsOf(node: MappingSyntax): readonly SyntaxPair[];
  setPairs(node: MappingSyntax, pairs: readonly SyntaxPair[]): void;
  /** The tag of a node as it is now: a `=` that was seen as a key is a string from then on. */
  tagOf(node: SyntaxNode): string;
  makeString(node: SyntaxNode): void;
}

/** @param limits `values` also for the pairs that all mappings of a document merge */
export function createMergeState(source: SourceText, limits: Limits): MergeState {
  const changed = new Map<MappingSyntax, readonly SyntaxPair[]>();
  const strings = new Set<SyntaxNode>();
  let total = 0;
  return {
    source,
    pairsOf: (node) => (changed.size === 0 ? node.pairs : (changed.get(node) ?? node.pairs)),
    setPairs(node, pairs) {
      total += pairs.length;
      if (total > limits.values) throw tooManyPairs(source, node, limits);
      changed.set(node, pairs);
    },
    tagOf: (node) => (strings.size > 0 && strings.has(node) ? TAG.string : node.tag),
    makeString: (node) => {
      strings.add(node);
    },
  };
}

/**
 * YAML 1.1's merge keys. What `<<` brings stands before the mapping's own pairs, whatever the
 * position of `<<`; of a list of mappings the first wins, so it comes last.
 */
export function flatten(node: MappingSyntax, state: MergeState): readonly SyntaxPair[] {
  const merged: SyntaxPair[] = [];
  let index = 0;
  for (let pair = state.pairsOf(node)[0]; pair !== undefined; pair = state.pairsOf(node)[index]) {
    const tag = state.tagOf(pair.key);
    if (tag === TAG.merge) {
      state.setPairs(node, state.pairsOf(node).toSpliced(index, 1));
      for (const brought of broughtBy(node, pair, state)) merged.push(brought);
    } else {
      if (tag === TAG.value) state.makeString(pair.key);
      index++;
    }
  }
  if (merged.length > 0) state.setPairs(node, [...merged, ...state.pairsOf(node)]);
  return state.pairsOf(node);
}

function broughtBy(
  node: MappingSyntax,
  { value }: SyntaxPair,
  state: MergeState,
): readonly SyntaxPair[] {
  if (value.kind === "mapping") return flatten(value, state);
  if (value.kind === "scalar")
    throw refusal(state.source, {
      code: "yaml.invalid_value",
      context: "while constructing a mapping",
      contextStart: node.start,
      problem: "expected a mapping or list of mappings for merging, but found scalar",
      start: value.start,
      end: value.end,
    });
  const groups = value.items.map((item) => {
    if (item.kind === "mapping") return flatten(item, state);
    throw refusal(state.source, {
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

const tooManyPairs = (source: SourceText, { start, end }: MappingSyntax, { values }: Limits) =>
  limitError("values", values, {
    origin: { kind: "file", source, start, end },
    what: "The merge keys (<<) of a document expand to",
  });
