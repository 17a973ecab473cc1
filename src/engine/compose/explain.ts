/** What `--explain` knows of a value: what set it, what it replaced, and how its file came into the config. */
import type { KeyedNode } from "../values/diff.ts";
import { splitKey } from "../values/key-path.ts";
import type { ConfigNode, Key, MapNode } from "../values/node.ts";
import type { FileOrigin, Origin } from "../values/origin.ts";
import { keyText, parsePythonInt } from "../values/python-text.ts";
import { type WriteOptions, writeYaml } from "../values/yaml/writer.ts";
import type { Composition } from "./compose.ts";
import type { DefaultsTreeNode } from "./defaults/tree.ts";
import { maskSecrets } from "./secrets.ts";

/** The explanation of a value. */
export interface Explanation {
  readonly key: string;
  /** The value in the tree, with interpolations unresolved. */
  readonly value: ConfigNode;
  readonly cause: Cause;
  /** The values that it replaced, newest first. */
  readonly replaced: readonly ReplacedValue[];
}

/** A replaced value, and what had set it. */
export interface ReplacedValue {
  readonly value: ConfigNode;
  readonly cause: Cause;
}

/** What set a value; for a file also how the file came into the composition. */
export interface Cause {
  readonly origin: Origin;
  /** The defaults entries from the primary config down to the file; empty for origins other than files. */
  readonly broughtInBy: readonly DefaultsStep[];
}

/** One entry of a defaults list (or of the command line) that includes a config. */
export interface DefaultsStep {
  readonly configPath: string;
  readonly package: string;
  /** `group=option` or `group@package=option`; null for a config outside groups. */
  readonly choice: string | null;
  /** The place of the entry: in the parent's defaults list, or the override. */
  readonly origin: Origin;
}

/**
 * Explains the value at a key of the composed tree; undefined if there is no such key. Interpolations are not followed:
 * the explanation is about the text in the config.
 */
export function explain(composition: Composition, key: string): Explanation | undefined {
  const path = splitKey(key, composition.dialect);
  const value = nodeAt(maskSecrets(composition.root, composition), path);
  if (value === undefined) return undefined;
  const causeOf = (node: ConfigNode): Cause => ({
    origin: node.origin,
    broughtInBy: stepsTo(composition.tree.roots, node.origin, path),
  });
  return {
    key,
    value,
    cause: causeOf(value),
    replaced: earlier(value).map((node) => ({ value: node, cause: causeOf(node) })),
  };
}

function nodeAt(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>((node, part) => {
    if (node?.kind === "map") return entryOf(node, part);
    if (node?.kind !== "list") return undefined;
    const index = parsePythonInt(part);
    return index === null ? undefined : node.items[Number(index)];
  }, root);
}

/** A key of another type (`1`, `true`) is found by its text; a string key with that text has priority. */
const entryOf = ({ entries }: MapNode, part: string): ConfigNode | undefined =>
  (entries.get(part) ?? [...entries.values()].find(({ key }) => keyText(key) === part))?.value;

function earlier(node: ConfigNode): ConfigNode[] {
  const chain: ConfigNode[] = [];
  for (let previous = node.replaced; previous !== undefined; previous = previous.replaced)
    chain.push(previous);
  return chain;
}

/** The path to the file of an origin; a file included twice is distinguished by its package. */
function stepsTo(
  nodes: readonly DefaultsTreeNode[],
  origin: Origin,
  path: readonly string[],
): readonly DefaultsStep[] {
  if (origin.kind !== "file") return [];
  for (const node of nodes) {
    if (node.state !== "used") continue;
    if (isFileOf(node, origin) && isBelow(path, node.package)) return [stepOf(node)];
    const children = node.children.filter((child) => child.kind === "config");
    const below = stepsTo(children, origin, path);
    if (below.length > 0) return [stepOf(node), ...below];
  }
  return [];
}

const isFileOf = ({ loaded }: DefaultsTreeNode, { source }: FileOrigin): boolean =>
  loaded?.origin.kind === "file" && loaded.origin.source === source;

function isBelow(path: readonly string[], pkg: string): boolean {
  const parts = pkg === "" ? [] : splitKey(pkg);
  const shared = Math.min(parts.length, path.length);
  return parts.slice(0, shared).every((part, index) => part === path[index]);
}

const stepOf = ({ placed, package: pkg }: DefaultsTreeNode): DefaultsStep => ({
  configPath: placed.configPath,
  package: pkg,
  choice: placed.overrideKey === null ? null : `${placed.overrideKey}=${placed.name}`,
  origin: placed.item.origin,
});

/** One line of a config's YAML, and the node that it shows. */
export interface OriginLine {
  readonly text: string;
  /** undefined for the further lines of a multi-line scalar. */
  readonly node?: ConfigNode;
}

/**
 * The lines of `writeYaml`, each with the innermost node that begins on it. A multi-line scalar is assigned to the line
 * where a comment is allowed: at the `|` of a block, otherwise the last line.
 */
export function originLines(
  root: ConfigNode,
  options: Pick<WriteOptions, "sortKeys" | "dialect"> = {},
): readonly OriginLine[] {
  const spans: { node: ConfigNode; start: number; end: number }[] = [];
  const text = writeYaml(root, {
    ...options,
    onWritten: (node, start, end) => spans.push({ node, start, end }),
  });
  const lineOf = lineCounter(text);
  const nodes = new Map<number, ConfigNode>();
  for (const { node, start, end } of spans) {
    // A container that begins after a dash has its first child on that line, whose key may have several lines.
    if (holdsOthers(node) && text[start] !== "\n") continue;
    const endsLater = node.kind === "scalar" && !isHeaded(text.slice(start, end));
    const line = lineOf(endsLater ? end : start);
    // Children are written before their parents, so the first to name a line is the innermost.
    if (!nodes.has(line)) nodes.set(line, node);
  }
  return splitLines(text).map((line, index) => {
    const node = nodes.get(index);
    return node === undefined ? { text: line } : { text: line, node };
  });
}

/** All leaves, in the order of the tree; an empty map or list is one. */
export function leavesOf(node: ConfigNode, path: readonly Key[] = []): readonly KeyedNode[] {
  if (node.kind === "map" && node.entries.size > 0)
    return [...node.entries.values()].flatMap(({ key, value }) => leavesOf(value, [...path, key]));
  if (node.kind === "list" && node.items.length > 0)
    return node.items.flatMap((item, index) => leavesOf(item, [...path, BigInt(index)]));
  return [{ path, node }];
}

/** `db.port`, the form that `--explain` and `select` accept. */
export const pathText = (path: readonly Key[]): string => path.map(keyText).join(".");

/** A block scalar or a tagged value, of which only a header is on the key's line. */
const isHeaded = (text: string): boolean => /^ *(?:!![^ \n]+ *)?(?:\||\n)|^ *!!python/.test(text);

const holdsOthers = (node: ConfigNode): boolean =>
  node.kind === "map" ? node.entries.size > 0 : node.kind === "list" && node.items.length > 0;

const splitLines = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");

/** Lines of ascending or descending offsets, by binary search. */
function lineCounter(text: string): (offset: number) => number {
  const breaks = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let low = 0;
    let high = breaks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
