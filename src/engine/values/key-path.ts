/** Keys such as `a.b[0]`: how they split into components, and the nearest one that exists. */
import { plural } from "../../foundation/text/plural.ts";
import { DEFAULT_DIALECT, type Dialect } from "./dialect.ts";
import { ConfigError, isConfigError, nearest as nearestName } from "./errors.ts";
import { type ConfigNode, child, type Key, keyId, type MapNode } from "./node.ts";
import { describeOrigin, type Origin } from "./origin.ts";
import { parsePythonInt, pyRepr, pyStr } from "./python-text.ts";

/**
 * The components of a key for a lookup.
 * @throws ConfigError `key.not_found` for a key without components, such as a bracket that is never closed (`[a`)
 */
export function keyComponents(key: string, dialect: Dialect = DEFAULT_DIALECT): readonly string[] {
  const components = splitKey(key, dialect);
  if (components.length > 0) return components;
  throw new ConfigError({
    code: "key.not_found",
    message: "list index out of range",
    key,
    hint: "close the bracket",
  });
}

/**
 * Splits a key into its components: `a.b`, `a[b]`, `[a].b` and mixtures of them. A leading or
 * doubled dot gives empty components, and text between a bracket and the next dot or bracket is
 * dropped: the rules are OmegaConf's, which never refuses a key here.
 */
export function splitKey(key: string, dialect: Dialect = DEFAULT_DIALECT): readonly string[] {
  if (dialect.escapesInKeys && key.includes("\\")) return splitEscaped(key);
  if (!key.includes("[")) return key.split(".");
  const head = HEAD.exec(key)?.[0] ?? "";
  const components = head.split(".");
  if (components.at(-1) === "" && key[head.length] === "[") components.pop();
  return [...components, ...partsOf(key.slice(head.length))];
}

/** As `splitKey`, where a backslash makes the next character literal. */
function splitEscaped(key: string): readonly string[] {
  const components: string[] = [];
  let rest = key.startsWith("[") ? key : `.${key}`;
  while (rest !== "") {
    const part = PART.exec(rest);
    // The text after a bracket that is never closed is dropped.
    if (part === null) break;
    const [whole, dotted, bracketed] = part;
    components.push((dotted ?? bracketed ?? "").replace(ESCAPE, "$1"));
    rest = rest.slice(whole.length);
    // Text between a bracket and the next separator is dropped, as in keys without escapes.
    const dropped = UP_TO_SEPARATOR.exec(rest)?.[0] ?? "";
    if (bracketed !== undefined && dropped !== "") rest = rest.slice(dropped.length);
  }
  return components;
}

const ESCAPE = /\\([.[\]=])/g;
const PART = /^(?:\.((?:\\[.[\]=]|[^.[])*)|\[((?:\\[.[\]=]|[^\]])*)\])/;
const UP_TO_SEPARATOR = /^[^.[]+/;

/** Offset of the `=` that separates the key from the value; -1 without one. */
export function equalsSign(text: string, { escapesInKeys }: Dialect): number {
  if (!escapesInKeys) return text.indexOf("=");
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "=") return index;
    if (text[index] === "\\" && ".[]=".includes(text[index + 1] ?? "x")) index++;
  }
  return -1;
}

/**
 * The key of a map that a component of a key path names: where the dialect finds integer keys, `1` is the integer 1 if the map has
 * that key, and not the text.
 */
export function mapKey(
  { entries }: Pick<MapNode, "entries">,
  component: string,
  { findsIntegerKeys }: Dialect,
): Key {
  if (!findsIntegerKeys || !/\d/.test(component) || entries.has(component)) return component;
  const integer = parsePythonInt(component);
  const key = integer === null ? undefined : entries.get(integer)?.key;
  return typeof key === "bigint" ? key : component;
}

/**
 * The key of a map that a new key would be confused with in key paths: `1` beside `"1"`.
 */
export function ambiguousKey(
  { entries }: Pick<MapNode, "entries">,
  key: Key,
  { findsIntegerKeys }: Dialect,
): Key | undefined {
  if (!findsIntegerKeys) return undefined;
  if (typeof key === "bigint") return entries.get(String(key))?.key;
  if (typeof key !== "string" || !INTEGER.test(key)) return undefined;
  const other = entries.get(BigInt(key))?.key;
  return typeof other === "bigint" ? other : undefined;
}

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** The error of two keys of one map that key paths cannot tell apart. */
export const ambiguousKeys = (first: Key, second: Key, key: string, origin: Origin): ConfigError =>
  new ConfigError({
    code: "key.invalid_type",
    message: `Conflicting integer and string keys: ${pyRepr(first)} and ${pyRepr(second)}`,
    key,
    origin,
    hint: "rename one of the keys",
  });

const HEAD = /^\.*[^.[]*/;
const PART_START = /\.([^.[]*)|\[/g;

/** The components after dots and in brackets. A bracket must be closed on its own line. */
function* partsOf(text: string): Generator<string> {
  const closing = nextOf("]", text);
  // Only \n ends a line for Python.
  const lineEnd = nextOf("\n", text);
  let end = 0;
  for (const { 1: dotted, index } of text.matchAll(PART_START)) {
    if (index < end) continue;
    if (dotted !== undefined) yield dotted;
    else if (closing(index) < lineEnd(index)) {
      yield text.slice(index + 1, closing(index));
      end = closing(index) + 1;
    }
  }
}

/**
 * Finds the next occurrence of a character from growing offsets. The text is searched once, however many calls there
 * are.
 */
function nextOf(character: string, text: string): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) next = text.indexOf(character, from);
    if (next < 0) next = Number.POSITIVE_INFINITY;
    return next;
  };
}

/** A reference key, split. */
export interface ReferenceKey {
  /** Number of leading dots: 0 for a key relative to the root, otherwise the number of levels up. */
  readonly levels: number;
  /** The text after the dots. */
  readonly rest: string;
  /** Its components; none for the empty key, which refers to the start of the lookup. */
  readonly components: readonly string[];
}

/** @throws ConfigError as `keyComponents` */
export function referenceKey(text: string, dialect?: Dialect): ReferenceKey {
  let levels = 0;
  while (text[levels] === ".") levels++;
  const rest = text.slice(levels);
  return { levels, rest, components: rest === "" ? [] : keyComponents(rest, dialect) };
}

/**
 * For a key that does not exist: the alternatives to its first wrong component, and the likely key.
 * @param key text in Hydra 1.3's syntax, or its components
 * @param widest larger maps are not searched: for errors that may occur thousands of times
 * @returns `hint` instead, where a key of the same digits is an integer, which Hydra 1.3 finds by no text
 */
export function nearestKey(
  root: ConfigNode,
  key: string | readonly string[],
  widest = Number.POSITIVE_INFINITY,
): { readonly available: readonly string[]; readonly nearest?: string; readonly hint?: string } {
  const parts = typeof key === "string" ? splitKey(key) : key;
  let node: ConfigNode | undefined = root;
  for (const [index, part] of parts.entries()) {
    if (node?.kind !== "map") return { available: [] };
    const next: ConfigNode | undefined = node.entries.get(keyId(part))?.value;
    if (next === undefined) {
      if (node.entries.size > widest) return { available: [] };
      const integer = /^-?\d+$/.test(part) ? node.entries.get(BigInt(part)) : undefined;
      if (integer !== undefined && index === parts.length - 1) {
        const hint = `the key ${part} is an integer, which key paths find from Hydra 1.4 on: take the map that has it as a whole`;
        return { available: [], hint };
      }
      const found = suggest(node, parts, index, widest);
      if (found.nearest !== undefined) return found;
      const elsewhere =
        [
          () => keysThatEndWith(root, parts),
          () => keysWithMore(node, parts, index),
          () => keysWithLess(root, parts, index),
        ]
          .map((find) => find())
          .find(({ length }) => length > 0) ?? [];
      return elsewhere.length > 0
        ? { available: elsewhere, ...(elsewhere.length === 1 && { nearest: elsewhere[0] }) }
        : found;
    }
    node = next;
  }
  return { available: [] };
}

/**
 * What is in the way of a component of a key: a list without such an item, or a value without keys; undefined for a map.
 * @param path to the node
 */
export function obstacle(node: ConfigNode, path: string, component: string): string | undefined {
  const name = path === "" ? "the config" : `'${path}'`;
  const location = node.origin.kind === "file" ? ` (${describeOrigin(node.origin)})` : "";
  if (node.kind === "list")
    return /^-?\d+$/.test(component)
      ? `${name} has ${plural(node.items.length, "item")}, counted from 0${location}`
      : `${name} is a list: its items are ${path === "" ? "0" : `${path}.0`} and so on${location}`;
  if (node.kind !== "scalar") return undefined;
  const shown = typeof node.value === "string" ? pyRepr(node.value) : pyStr(node);
  return `${name} is ${shown}, which has no keys${location}`;
}

/**
 * Runs an operation, and adds similar keys to its error about an unknown key of a map if the dialect does that.
 * @throws ConfigError as `work` does
 */
export function suggesting<T>({ suggestsKeys }: Dialect, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!suggestsKeys || !isConfigError(error) || error.code !== "value.struct") throw error;
    const { available = [], message } = error.details;
    const key = /^Key '(.*)' /s.exec(message)?.[1];
    const like = key === undefined ? [] : closeMatches(key, available).map((name) => pyRepr(name));
    if (like.length === 0) throw error;
    const words = like.length === 1 ? "Did you mean: " : "Did you mean one of: ";
    throw new ConfigError({ ...error.details, message: `${message}. ${words}${like.join(", ")}?` });
  }
}

/** `difflib.get_close_matches` of Python: at most three names, the most alike first. */
function closeMatches(word: string, names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, ratio: likeness(name, word) }))
    .filter(({ ratio }) => ratio >= 0.6)
    .sort((a, b) => b.ratio - a.ratio || (a.name < b.name ? 1 : -1))
    .slice(0, 3)
    .map(({ name }) => name);
}

/** `SequenceMatcher.ratio` of Python: the share of two texts that lies in common blocks, the longest first. */
function likeness(a: string, b: string): number {
  const total = a.length + b.length;
  return total === 0 ? 1 : (2 * commonLength(a, b)) / total;
}

function commonLength(a: string, b: string): number {
  let [best, inA, inB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < b.length; j++) {
      let length = 0;
      while (i + length < a.length && j + length < b.length && a[i + length] === b[j + length])
        length++;
      if (length > best) [best, inA, inB] = [length, i, j];
    }
  if (best === 0) return 0;
  const leading = commonLength(a.slice(0, inA), b.slice(0, inB));
  return leading + best + commonLength(a.slice(inA + best), b.slice(inB + best));
}

/** Larger trees are not searched for a key by its end: users write such keys for small trees. */
const MOST_SEARCHED = 5_000;

/**
 * `ncu.enable` finds `pipeline.ncu.enable`: the full keys of values that end with the key; those below `hydra` only if
 * there are no others.
 */
function keysThatEndWith(root: ConfigNode, parts: readonly string[]): readonly string[] {
  const found: (readonly string[])[] = [];
  const level: { node: ConfigNode; path: readonly string[] }[] = [{ node: root, path: [] }];
  for (const { node, path } of level) {
    if (node.kind !== "map") continue;
    if (level.length + node.entries.size > MOST_SEARCHED) break;
    for (const { key, value } of node.entries.values()) {
      if (!canBeNamed(key)) continue;
      const below = [...path, String(key)];
      const isMeant = parts.every((part, index) => part === below.at(index - parts.length));
      if (isMeant && value.kind !== "map") found.push(below);
      level.push({ node: value, path: below });
    }
  }
  const programKeys = found.filter(([first]) => first !== "hydra");
  return (programKeys.length > 0 ? programKeys : found).map((path) => path.join("."));
}

/** For a key without some of its parts: `data.batch_size` finds `data.loader.batch_size`. */
function keysWithMore(
  node: ConfigNode | undefined,
  parts: readonly string[],
  wrong: number,
): readonly string[] {
  if (node === undefined || wrong === 0) return [];
  const above = parts.slice(0, wrong);
  return keysThatEndWith(node, parts.slice(wrong)).map((key) => [...above, key].join("."));
}

/**
 * For a key with too many parts: `data.val.workers` finds `val.workers`, and `loader.val.workers`.
 * @param wrong index of the first part that does not exist
 */
function keysWithLess(
  root: ConfigNode,
  parts: readonly string[],
  wrong: number,
): readonly string[] {
  const shorter = parts.toSpliced(wrong, 1);
  const node = shorter.reduce<ConfigNode | undefined>(
    (node, part) =>
      node && child(node, node.kind === "list" && /^\d+$/.test(part) ? BigInt(part) : part),
    root,
  );
  if (shorter.length > 0 && node !== undefined && node.kind !== "map") return [shorter.join(".")];
  // A single name says too little to be looked for anywhere.
  for (let from = 1; from < parts.length - 1; from++) {
    const found = keysThatEndWith(root, parts.slice(from));
    if (found.length > 0) return found;
  }
  return [];
}

interface Named {
  readonly name: string;
  /** Absent for a key that the type of the map has but no config has set. */
  readonly value?: ConfigNode;
}

/** What a key of a map can name. */
function namedIn({ entries, type }: MapNode): readonly Named[] {
  const present = [...entries.values()].map(({ key, value }) => ({ name: String(key), value }));
  const declared = type?.kind === "object" ? [...type.fields.keys()] : [];
  return [...present, ...declared.filter((name) => !entries.has(name)).map((name) => ({ name }))];
}

function suggest(node: MapNode, parts: readonly string[], index: number, widest: number) {
  const prefix = parts.slice(0, index);
  const meant = keyMeant(node, parts.slice(index), widest);
  return {
    available: namedIn(node).map(({ name }) => [...prefix, name].join(".")),
    ...(meant !== undefined && { nearest: [...prefix, ...meant].join(".") }),
  };
}

/** The likely key below `node` for `parts`, each of which may be misspelt. */
function keyMeant(
  node: MapNode,
  parts: readonly string[],
  widest: number,
): readonly string[] | undefined {
  if (node.entries.size > widest) return undefined;
  const [part = "", ...rest] = parts;
  const named = namedIn(node).filter(
    // A scalar has no keys below it that could match the rest.
    ({ name, value }) =>
      canBeNamed(name) && (rest.length === 0 || (value !== undefined && value.kind !== "scalar")),
  );
  const near = nearestName(
    part,
    named.map(({ name }) => name),
  );
  if (near === undefined) return undefined;
  const value = named.find(({ name }) => name === near)?.value;
  // Items of lists have no names that could be similar.
  const below = rest.length === 0 || value?.kind !== "map" ? rest : keyMeant(value, rest, widest);
  return below && [near, ...below];
}

/** A key whose name contains separators cannot be suggested, since it would be split. */
const canBeNamed = (key: Key): boolean => !/[.[]/u.test(String(key));
