import type { ConfigNode } from "../values/node.ts";
import { keyText } from "./json-document.ts";

/** The JSON pointer (RFC 6901) with these parts. */
export const pointerTo = (tokens: readonly (string | number)[]): string =>
  tokens.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** The parts of a JSON pointer: `/a~1b/0` -> `["a/b", "0"]`. */
export function pointerTokens(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The node at a path of texts, and the dotted key people type for it (`db.hosts[0]`). Stops at the
 * deepest node that exists: the place to point at for what is missing below it.
 */
export function nodeAt(
  root: ConfigNode,
  tokens: readonly string[],
): { readonly node: ConfigNode; readonly key: string } {
  let node = root;
  let key = "";
  for (const token of tokens) {
    const next = childByText(node, token);
    if (next === undefined) break;
    key = node.kind === "list" ? `${key}[${token}]` : joinKey(key, token);
    node = next;
  }
  return { node, key };
}

export const joinKey = (parent: string, name: string): string =>
  parent === "" ? name : `${parent}.${name}`;

function childByText(node: ConfigNode, token: string): ConfigNode | undefined {
  if (node.kind === "list") return node.items[Number(token)];
  if (node.kind === "scalar") return undefined;
  const direct = node.entries.get(token);
  if (direct !== undefined) return direct.value;
  for (const entry of node.entries.values()) if (keyText(entry.key) === token) return entry.value;
  return undefined;
}
