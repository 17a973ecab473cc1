/** Makes values of YAML nodes by their tags, as PyYAML's constructors do. */
import type { Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import { type Limits, limitError } from "../limits.ts";
import {
  type ConfigNode,
  isPathValue,
  type Key,
  type KeyId,
  keyId,
  type MapEntry,
  type ScalarValue,
  valueAsWritten,
  writtenScalar,
} from "../node.ts";
import { type FileOrigin, lineColumn, type Origin, type SourceText } from "../origin.ts";
import { type YamlErrorDetails, yamlError } from "./cursor.ts";
import { type MappingSyntax, type SyntaxNode, type SyntaxPair, TAG } from "./syntax-node.ts";

/** The state of the construction of one document, which the functions of this folder pass on. */
export interface Construction {
  readonly source: SourceText;
  readonly merges: MergeState;
  readonly dialect: Dialect;
  /** The node made for each syntax node, shared by its aliases; null for a document without aliases. */
  readonly built: Map<SyntaxNode, ConfigNode> | null;
  /** Placeholders of values of Python-only types: the type's name. */
  readonly foreign: Map<ConfigNode, string>;
  /** Collections in the order of their creation; filling one appends those inside it. */
  readonly pending: Pending[];
  /** Whether the document has anything that OmegaConf could refuse. */
  suspicious: boolean;
  /** Where keys that are null stand, for the error about them. */
  readonly nullKeys: FileOrigin[];
  /** Makes a value of a syntax node, as its tag demands. */
  build(node: SyntaxNode): ConfigNode;
}

/** A collection that is created and not filled yet. */
type Pending =
  | {
      readonly kind: "list";
      readonly tag: ListTag;
      readonly node: SyntaxNode;
      readonly target: ConfigNode[];
    }
  | {
      readonly kind: "map";
      readonly tag: MapTag;
      readonly node: SyntaxNode;
      readonly target: Map<KeyId, MapEntry>;
    };

/** Makes a value of a node by a given tag, which may differ from the node's own. */
export function buildAs(
  tag: TagConstructor,
  node: SyntaxNode,
  construction: Construction,
): ConfigNode {
  if (tag.kind === "value") return tag.construct(node, construction);
  const origin = originOf(node, construction);
  if (tag.kind === "list") {
    const items: ConfigNode[] = [];
    construction.pending.push({ kind: "list", tag, node, target: items });
    return { kind: "list", items, origin };
  }
  const entries = new Map<KeyId, MapEntry>();
  construction.pending.push({ kind: "map", tag, node, target: entries });
  return { kind: "map", entries, origin };
}

export function buildScalar(
  node: SyntaxNode,
  value: ScalarValue,
  construction: Construction,
): ConfigNode {
  if (typeof value === "string" && value.includes("${")) construction.suspicious = true;
  return writtenScalar(value, originOf(node, construction), construction.dialect);
}

/** The placeholder of a value of a Python-only type. */
export function buildForeign(
  node: SyntaxNode,
  typeName: string,
  construction: Construction,
): ConfigNode {
  const placeholder = buildScalar(node, null, construction);
  construction.foreign.set(placeholder, typeName);
  construction.suspicious = true;
  return placeholder;
}

export const originOf = ({ start, end }: SyntaxNode, { source }: Construction): FileOrigin => ({
  kind: "file",
  source,
  start,
  end,
});

/**
 * How nodes of one tag become values; the reader knows tags only by a table of these. Collections are filled after
 * their creation, because their content may refer to them.
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

/** The text of a scalar node; for a mapping, YAML 1.1 takes the value of its `=` key. */
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
  more: Partial<YamlErrorDetails> = {},
) =>
  yamlError(source, {
    code: "yaml.invalid_value",
    problem,
    start: node.start,
    end: node.end,
    ...more,
  });

/** Up to this number, comparing all keys with each other costs less than building a set. */
const FEW_PAIRS = 8;

/** Builds the entries of a mapping; of equal keys (`1` and `1.0`) the first key and the last value are kept. */
export function fillMapping(
  node: SyntaxNode,
  entries: Map<KeyId, MapEntry>,
  construction: Construction,
): void {
  if (node.kind !== "mapping")
    throw invalid(node, construction, `expected a mapping node, but found ${node.kind}`);
  for (const pair of pairsOf(node, construction)) {
    const key = buildKey(node, pair, construction);
    const id = keyId(key);
    const value = construction.build(pair.value);
    entries.set(id, { key: entries.get(id)?.key ?? key, value });
  }
}

/** The pairs of a mapping after duplicate string keys are refused, with the pairs of `<<` in front. */
function pairsOf(node: MappingSyntax, construction: Construction): readonly SyntaxPair[] {
  const { merges } = construction;
  const pairs = merges.pairsOf(node);
  let hasMergeKeys = false;
  const seen = pairs.length > FEW_PAIRS ? new Set<string>() : null;
  for (const [index, { key }] of pairs.entries()) {
    const tag = merges.tagOf(key);
    if (tag === TAG.merge || tag === TAG.value) hasMergeKeys = true;
    if (key.kind !== "scalar" || tag !== TAG.string) continue;
    const repeated =
      seen === null
        ? standsBefore(pairs, index, key.value, merges)
        : seen.size === seen.add(key.value).size;
    if (repeated)
      throw invalid(key, construction, `found duplicate key ${key.value}`, {
        ...within(node),
        code: "yaml.duplicate_key",
        ...firstHint(pairs, key.value, construction),
      });
  }
  return hasMergeKeys ? flatten(node, merges) : pairs;
}

/** Whether an earlier pair has the same string key. */
function standsBefore(
  pairs: readonly SyntaxPair[],
  index: number,
  name: string,
  merges: MergeState,
): boolean {
  for (let earlier = 0; earlier < index; earlier++) {
    const key = pairs[earlier]?.key;
    if (key !== undefined && isStringKey(key, name, merges)) return true;
  }
  return false;
}

const isStringKey = (key: SyntaxNode, name: string, merges: MergeState): boolean =>
  key.kind === "scalar" && key.value === name && merges.tagOf(key) === TAG.string;

/** Where a key that is there twice stands first. */
function firstHint(
  pairs: readonly SyntaxPair[],
  name: string,
  { merges, source }: Construction,
): { readonly hint?: string } {
  const first = pairs.find(({ key }) => isStringKey(key, name, merges))?.key;
  if (first === undefined) return {};
  const { line } = lineColumn({ kind: "file", source, start: first.start, end: first.end });
  return { hint: `the first '${name}' is at line ${line}: keep one of them` };
}

/** For `{{ x }}`, which is a template elsewhere, and a map with a map as its key here. */
function templateHint({ start, end }: MappingSyntax, { source }: Construction): { hint?: string } {
  const written = source.text.slice(start, end);
  const [, name] = /^\{\{\s*([\w.]+)\s*\}\}$/.exec(written) ?? [];
  return name === undefined
    ? {}
    : { hint: `a text needs quotes: '${written}'; an interpolation is written \${${name}}` };
}

function buildKey(node: MappingSyntax, { key }: SyntaxPair, construction: Construction): Key {
  const built = construction.build(key);
  const typeName = construction.foreign.get(built);
  if (built.kind !== "scalar" || typeName === "set")
    throw invalid(key, construction, "found unhashable key", {
      ...within(node),
      ...templateHint(node, construction),
    });
  const value = valueAsWritten(built);
  if (typeName !== undefined || isPathValue(value))
    throw invalidKeyType(typeName ?? "PosixPath", built.origin);
  if (value === null) {
    construction.suspicious = true;
    construction.nullKeys.push(originOf(key, construction));
  }
  if (typeof value === "bigint" && construction.dialect.findsIntegerKeys)
    construction.suspicious = true;
  return value;
}

const within = ({ start }: MappingSyntax) => ({
  context: "while constructing a mapping",
  contextStart: start,
});

/** OmegaConf's error for keys that are not str, int, float, bool or bytes. */
export const invalidKeyType = (typeName: string, origin: Origin): ConfigError =>
  new ConfigError({
    code: "key.invalid_type",
    message: `Incompatible key type '${typeName}'`,
    origin,
    key: "",
    hint: "quote the key to make it a string",
  });

/**
 * Changes that merge keys made to the graph. PyYAML changes its nodes in place; its behaviour for mappings that merge
 * themselves, or that are read after others merged them, depends on that.
 */
export interface MergeState {
  readonly source: SourceText;
  readonly dialect: Dialect;
  /** The current pairs of a mapping. */
  pairsOf(node: MappingSyntax): readonly SyntaxPair[];
  setPairs(node: MappingSyntax, pairs: readonly SyntaxPair[]): void;
  /** The current tag of a node: a `=` that was read as a key is a string afterwards. */
  tagOf(node: SyntaxNode): string;
  makeString(node: SyntaxNode): void;
}

/** @param limits `values` also limits the pairs that all mappings of a document merge */
export function createMergeState(source: SourceText, limits: Limits, dialect: Dialect): MergeState {
  const changed = new Map<MappingSyntax, readonly SyntaxPair[]>();
  const strings = new Set<SyntaxNode>();
  let total = 0;
  return {
    source,
    dialect,
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
 * YAML 1.1's merge keys. Merged pairs precede the mapping's own pairs, whatever the position of `<<`; in a list of
 * mappings the first has priority, so it comes last.
 */
function flatten(node: MappingSyntax, state: MergeState): readonly SyntaxPair[] {
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
  if (merged.length > 0)
    state.setPairs(node, [...withoutOwn(merged, node, state), ...state.pairsOf(node)]);
  return state.pairsOf(node);
}

/**
 * The merged pairs; without those that the mapping defines itself, where the dialect keeps the position of its own
 * keys.
 */
function withoutOwn(
  merged: readonly SyntaxPair[],
  node: MappingSyntax,
  state: MergeState,
): readonly SyntaxPair[] {
  if (!state.dialect.ownKeysStay) return merged;
  const textOf = ({ key }: SyntaxPair): string | undefined =>
    key.kind === "scalar" && state.tagOf(key) === TAG.string ? key.value : undefined;
  const writtenKeys = new Set(state.pairsOf(node).map(textOf));
  return merged.filter((pair) => {
    const text = textOf(pair);
    return text === undefined || !writtenKeys.has(text);
  });
}

function broughtBy(
  node: MappingSyntax,
  { value }: SyntaxPair,
  state: MergeState,
): readonly SyntaxPair[] {
  if (value.kind === "mapping") return flatten(value, state);
  if (value.kind === "scalar")
    throw yamlError(state.source, {
      code: "yaml.invalid_value",
      context: "while constructing a mapping",
      contextStart: node.start,
      problem: "expected a mapping or list of mappings for merging, but found scalar",
      start: value.start,
      end: value.end,
    });
  const groups = value.items.map((item) => {
    if (item.kind === "mapping") return flatten(item, state);
    throw yamlError(state.source, {
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
