import { ConfigError } from "../errors.ts";
import type {
  ConfigNode,
  Key,
  KeyId,
  ListNode,
  MapEntry,
  MapNode,
  NodeType,
  ScalarNode,
} from "../node.ts";
import { keyId } from "../node.ts";
import type { Place } from "../place.ts";
import { below, fullKeyOf } from "../place.ts";
import { pyRepr, pyTypeName } from "../python-text.ts";
import { convertScalar, isExactly, isSpecial } from "./convert-scalar.ts";
import { describeBareType, typeRepr } from "./describe.ts";
import { enumOf } from "./type-of.ts";

/**
 * A map or list that becomes a typed one as it is, as OmegaConf takes what is put into a list or map of such: all in
 * it must fit, nothing is converted, and any map may stand in the place of an object. Missing values and
 * interpolations fit every type, names every enum that has them.
 * @throws ConfigError `value.wrong_type`, `key.invalid_type`
 */
export function fitNode(type: NodeType, node: ConfigNode, at: Place): ConfigNode {
  if (type.kind === "any") return node;
  if (node.kind === "scalar") return fitScalar(type, node, at);
  if (node.kind === "list" && type.kind === "list") return fitList(type, node, at);
  if (node.kind === "map" && type.kind === "map") return fitMap(type, node, at);
  if (node.kind === "map" && type.kind === "object") return node;
  throw misfit(`'${pyTypeName(node)}'`, typeRepr(type), node, at);
}

function fitScalar(type: NodeType, node: ScalarNode, at: Place): ScalarNode {
  const { value } = node;
  if (value === null || isSpecial(value) || type.kind === "enum")
    return convertScalar(type, node, at);
  if (isInstance(type, node)) return node.type === type ? node : { ...node, type };
  const isBare =
    type.kind !== "object" && type.kind !== "list" && type.kind !== "map" && type.kind !== "union";
  const hint = isBare ? describeBareType(type) : typeRepr(type);
  throw misfit(`Value ${pyRepr(node)} (${pyTypeName(node)})`, hint, node, at);
}

/** Python's `isinstance`: a bool is an int, and a member of an enum no text. */
const isInstance = (type: NodeType, node: ScalarNode): boolean =>
  enumOf(node) === undefined &&
  (isExactly(type, node.value) || (type.kind === "int" && typeof node.value === "boolean"));

function fitList(type: ListType, node: ListNode, at: Place): ListNode {
  const items = node.items.map((item, index) =>
    fitNode(type.element, item, below(at, node, item, BigInt(index))),
  );
  return { ...node, type, items };
}

/** An object stays one. */
function fitMap(type: MapType, node: MapNode, at: Place): MapNode {
  const entries = [...node.entries.values()].map(({ key, value }): [KeyId, MapEntry] => {
    const place = below(at, node, value, key);
    requireKey(type.key, key, place);
    return [keyId(key), { key, value: fitNode(type.element, value, place) }];
  });
  return node.type?.kind === "object" ? node : { ...node, type, entries: new Map(entries) };
}

type ListType = Extract<NodeType, { kind: "list" }>;
type MapType = Extract<NodeType, { kind: "map" }>;

function requireKey(type: NodeType, key: Key, at: Place): void {
  const isMember = type.kind === "enum" && typeof key === "string" && type.members.includes(key);
  if (isMember || isExactly(type, key) || (type.kind === "int" && typeof key === "boolean")) return;
  throw new ConfigError({
    code: "key.invalid_type",
    message: `Key ${pyRepr(key)} (${pyTypeName(key)}) is incompatible with key type hint '${describeBareType(type)}'`,
    key: fullKeyOf(at),
    origin: at.node.origin,
  });
}

const misfit = (what: string, hint: string, node: ConfigNode, at: Place) =>
  new ConfigError({
    code: "value.wrong_type",
    message: `${what} is incompatible with type hint '${hint}'`,
    key: fullKeyOf(at),
    origin: node.origin,
  });
