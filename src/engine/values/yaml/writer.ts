/** Writes a config tree as PyYAML prints it, byte for byte. */

import { isBytes } from "../../../foundation/system/builtin-types.ts";
import { compareBytes } from "../../../foundation/text/bytes.ts";
import { byCodePoint } from "../../../foundation/text/code-points.ts";
import { DEFAULT_DIALECT, type Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import { DEFAULT_LIMITS, type Limits, limitError } from "../limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  checkDepth,
  isPathValue,
  type Key,
  type ListNode,
  MAX_TREE_DEPTH,
  type MapEntry,
  type MapNode,
  type PathValue,
  type ScalarNode,
  valueAsWritten,
} from "../node.ts";
import { surrogateProblem } from "./cursor.ts";
import {
  append,
  BEST_WIDTH,
  breakLine,
  emitSimpleKey,
  emitValue,
  hasOwnStyle,
  INDENT,
  moveTo,
  type Output,
  type PlainScalar,
  startLine,
} from "./emit-scalar.ts";

export interface WriteOptions {
  /** The dialect of YAML. Default: that of Hydra 1.3. */
  readonly dialect?: Dialect;
  /**
   * Which maps and lists are written in brackets (flow style): none, those with only scalars, or all. Default: none.
   */
  readonly flow?: "none" | "leaves" | "all" | undefined;
  /** Sort the keys of every mapping, as Python's `sorted` would. Default: keep their order. */
  readonly sortKeys?: boolean;
  /** `characters` also limits the text. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Limits;
  /** Called for every node once it is written, children first, with its span in the text in UTF-16 units. */
  readonly onWritten?: (node: ConfigNode, start: number, end: number) => void;
}

/**
 * `OmegaConf.to_yaml`: byte for byte what PyYAML's block style prints, 80 columns, Unicode as it
 * is. Interpolations are written as they are: resolve the tree first for `resolve=True`.
 * @throws ConfigError `yaml.depth_limit` for a tree deeper than any that is read, `limit.characters`,
 *   `yaml.invalid_value` for what libyaml cannot write
 */
export function writeYaml(root: ConfigNode, options: WriteOptions = {}): string {
  const { dialect = DEFAULT_DIALECT } = options;
  const out: Emission = {
    text: "",
    column: 0,
    depth: 0,
    dialect,
    libyaml: dialect.libyaml,
    inFlow: false,
    flow: options.flow ?? "none",
    most: (options.limits ?? DEFAULT_LIMITS).characters,
    entriesOf: options.sortKeys === true ? sortedEntries : entriesInOrder,
    onWritten: options.onWritten,
  };
  emitNode(out, root, 0, "root");
  if (out.column > 0) breakLine(out);
  refuseLong(out, root);
  return out.text;
}

const entriesInOrder = ({ entries }: MapNode) => entries.values();

const sortedEntries = ({ entries }: MapNode) => sortEntries([...entries.values()]);

/** Python's `sorted` of the keys; keys that Python cannot compare keep their order. */
function sortEntries(entries: readonly MapEntry[]): readonly MapEntry[] {
  const kinds = new Set(entries.map(({ key }) => kindOf(key)));
  if (kinds.size !== 1 || entries.length < 2 || kinds.has("null")) return entries;
  return entries.toSorted((left, right) => compare(left.key, right.key));
}

const kindOf = (key: Key): "null" | "number" | "string" | "bytes" => {
  if (key === null) return "null";
  if (typeof key === "string") return "string";
  return typeof key === "object" ? "bytes" : "number";
};

function compare(left: Key, right: Key): number {
  if (typeof left === "string" && typeof right === "string") return byCodePoint(left, right);
  if (isBytes(left) && isBytes(right)) return compareBytes(left, right);
  const [a, b] = [numberOf(left), numberOf(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

const numberOf = (key: Key): number | bigint =>
  typeof key === "bigint" || typeof key === "number" ? key : Number(key);

/** The state of writing a tree: the text so far, and the options of the emitting functions. */
interface Emission extends Output {
  readonly dialect: Dialect;
  readonly flow: "none" | "leaves" | "all";
  /** Number of open nodes around the next one. */
  depth: number;
  /** The maximum length of the text: indentation can make a deep tree far longer than its source in brackets. */
  readonly most: number;
  readonly entriesOf: (node: MapNode) => Iterable<MapEntry>;
  readonly onWritten: ((node: ConfigNode, start: number, end: number) => void) | undefined;
}

/**
 * What precedes a node on its line. After `-`, and the `:` of a complex key, a block begins on the same line; after
 * `key:` it begins on the next, and a list keeps the key's column.
 */
type Place = "root" | "after key" | "after dash" | "after complex key" | "in brackets";

const PATH_TAG = "!!python/object/apply:pathlib.PosixPath";

/** Writes a node and its children; `indent` is the column of the collection around it. */
function emitNode(out: Emission, node: ConfigNode, indent: number, place: Place): void {
  checkDepth(++out.depth, node, MAX_TREE_DEPTH);
  const start = out.text.length;
  // The written form of a string is never shorter than the string, so the limit is checked first.
  refuseLong(
    out,
    node,
    node.kind === "scalar" && typeof node.value === "string" ? node.value.length : 0,
  );
  if (out.libyaml) refuseLoneSurrogates(node);
  if (node.kind !== "scalar" && isFlow(out, node)) emitFlow(out, node, indent, place);
  else if (node.kind === "map" && node.entries.size > 0) emitMap(out, node, indent, place);
  else if (node.kind === "list" && node.items.length > 0) emitList(out, node, indent, place);
  else if (node.kind !== "scalar") emitEmpty(out, node.kind === "map" ? "{}" : "[]", place);
  else emitScalar(out, asWritten(node), indent, place);
  refuseLong(out, node);
  out.onWritten?.(node, start, out.text.length);
  out.depth--;
}

const asWritten = (node: ScalarNode): ScalarNode =>
  node.literal === true ? { ...node, value: valueAsWritten(node) } : node;

/**
 * Refuses a text that exceeds the limit.
 * @param more minimum number of characters that are going to be added
 * @throws ConfigError `limit.characters`
 */
function refuseLong({ most, text }: Emission, { origin }: ConfigNode, more = 0): void {
  if (text.length + more > most)
    throw limitError("characters", most, { what: "The config as YAML has", origin });
}

function emitMap(out: Emission, node: MapNode, indent: number, place: Place): void {
  const column = blockColumn(indent, place);
  let startEntry = firstEntryStart(place);
  for (const { key, value } of out.entriesOf(node)) {
    startEntry(out, column);
    startEntry = startLine;
    if (emitSimpleKey(out, key, column + INDENT)) {
      append(out, ":");
      emitNode(out, value, column, "after key");
    } else {
      append(out, "? ");
      emitValue(out, key, column + INDENT);
      startLine(out, column);
      append(out, ":");
      emitNode(out, value, column, "after complex key");
    }
  }
}

function emitList(out: Emission, node: ListNode, indent: number, place: Place): void {
  // A list under a key is not indented further.
  const column = place === "after key" ? indent : blockColumn(indent, place);
  let startEntry = firstEntryStart(place);
  for (const item of node.items) {
    startEntry(out, column);
    startEntry = startLine;
    append(out, "-");
    emitNode(out, item, column, "after dash");
  }
}

function emitEmpty(out: Output, brackets: "{}" | "[]", place: Place): void {
  append(out, isAtStart(place) ? brackets : ` ${brackets}`);
}

function emitScalar(out: Emission, node: ScalarNode, indent: number, place: Place): void {
  const { value } = node;
  if (isPathValue(value)) {
    emitPath(out, node, value, indent, place);
    return;
  }
  if (!isAtStart(place)) append(out, " ");
  const style = emitValue(out, value, indent + INDENT);
  // A document that is one plain scalar needs an explicit end, since more text could continue it.
  if (place === "root" && style === "plain" && !out.libyaml) append(out, "\n...");
}

/** A pathlib object: a tag and the parts of the path. */
/** Whether no separator is needed between the text so far and the node. */
const isAtStart = (place: Place): boolean => place === "root" || place === "in brackets";

function emitPath(
  out: Emission,
  node: ConfigNode,
  { path }: PathValue,
  indent: number,
  place: Place,
): void {
  append(out, isAtStart(place) ? PATH_TAG : ` ${PATH_TAG}`);
  const parts = out.dialect.pathsAsText ? [path] : pathParts(path);
  if (parts.length === 0) append(out, " []");
  const { origin } = node;
  const nodes = parts.map((value) => ({ kind: "scalar" as const, value, origin }));
  const items: ContainerNode = { kind: "list", items: nodes, origin };
  if (isFlow(out, items)) {
    if (out.inFlow) append(out, " ");
    emitFlow(out, items, indent, place === "root" ? "after key" : place);
    return;
  }
  // After the tag nothing is inline, so under any key the list keeps the key's column.
  const underKey = place === "after key" || place === "after complex key";
  const column = underKey ? indent : blockColumn(indent, place);
  for (const part of parts) {
    startLine(out, column);
    append(out, "- ");
    emitValue(out, part, column + INDENT);
  }
}

/** Whether a non-empty map or list is written in brackets. */
function isFlow({ flow, inFlow }: Emission, node: ContainerNode): boolean {
  if (isEmpty(node)) return false;
  if (inFlow || flow === "none") return inFlow;
  return flow === "all" || childrenOf(node).every(isLeaf);
}

const isEmpty = (node: ContainerNode): boolean =>
  node.kind === "map" ? node.entries.size === 0 : node.items.length === 0;

/** PyYAML's plain scalars: those whose style the emitter chooses. */
const isLeaf = (node: ConfigNode): boolean =>
  node.kind === "scalar" && !isPathValue(node.value) && !hasOwnStyle(node.value);

const childrenOf = (node: ContainerNode): readonly ConfigNode[] =>
  node.kind === "list"
    ? node.items
    : [...node.entries.values()].flatMap(({ key, value }) => [
        { kind: "scalar" as const, value: key, origin: value.origin },
        value,
      ]);

/** A map or list in brackets, with line breaks before items that would begin after column 80. */
function emitFlow(out: Emission, node: ContainerNode, indent: number, place: Place): void {
  const isOuter = !out.inFlow;
  // In brackets everything is indented one level more, which shows only where a line is broken.
  const column = place === "root" ? INDENT : indent + INDENT;
  if (isOuter && place !== "root") append(out, " ");
  out.inFlow = true;
  append(out, node.kind === "map" ? "{" : "[");
  let isFirst = true;
  const separate = (): void => {
    if (!isFirst) append(out, ",");
    if (out.column > BEST_WIDTH) startLine(out, column);
    else if (!isFirst) append(out, " ");
    isFirst = false;
  };
  if (node.kind === "list")
    for (const item of node.items) {
      separate();
      emitNode(out, item, column, "in brackets");
    }
  else
    for (const { key, value } of out.entriesOf(node)) {
      separate();
      emitPair(out, key, value, column);
    }
  append(out, node.kind === "map" ? "}" : "]");
  out.inFlow = !isOuter;
}

function emitPair(out: Emission, key: Key, value: ConfigNode, column: number): void {
  if (emitSimpleKey(out, key, column + INDENT)) append(out, ":");
  else {
    append(out, "? ");
    emitValue(out, key, column + INDENT);
    if (out.column > BEST_WIDTH) startLine(out, column);
    else append(out, " ");
    append(out, ":");
  }
  append(out, " ");
  emitNode(out, value, column, "in brackets");
}

/** libyaml's input is UTF-8, which cannot encode a lone surrogate. */
function refuseLoneSurrogates(node: ConfigNode): void {
  if (node.kind === "list") return;
  const texts =
    node.kind === "map" ? [...node.entries.values()].map(({ key }) => key) : [node.value];
  for (const text of texts) {
    const message = typeof text === "string" ? surrogateProblem(text) : undefined;
    if (message !== undefined)
      throw new ConfigError({ code: "yaml.invalid_value", message, origin: node.origin });
  }
}

const blockColumn = (indent: number, place: Place): number =>
  place === "root" ? 0 : indent + INDENT;

/** After a dash, and the `:` of a complex key, the first entry stands on the same line. */
const firstEntryStart = (place: Place): typeof startLine =>
  place === "after dash" || place === "after complex key" ? moveTo : startLine;

/** `PurePosixPath.parts`: the root, if any, and the names. */
function pathParts(path: string): readonly PlainScalar[] {
  const root = /^\/\/(?!\/)/.test(path) ? "//" : path.startsWith("/") ? "/" : "";
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return root === "" ? names : [root, ...names];
}
