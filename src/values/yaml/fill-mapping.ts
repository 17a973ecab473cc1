import { ConfigError } from "../errors.ts";
import { isPathValue, type Key, type KeyId, keyId, type MapEntry } from "../node.ts";
import type { Origin } from "../origin.ts";
import type { Construction } from "./construction.ts";
import { flatten, type MergeState } from "./merge-keys.ts";
import { type MappingSyntax, type SyntaxNode, type SyntaxPair, TAG } from "./syntax-node.ts";
import { invalid } from "./tags/tag-constructor.ts";

/** Up to here comparing keys with each other costs less than making a set of them. */
const FEW_PAIRS = 8;

/** Builds the entries of a mapping; of equal keys (`1` and `1.0`) the first key and the last value stay. */
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

/** The pairs of a mapping: no string key twice, and what `<<` brings in front. */
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
      });
  }
  return hasMergeKeys ? flatten(node, merges) : pairs;
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

function buildKey(node: MappingSyntax, { key }: SyntaxPair, construction: Construction): Key {
  const built = construction.build(key);
  const typeName = construction.foreign.get(built);
  if (built.kind !== "scalar" || typeName === "set")
    throw invalid(key, construction, "found unhashable key", within(node));
  const { value } = built;
  if (typeName !== undefined || isPathValue(value))
    throw invalidKeyType(typeName ?? "PosixPath", built.origin);
  if (value === null) construction.suspicious = true;
  return value;
}

const within = ({ start }: MappingSyntax) => ({
  context: "while constructing a mapping",
  contextStart: start,
});

/** OmegaConf's refusal of keys that are not str, int, float, bool or bytes. */
export const invalidKeyType = (typeName: string, origin: Origin, key = ""): ConfigError =>
  new ConfigError({
    code: "key.invalid_type",
    message: `Incompatible key type '${typeName}'`,
    origin,
    key,
    hint: "quote the key to make it a string",
  });
