import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { ConfigError } from "./errors.ts";
import { type ConfigNode, type Key, list, map, type ScalarValue, scalar } from "./node.ts";
import type { SourceText } from "./origin.ts";

// Interim reader for ordinary files, so that the stages above can start; the exact one follows.

export interface ReadOptions {
  /** What positions and errors call the text, usually its path. */
  readonly name?: string;
}

export function readYaml(text: string, options: ReadOptions = {}): ConfigNode {
  const source: SourceText = { name: options.name ?? "<string>", text };
  const doc = parseDocument(text, { version: "1.1", intAsBigInt: true, merge: true });
  const error = doc.errors[0];
  if (error !== undefined)
    throw new ConfigError({
      code: error.code === "DUPLICATE_KEY" ? "yaml.duplicate_key" : "yaml.syntax",
      message: error.message,
      origin: { kind: "file", source, start: error.pos[0], end: error.pos[1] },
    });
  const at = (node: Node) => ({
    kind: "file" as const,
    source,
    start: node.range?.[0] ?? 0,
    end: node.range?.[1] ?? 0,
  });
  const convert = (node: unknown): ConfigNode => {
    if (isAlias(node)) return convert(node.resolve(doc));
    if (isMap(node)) {
      const entries: [Key, ConfigNode][] = [];
      for (const pair of node.items) {
        const key = convert(pair.key);
        const value = convert(pair.value);
        if (key.kind !== "scalar") throw new Error("key");
        if (key.value === "<<" && value.kind === "map")
          for (const entry of value.entries.values()) entries.unshift([entry.key, entry.value]);
        else entries.push([key.value as Key, value]);
      }
      return map(entries, at(node));
    }
    if (isSeq(node)) return list(node.items.map(convert), at(node));
    if (isScalar(node)) {
      const { value } = node;
      return scalar(
        (value instanceof Date ? (node.source ?? "") : (value ?? null)) as ScalarValue,
        at(node),
      );
    }
    return scalar(null, { kind: "file", source, start: 0, end: 0 });
  };
  return convert(doc.contents);
}

export function createConfig(text: string, options: ReadOptions = {}): ConfigNode {
  const node = readYaml(text, options);
  if (node.kind !== "scalar") return node;
  if (typeof node.value === "string")
    return map([[node.value, scalar(null, node.origin)]], node.origin);
  return map([], node.origin);
}
