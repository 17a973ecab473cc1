import { refuseDepth } from "./depth.ts";
import {
  type ConfigNode,
  isPathValue,
  type ListNode,
  MAX_TREE_DEPTH,
  type MapNode,
  type PathValue,
  type ScalarValue,
} from "./node.ts";
import { emitSimpleKey, emitValue, type PlainScalar } from "./writer/emit-scalar.ts";
import { append, breakLine, INDENT, type Output, spaces, startLine } from "./writer/output.ts";
import { sortEntries } from "./writer/sort-keys.ts";

export interface WriteOptions {
  /** Sort the keys of every mapping, as Python's `sorted` would. Default: keep their order. */
  readonly sortKeys?: boolean;
  /** Told of every node once it is written, children first: its span in the text, in UTF-16 units. */
  readonly onWritten?: (node: ConfigNode, start: number, end: number) => void;
}

/**
 * What stands in front of a node on its line. After `-`, and the `:` of a complex key, a block
 * begins on the same line; after `key:` it begins on the next, and a list keeps the key's column.
 */
type Place = "root" | "after key" | "after dash" | "after complex key";

const PATH_TAG = "!!python/object/apply:pathlib.PosixPath";

/**
 * `OmegaConf.to_yaml`: byte for byte what PyYAML's block style prints, 80 columns, Unicode as it
 * is. Interpolations are written unresolved: resolve the tree first for `resolve=True`.
 * @throws ConfigError `yaml.depth_limit` for a tree deeper than any that is read
 */
export function writeYaml(root: ConfigNode, options: WriteOptions = {}): string {
  const out: Output = { text: "", column: 0 };

  let depth = 0;

  function emitNode(node: ConfigNode, indent: number, place: Place): void {
    refuseDepth(++depth, node, MAX_TREE_DEPTH);
    const start = out.text.length;
    if (node.kind === "map" && node.entries.size > 0) emitMap(node, indent, place);
    else if (node.kind === "list" && node.items.length > 0) emitList(node, indent, place);
    else if (node.kind !== "scalar") emitEmpty(node.kind === "map" ? "{}" : "[]", place);
    else emitScalar(node.value, indent, place);
    options.onWritten?.(node, start, out.text.length);
    depth--;
  }

  function emitScalar(value: ScalarValue, indent: number, place: Place): void {
    if (isPathValue(value)) {
      emitPath(value, indent, place);
      return;
    }
    if (place !== "root") append(out, " ");
    const style = emitValue(out, value, indent + INDENT);
    // A plain scalar as a whole document has an explicit end, or it could go on.
    if (place === "root" && style === "plain") append(out, "\n...");
  }

  function emitMap(node: MapNode, indent: number, place: Place): void {
    const column = blockColumn(indent, place);
    let first = true;
    for (const { key, value } of entriesOf(node)) {
      startEntry(column, first && startsInline(place));
      first = false;
      if (emitSimpleKey(out, key, column + INDENT)) {
        append(out, ":");
        emitNode(value, column, "after key");
      } else {
        append(out, "? ");
        emitValue(out, key, column + INDENT);
        startLine(out, column);
        append(out, ":");
        emitNode(value, column, "after complex key");
      }
    }
  }

  function emitList(node: ListNode, indent: number, place: Place): void {
    // A list under a key is not indented further.
    const column = place === "after key" ? indent : blockColumn(indent, place);
    for (const [index, item] of node.items.entries()) {
      startEntry(column, index === 0 && startsInline(place));
      append(out, "-");
      emitNode(item, column, "after dash");
    }
  }

  function emitEmpty(brackets: "{}" | "[]", place: Place): void {
    append(out, place === "root" ? brackets : ` ${brackets}`);
  }

  /** A pathlib object: a tag and the parts of the path. */
  function emitPath({ path }: PathValue, indent: number, place: Place): void {
    append(out, place === "root" ? PATH_TAG : ` ${PATH_TAG}`);
    const parts = pathParts(path);
    if (parts.length === 0) append(out, " []");
    // Behind the tag nothing is inline, so under any key the list keeps the key's column.
    const underKey = place === "after key" || place === "after complex key";
    const column = underKey ? indent : blockColumn(indent, place);
    for (const part of parts) {
      startLine(out, column);
      append(out, "- ");
      emitValue(out, part, column + INDENT);
    }
  }

  const entriesOf = (node: MapNode) =>
    options.sortKeys === true ? sortEntries([...node.entries.values()]) : node.entries.values();

  function startEntry(column: number, inline: boolean): void {
    if (inline) append(out, spaces(column - out.column));
    else startLine(out, column);
  }

  emitNode(root, 0, "root");
  if (out.column > 0) breakLine(out);
  return out.text;
}

const blockColumn = (indent: number, place: Place): number =>
  place === "root" ? 0 : indent + INDENT;

const startsInline = (place: Place): boolean =>
  place === "after dash" || place === "after complex key";

/** `PurePosixPath.parts`: the root, if any, and the names. */
function pathParts(path: string): readonly PlainScalar[] {
  const root = /^\/\/(?!\/)/.test(path) ? "//" : path.startsWith("/") ? "/" : "";
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return root === "" ? names : [root, ...names];
}
