/** Nodes and plain data that resolve interpolations when they are read, as OmegaConf's containers do. */
import { isConfigError } from "../errors.ts";
import { isInterpolationNode } from "../interpolation/parser.ts";
import { spend } from "../limits.ts";
import type { ConfigNode, Key, KeyId, MapEntry, MapNode } from "../node.ts";
import { fullKeyOf, type Place } from "../place.ts";
import { type PlainValue, recordOf, toObject } from "../plain-objects.ts";
import type { Resolution } from "./resolution.ts";

/**
 * The node at a place that an interpolation does not stand at, with values below it that are resolved when they are read. What
 * cannot be resolved is refused then, and not before.
 */
export function lazyNode(resolution: Resolution, place: Place): ConfigNode {
  const { node } = place;
  if (node.kind === "scalar" || !isOpen(place)) return node;
  if (node.kind === "list") {
    const items = node.items.map(
      (item, index) => () => nodeOf(resolution, place, BigInt(index), item),
    );
    return { ...node, items: lazyItems(resolution, items) };
  }
  const entries = new Map<KeyId, MapEntry>();
  for (const [id, { key, value }] of node.entries)
    entries.set(
      id,
      lazily({ key }, "value", resolution, () => nodeOf(resolution, place, key, value)),
    );
  return { ...node, entries };
}

/** The same as plain data: an object or array whose properties are resolved when they are read. */
export function lazyObject(
  resolution: Resolution,
  place: Place,
  read: (key: readonly Key[], node: ConfigNode) => void,
  path: readonly Key[] = [],
): PlainValue {
  const { node } = place;
  if (node.kind === "scalar" || !isOpen(place)) return toObject(node);
  const valueAt = (key: Key, written: ConfigNode) => (): PlainValue => {
    const below = targetOf(resolution, place, key);
    if (below === undefined) return toObject(written);
    const there = [...path, key];
    if (below.node !== written) read(there, below.node);
    return lazyObject(resolution, below, read, there);
  };
  if (node.kind === "list") {
    const items = node.items.map((item, index) => valueAt(BigInt(index), item));
    const array = lazyItems(resolution, items);
    return printable(array, () => items.map((item, index) => shown(item, node.items[index])));
  }
  const entries = [...node.entries.values()];
  const view: Record<string, PlainValue> = recordOf(entries.map(({ key }) => [key, null]));
  for (const { key, value } of entries) {
    const [name = ""] = Object.keys(recordOf([[key, null]]));
    lazily(view, name, resolution, valueAt(key, value));
  }
  return printable(view, () =>
    recordOf(entries.map(({ key, value }) => [key, shown(valueAt(key, value), value)])),
  );
}

/** `console.log` shows values, where it would show that there are getters. */
const printable = <T extends object>(view: T, show: () => PlainValue): T =>
  Object.defineProperty(view, Symbol.for("nodejs.util.inspect.custom"), {
    value: show,
    enumerable: false,
  });

/** A value that cannot be resolved is shown as it is written. */
function shown(compute: () => PlainValue, written: ConfigNode | undefined): PlainValue {
  try {
    return compute();
  } catch {
    return written === undefined ? null : toObject(written);
  }
}

/** Whether something at the place is left to resolve. What a resolver gave is not looked into. */
const isOpen = ({ node, result }: Place): boolean => result !== true && holdsInterpolation(node);

function holdsInterpolation(node: ConfigNode): boolean {
  if (node.kind === "list") return node.items.some(holdsInterpolation);
  if (node.kind === "map") return someValue(node, holdsInterpolation);
  return isInterpolationNode(node);
}

function someValue({ entries }: MapNode, test: (node: ConfigNode) => boolean): boolean {
  for (const { value } of entries.values()) if (test(value)) return true;
  return false;
}

function nodeOf(resolution: Resolution, place: Place, key: Key, written: ConfigNode): ConfigNode {
  const target = targetOf(resolution, place, key);
  if (target === undefined) return written;
  const node = lazyNode(resolution, target);
  return target.node === written ? node : { ...node, replaced: written };
}

/** Where the value of a key stands in the end. What a reference adds to what is written counts each time: it is read anew. */
function targetOf(resolution: Resolution, place: Place, key: Key): Place | undefined {
  const below = resolution.places.child(place, key);
  if (below === undefined) return undefined;
  try {
    const target = resolution.dereference(below);
    if (target !== below) spend(resolution.budget, { values: 1, characters: 0 }, below);
    return target;
  } catch (error) {
    throw isConfigError(error) ? error.askedFor(fullKeyOf(below)) : error;
  }
}

/** An array of what the functions give; `map` and the like read one item after the other. */
function lazyItems<T>(resolution: Resolution, items: readonly (() => T)[]): readonly T[] {
  const array: T[] = [];
  for (const [index, item] of items.entries()) lazily(array, index, resolution, item);
  return array;
}

/** Defines a property that is computed when it is read, and once unless a resolver may say something else the next time. */
function lazily<Owner extends object, Name extends string | number, T>(
  owner: Owner,
  name: Name,
  { impureCalls }: Resolution,
  compute: () => T,
): Owner & { readonly [name in Name]: T } {
  const get = (): T => {
    const before = impureCalls();
    const value = compute();
    if (impureCalls() === before)
      Object.defineProperty(owner, name, { value, enumerable: true, configurable: true });
    return value;
  };
  Object.defineProperty(owner, name, { get, enumerable: true, configurable: true });
  return owner as Owner & { readonly [name in Name]: T };
}
