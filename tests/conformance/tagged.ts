import {
  type ConfigNode,
  type Key,
  list,
  map,
  type ScalarValue,
  scalar,
} from "../../src/engine/values/node.ts";
import { type CodeOrigin, fromCode } from "../../src/engine/values/origin.ts";
import { floatRepr, parsePythonFloat } from "../../src/engine/values/python-text.ts";

/** The corpus' notation for a value in its exact type (README there, "Tagged values"). */
export type Tagged = TaggedScalar | TaggedList | TaggedDict;

export interface TaggedList {
  readonly t: "list" | "tuple";
  readonly v: readonly Tagged[];
}

export interface TaggedDict {
  readonly t: "dict";
  readonly v: readonly (readonly [Tagged, Tagged])[];
}

export type TaggedScalar =
  | { readonly t: "null" }
  | { readonly t: "bool"; readonly v: boolean }
  | { readonly t: "int" | "float" | "str" | "bytes" | "path"; readonly v: string };

const ORIGIN: CodeOrigin = fromCode("corpus");

export function toTagged(node: ConfigNode): Tagged {
  if (node.kind === "scalar") return scalarToTagged(node.value);
  if (node.kind === "list")
    return { t: node.tuple === true ? "tuple" : "list", v: node.items.map(toTagged) };
  return {
    t: "dict",
    v: [...node.entries.values()].map(({ key, value }) => [scalarToTagged(key), toTagged(value)]),
  };
}

export function scalarToTagged(value: ScalarValue): TaggedScalar {
  if (value === null) return { t: "null" };
  switch (typeof value) {
    case "boolean":
      return { t: "bool", v: value };
    case "bigint":
      return { t: "int", v: String(value) };
    case "number":
      return { t: "float", v: floatRepr(value) };
    case "string":
      return { t: "str", v: value };
    default:
      return value instanceof Uint8Array
        ? { t: "bytes", v: Buffer.from(value).toString("base64") }
        : { t: "path", v: value.path };
  }
}

/** The inverse of `toTagged`. The nodes' origin is code. Throws on anything that is not tagged. */
export function fromTagged(tagged: unknown): ConfigNode {
  if (!isTaggedShape(tagged)) throw new Error(`not a tagged value: ${JSON.stringify(tagged)}`);
  if (tagged.t === "list" && Array.isArray(tagged.v)) return list(tagged.v.map(fromTagged), ORIGIN);
  if (tagged.t === "tuple" && Array.isArray(tagged.v))
    return { ...list(tagged.v.map(fromTagged), ORIGIN), tuple: true };
  if (tagged.t === "dict" && Array.isArray(tagged.v))
    return map(
      tagged.v.map(([key, value]: [unknown, unknown]) => [toKey(key), fromTagged(value)] as const),
      ORIGIN,
    );
  return scalar(taggedToScalar(tagged), ORIGIN);
}

function toKey(tagged: unknown): Key {
  const node = fromTagged(tagged);
  if (node.kind === "scalar" && !isPath(node.value)) return node.value;
  throw new Error(`not a key: ${JSON.stringify(tagged)}`);
}

const isPath = (value: ScalarValue): value is { readonly path: string } =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array);

function taggedToScalar({ t, v }: TaggedShape): ScalarValue {
  if (t === "null") return null;
  if (t === "bool" && typeof v === "boolean") return v;
  if (typeof v !== "string") throw new Error(`not a tagged scalar: ${JSON.stringify({ t, v })}`);
  switch (t) {
    case "int":
      return BigInt(v);
    case "float": {
      const number = parsePythonFloat(v);
      if (number === null) throw new Error(`not a float: ${v}`);
      return number;
    }
    case "str":
      return v;
    case "bytes":
      return new Uint8Array(Buffer.from(v, "base64"));
    case "path":
      return { path: v };
    default:
      throw new Error(`unknown tag ${t}`);
  }
}

interface TaggedShape {
  readonly t: string;
  readonly v?: unknown;
}

function isTaggedShape(value: unknown): value is TaggedShape {
  return typeof value === "object" && value !== null && "t" in value && typeof value.t === "string";
}
