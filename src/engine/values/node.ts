/** The tree of a config: immutable maps, lists and scalars with their origins, types and flags. */

import { isBytes } from "../../foundation/system/builtin-types.ts";
import { toBase64 } from "../../foundation/text/bytes.ts";
import { ConfigError } from "./errors.ts";
import type { Origin } from "./origin.ts";

/**
 * A configuration tree. Nodes are immutable and shared: every operation (merge, update, resolve)
 * returns a new root that reuses the parts it did not change. There are no parent pointers; code
 * that needs the surroundings of a node (interpolation) walks down from the root with a path.
 */
export type ConfigNode = ScalarNode | ContainerNode;

/** A node with children. */
export type ContainerNode = MapNode | ListNode;

/**
 * A scalar in its exact type. `bigint` is always a YAML/Python int and `number` always a float, so
 * that `1` and `1.0` differ and integers beyond 2^53 survive. Interpolations (`${a}`) and the
 * missing marker `???` are plain strings, as in OmegaConf.
 */
export type ScalarValue = null | boolean | bigint | number | string | Uint8Array | PathValue;

/** A pathlib path (YAML tag `!!python/object/apply:pathlib.*`, or a typed `path` node). */
export interface PathValue {
  readonly path: string;
}

interface NodeBase {
  readonly origin: Origin;
  /** The node that this one replaced, newest first: the chain that `explain` prints. */
  readonly replaced?: ConfigNode;
  /** OmegaConf flags set on this node; absent means inherited from the parent. */
  readonly flags?: NodeFlags;
  /** The declared type of a typed (structured) node; absent means `any`. */
  readonly type?: NodeType;
}

/** A value that is no map and no list: null, a bool, a number, a text, bytes or a path. */
export interface ScalarNode extends NodeBase {
  readonly kind: "scalar";
  readonly value: ScalarValue;
  /** The value is text that is written with one more backslash: `\???` for the text `???`, which is then no missing value. */
  readonly literal?: true;
}

/** A map in the order of its keys, which may be any scalars. */
export interface MapNode extends NodeBase {
  readonly kind: "map";
  /** In insertion order. Look up with `keyId(key)`, never with the key itself. */
  readonly entries: ReadonlyMap<KeyId, MapEntry>;
}

/** A list. */
export interface ListNode extends NodeBase {
  readonly kind: "list";
  readonly items: readonly ConfigNode[];
  /** A Python tuple: written as a list; differs from a list only where Python shows the difference. */
  readonly tuple?: true;
}

/** A key with its value. */
export interface MapEntry {
  /** The key object that was written first; Python keeps it when an equal key comes later. */
  readonly key: Key;
  readonly value: ConfigNode;
}

/** A mapping key in its exact type. */
export type Key = null | boolean | bigint | number | string | Uint8Array;

/**
 * The identity of a key under Python's equality: `1 == 1.0 == True`. String keys are their own
 * identity.
 * @see keyId
 */
export type KeyId = string | bigint | number | null | boolean;

/** OmegaConf's flags: `struct` refuses unknown keys, `readonly` refuses changes. */
export interface NodeFlags {
  readonly struct?: boolean;
  readonly readonly?: boolean;
}

/** Declared types of structured nodes (OmegaConf's node classes). */
export type NodeType =
  | { readonly kind: "any" }
  | {
      readonly kind: "int" | "float" | "bool" | "str" | "bytes" | "path";
      readonly optional?: boolean;
    }
  | EnumType
  | UnionType
  | { readonly kind: "list"; readonly element: NodeType; readonly optional?: boolean }
  | {
      readonly kind: "map";
      readonly key: NodeType;
      readonly element: NodeType;
      readonly optional?: boolean;
    }
  | {
      readonly kind: "object";
      readonly name: string;
      /** Names of all base classes, in no particular order. */
      readonly bases?: readonly string[];
      readonly fields: ReadonlyMap<string, NodeType>;
      /** Default values of the fields in a new object; a field without one is absent in it. */
      readonly defaults?: ReadonlyMap<string, ConfigNode>;
      readonly optional?: boolean;
    };

/** Declared classes. */
export type ObjectType = Extract<NodeType, { readonly kind: "object" }>;

/** Declared types of maps and lists. */
export type ContainerType = Extract<NodeType, { readonly kind: "list" | "map" | "object" }>;

/** The type of values that may have one of several types. */
export interface UnionType {
  readonly kind: "union";
  readonly members: readonly NodeType[];
  /** The enum of a value that is an enum member, since the member's name alone is a string. */
  readonly held?: EnumType;
  readonly optional?: boolean;
}

/** The type of members of an enum. */
export interface EnumType {
  readonly kind: "enum";
  readonly name: string;
  /** Names of the members. The value of an enum node is one of them. */
  readonly members: readonly string[];
  /** Values of the members, in the same order; an int is accepted as the member with that value. */
  readonly values?: readonly ScalarValue[];
  readonly optional?: boolean;
}

/**
 * Deeper nesting of maps and lists is refused wherever trees are made. The limit is about half of what the recursive
 * passes (reading, writing, resolving) can handle on Node's default stack, and more than Python's recursion limit lets
 * PyYAML read.
 */
export const MAX_TREE_DEPTH = 500;

/** The marker of a mandatory value that is not set yet. */
export const MISSING = "???";

/**
 * Strings are their own identity. Numbers and booleans share one identity per numeric value: a
 * bigint for integral values, the number otherwise. Bytes get a string that no YAML key can be.
 */
export function keyId(key: Key): KeyId {
  switch (typeof key) {
    case "string":
    case "bigint":
      return key;
    case "boolean":
      return key ? 1n : 0n;
    case "number":
      return Number.isInteger(key) ? BigInt(key) : key;
    default:
      return key === null ? null : `\u0000bytes:${toBase64(key)}`;
  }
}

export function scalar(value: ScalarValue, origin: Origin): ScalarNode {
  return { kind: "scalar", value, origin };
}

const ESCAPED_MISSING = /^\\+\?\?\?$/;

/** A scalar as written: where the dialect escapes it so, `\???` is the text `???`. */
export const writtenScalar = (
  value: ScalarValue,
  origin: Origin,
  { escapesMissing }: { readonly escapesMissing: boolean },
): ScalarNode =>
  escapesMissing && typeof value === "string" && ESCAPED_MISSING.test(value)
    ? { kind: "scalar", value: value.slice(1), literal: true, origin }
    : { kind: "scalar", value, origin };

/** The value of a scalar as it is written. */
export const valueAsWritten = ({ literal, value }: ScalarNode): ScalarValue =>
  literal === true && typeof value === "string" ? `\\${value}` : value;

/** Builds a map node; a later equal key keeps the first position and key object (Python's dict). */
export function map(entries: Iterable<readonly [Key, ConfigNode]>, origin: Origin): MapNode {
  const out = new Map<KeyId, MapEntry>();
  for (const [key, value] of entries) {
    const id = keyId(key);
    out.set(id, { key: out.get(id)?.key ?? key, value });
  }
  return { kind: "map", entries: out, origin };
}

export function list(items: readonly ConfigNode[], origin: Origin): ListNode {
  return { kind: "list", items, origin };
}

/** The child of a map or list, or undefined. List indices are non-negative. */
export function child(node: ConfigNode, key: Key): ConfigNode | undefined {
  if (node.kind === "map") return node.entries.get(keyId(key))?.value;
  if (node.kind === "list" && (typeof key === "bigint" || typeof key === "number"))
    return node.items[Number(key)];
  return undefined;
}

export const isMissing = (node: ConfigNode): boolean =>
  node.kind === "scalar" && node.value === MISSING && node.literal !== true;

/** Whether a node has no value: missing, or null. */
export const isMissingOrNull = (node: ConfigNode): boolean =>
  isMissing(node) || (node.kind === "scalar" && node.value === null);

export const isPathValue = (value: ScalarValue): value is PathValue =>
  typeof value === "object" && value !== null && !isBytes(value);

const KINDS: ReadonlySet<unknown> = new Set<ConfigNode["kind"]>(["scalar", "map", "list"]);

/** Nodes are distinguished from plain data by their shape: a known kind and an origin. */
export const isNode = (value: unknown): value is ConfigNode =>
  typeof value === "object" &&
  value !== null &&
  "kind" in value &&
  KINDS.has(value.kind) &&
  "origin" in value;

/**
 * The depth limit of passes over trees into which something was inserted after reading. Trees made by hand have no
 * limit, and a pass must refuse them before the stack is exhausted.
 */
export const MAX_PASS_DEPTH = MAX_TREE_DEPTH + 100;

/**
 * @param depth of the node below the root of the pass, from 0
 * @throws ConfigError `yaml.depth_limit`
 */
export function checkDepth(depth: number, node: ConfigNode, limit = MAX_PASS_DEPTH): void {
  if (depth <= limit) return;
  throw new ConfigError({
    code: "yaml.depth_limit",
    message: `the tree is nested more than ${limit} levels deep`,
    origin: node.origin,
  });
}

/** The declared type of the child at a key of a map or list, whether or not it is present; absent for `any`. */
export function elementType(parent: ConfigNode, key: Key): NodeType | undefined {
  const { type } = parent;
  if (type?.kind === "list" || type?.kind === "map") return declared(type.element);
  if (type?.kind === "object" && typeof key === "string") return declared(type.fields.get(key));
  return undefined;
}

/** Whether a map is an object of a declared class, with a fixed set of keys. */
export const isObject = (node: ConfigNode): node is MapNode => node.type?.kind === "object";

/** The enum of a scalar that is an enum member; its value is then the member's name. */
export function enumOf(node: ConfigNode): EnumType | undefined {
  if (node.kind !== "scalar" || node.type === undefined) return undefined;
  const type = node.type.kind === "union" ? node.type.held : node.type;
  if (type?.kind !== "enum" || typeof node.value !== "string") return undefined;
  return type.members.includes(node.value) ? type : undefined;
}

export const isContainerType = (type: NodeType | undefined): type is ContainerType =>
  type?.kind === "map" || type?.kind === "list" || type?.kind === "object";

/** A map or list, or a node declared as one that has no value yet. */
export const holdsContainer = ({ kind, type }: ConfigNode): boolean =>
  kind !== "scalar" || isContainerType(type);

const declared = (type: NodeType | undefined): NodeType | undefined =>
  type?.kind === "any" ? undefined : type;

/** The initial value of a declared map or list: an empty one, or an object with the defaults of its class. */
export function emptyContainer(type: ContainerType, origin: Origin): ContainerNode {
  if (type.kind === "list") return { ...list([], origin), type };
  const defaults = type.kind === "object" ? type.defaults : undefined;
  return { ...map(defaults ?? [], origin), type };
}

/** An object whose fields are all missing: merging a missing object merges this. */
export function unsetObject(type: ObjectType, origin: Origin): MapNode {
  const missing = { ...scalar("???", origin) };
  const fields = [...type.fields].map(([name, field]) => {
    const value = field.kind === "any" ? missing : { ...missing, type: field };
    return [name, value] as const;
  });
  return { ...map(fields, origin), type };
}

/*
 * Edits by the engine itself, which ignore flags. Each returns a new root and shares everything that it did not change.
 */

/** Several edits of one tree: each map on their paths is copied once. */
export interface TreeEditor {
  /** The tree with all edits so far. It changes with the next one. */
  readonly root: MapNode;
  get(path: readonly string[]): ConfigNode | undefined;
  /** Sets the value at a path of string keys; absent maps are created. */
  set(path: readonly string[], value: ConfigNode): void;
}

export function editTree(tree: MapNode): TreeEditor {
  const copies = new Map<ConfigNode, Map<KeyId, MapEntry>>();
  const copyOf = (node: MapNode): MapNode => {
    if (copies.has(node)) return node;
    const entries = new Map(node.entries);
    const copy = { ...node, entries };
    copies.set(copy, entries);
    return copy;
  };
  const put = (node: MapNode, key: string, value: ConfigNode): void => {
    copies.get(node)?.set(key, { key: node.entries.get(key)?.key ?? key, value });
  };
  const root = copyOf(tree);
  return {
    root,
    get: (path) => getAt(root, path),
    set(path, value) {
      let current = root;
      for (const key of path.slice(0, -1)) {
        const existing = current.entries.get(key)?.value;
        const inner = copyOf(existing?.kind === "map" ? existing : map([], value.origin));
        if (inner !== existing) put(current, key, inner);
        current = inner;
      }
      const last = path.at(-1);
      if (last !== undefined) put(current, last, value);
    },
  };
}

/** One edit: a new tree with the value at a path. */
export function setAt(root: MapNode, path: readonly string[], value: ConfigNode): MapNode {
  const tree = editTree(root);
  tree.set(path, value);
  return tree.root;
}

export function getAt(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>(
    (node, key) => (node?.kind === "map" ? node.entries.get(keyId(key))?.value : undefined),
    root,
  );
}

export function withEntry(node: MapNode, key: string, value: ConfigNode): MapNode {
  const existing = node.entries.get(key);
  const entries = new Map(node.entries).set(key, { key: existing?.key ?? key, value });
  return { ...node, entries };
}

export function withoutEntry(node: MapNode, key: string): MapNode {
  const entries = new Map(node.entries);
  entries.delete(key);
  return { ...node, entries };
}
