import { ConfigError } from "../errors.ts";
import {
  type ConfigNode,
  isPathValue,
  type Key,
  type KeyId,
  keyId,
  type MapEntry,
  type ScalarValue,
} from "../node.ts";
import type { FileOrigin, Origin, SourceText } from "../origin.ts";
import { createMergeState, flatten, type MergeState } from "./merge-keys.ts";
import { refusal } from "./refusal.ts";
import { type MappingSyntax, type SyntaxNode, type SyntaxPair, TAG } from "./syntax-node.ts";
import { TAG_CONSTRUCTORS } from "./tags/index.ts";
import type { ListTag, MapTag, TagConstructor } from "./tags/tag-constructor.ts";

/** What a document says before OmegaConf's own rules are applied to it. */
export interface Constructed {
  readonly root: ConfigNode;
  /** Values of Python types that OmegaConf does not know, by their placeholder: the type's name. */
  readonly foreign: ReadonlyMap<ConfigNode, string>;
  /** Whether there is anything that OmegaConf could refuse; most files never need the check. */
  readonly suspicious: boolean;
}

/** What a tag's constructor may use. */
export interface Construction {
  readonly source: SourceText;
  construct(node: SyntaxNode): ConfigNode;
  scalar(node: SyntaxNode, value: ScalarValue): ConfigNode;
  /** As `construct`, with another tag than the node's own. */
  constructAs(tag: TagConstructor, node: SyntaxNode): ConfigNode;
  fillMapping(node: SyntaxNode, entries: Map<KeyId, MapEntry>): void;
  /** A value of a type that only Python has. */
  foreign(node: SyntaxNode, typeName: string): ConfigNode;
  originOf(node: SyntaxNode): FileOrigin;
  tagOf(node: SyntaxNode): string;
}

/** Up to here comparing keys with each other costs less than making a set of them. */
const FEW_PAIRS = 8;

/** A collection that was made and is not filled yet. */
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

/**
 * Turns a graph of syntax nodes into a config tree, level by level as PyYAML does: of two errors the
 * one nearer to the root is reported. Aliased nodes are built once and shared.
 */
export function construct(source: SourceText, root: SyntaxNode, hasAliases: boolean): Constructed {
  const built = hasAliases ? new Map<SyntaxNode, ConfigNode>() : null;
  const foreignTypes = new Map<ConfigNode, string>();
  const merges = createMergeState(source);
  const pending: Pending[] = [];
  let suspicious = false;

  const originOf = (node: SyntaxNode): FileOrigin => ({
    kind: "file",
    source,
    start: node.start,
    end: node.end,
  });

  function build(node: SyntaxNode): ConfigNode {
    const known = built?.get(node);
    if (known !== undefined) return known;
    const result = buildNew(node);
    built?.set(node, result);
    return result;
  }

  function buildNew(node: SyntaxNode): ConfigNode {
    const name = merges.tagOf(node);
    if (node.kind === "scalar" && name === TAG.string) return scalar(node, node.value);
    const tag = TAG_CONSTRUCTORS.get(name);
    if (tag !== undefined) return constructAs(tag, node);
    throw refusal(source, {
      code: "yaml.unsupported_tag",
      problem: `could not determine a constructor for the tag '${node.tag}'`,
      start: node.start,
      end: node.end,
      ...(node.tag === TAG.value || node.tag === TAG.merge
        ? { hint: "quote this text to make it a string" }
        : {}),
    });
  }

  function scalar(node: SyntaxNode, value: ScalarValue): ConfigNode {
    if (typeof value === "string" && value.includes("${")) suspicious = true;
    return { kind: "scalar", value, origin: originOf(node) };
  }

  function constructAs(tag: TagConstructor, node: SyntaxNode): ConfigNode {
    if (tag.kind === "value") return tag.construct(node, construction);
    const origin = originOf(node);
    if (tag.kind === "list") {
      const items: ConfigNode[] = [];
      pending.push({ kind: "list", tag, node, target: items });
      return { kind: "list", items, origin };
    }
    const entries = new Map<KeyId, MapEntry>();
    pending.push({ kind: "map", tag, node, target: entries });
    return { kind: "map", entries, origin };
  }

  function foreign(node: SyntaxNode, typeName: string): ConfigNode {
    const placeholder = scalar(node, null);
    foreignTypes.set(placeholder, typeName);
    suspicious = true;
    return placeholder;
  }

  function fillMapping(node: SyntaxNode, entries: Map<KeyId, MapEntry>): void {
    if (node.kind !== "mapping")
      throw refusal(source, {
        code: "yaml.invalid_value",
        problem: `expected a mapping node, but found ${node.kind}`,
        start: node.start,
        end: node.end,
      });
    for (const pair of pairsOf(node)) {
      const key = keyOf(node, pair);
      const id = keyId(key);
      const value = build(pair.value);
      entries.set(id, { key: entries.get(id)?.key ?? key, value });
    }
  }

  /** The pairs of a mapping: no string key twice, and what `<<` brings in front. */
  function pairsOf(node: MappingSyntax): readonly SyntaxPair[] {
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
      if (repeated) throw duplicate(node, key.value, key);
    }
    return hasMergeKeys ? flatten(node, merges) : pairs;
  }

  const duplicate = (node: MappingSyntax, name: string, key: SyntaxNode) =>
    refusal(source, {
      code: "yaml.duplicate_key",
      context: "while constructing a mapping",
      contextStart: node.start,
      problem: `found duplicate key ${name}`,
      start: key.start,
      end: key.end,
    });

  function keyOf(node: MappingSyntax, { key }: SyntaxPair): Key {
    const built = build(key);
    const typeName = foreignTypes.get(built);
    if (built.kind !== "scalar" || typeName === "set")
      throw refusal(source, {
        code: "yaml.invalid_value",
        context: "while constructing a mapping",
        contextStart: node.start,
        problem: "found unhashable key",
        start: key.start,
        end: key.end,
      });
    const { value } = built;
    if (typeName !== undefined || isPathValue(value))
      throw invalidKeyType(typeName ?? "PosixPath", built.origin);
    if (value === null) suspicious = true;
    return value;
  }

  const construction: Construction = {
    source,
    construct: build,
    scalar,
    constructAs,
    fillMapping,
    foreign,
    originOf,
    tagOf: merges.tagOf,
  };

  const result = build(root);
  // Filling a collection appends those inside it.
  for (const work of pending) {
    if (work.kind === "list") work.tag.fill(work.node, work.target, construction);
    else work.tag.fill(work.node, work.target, construction);
  }
  return { root: result, foreign: foreignTypes, suspicious };
}

/** Whether one of the pairs in front of this one has the same string key. */
function standsBefore(
  pairs: readonly SyntaxPair[],
  index: number,
  name: string,
  merges: MergeState,
): boolean {
  for (let at = 0; at < index; at++) {
    const key = pairs[at]?.key;
    if (key?.kind === "scalar" && key.value === name && merges.tagOf(key) === TAG.string)
      return true;
  }
  return false;
}

/** OmegaConf's refusal of keys that are not str, int, float, bool or bytes. */
export const invalidKeyType = (typeName: string, origin: Origin, key = ""): ConfigError =>
  new ConfigError({
    code: "key.invalid_type",
    message: `Incompatible key type '${typeName}'`,
    origin,
    key,
    hint: "quote the key to make it a string",
  });
