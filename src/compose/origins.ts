import type { KeyedNode } from "../values/diff.ts";
import type { ConfigNode, Key } from "../values/node.ts";
import { keyText } from "../values/python-text.ts";
import { type WriteOptions, writeYaml } from "../values/writer.ts";

/** One line of a config's YAML, and the node that it shows. */
export interface OriginLine {
  readonly text: string;
  /** undefined for the further lines of a text that goes over several. */
  readonly node?: ConfigNode;
}

/**
 * The lines of `writeYaml`, each with the innermost node that begins on it. A scalar over several
 * lines is named where a comment may stand: at the `|` of a block, else on the last line.
 */
export function originLines(
  root: ConfigNode,
  options: Pick<WriteOptions, "sortKeys"> = {},
): readonly OriginLine[] {
  const spans: { node: ConfigNode; start: number; end: number }[] = [];
  const text = writeYaml(root, {
    ...options,
    onWritten: (node, start, end) => spans.push({ node, start, end }),
  });
  const lineOf = lineCounter(text);
  const nodes = new Map<number, ConfigNode>();
  for (const { node, start, end } of spans) {
    // What begins behind a dash has its first child there, whose key may go over several lines.
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

/** All values that hold no others, in the order of the tree; an empty map or list is one. */
export function leavesOf(node: ConfigNode, path: readonly Key[] = []): readonly KeyedNode[] {
  if (node.kind === "map" && node.entries.size > 0)
    return [...node.entries.values()].flatMap(({ key, value }) => leavesOf(value, [...path, key]));
  if (node.kind === "list" && node.items.length > 0)
    return node.items.flatMap((item, index) => leavesOf(item, [...path, BigInt(index)]));
  return [{ path, node }];
}

/** `db.port`, as `--explain` and `select` take it. */
export const pathText = (path: readonly Key[]): string => path.map(keyText).join(".");

/** A block scalar or a tagged value: what follows on the line of the key is a head. */
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
