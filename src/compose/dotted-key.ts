import type { Override } from "../overrides/ast.ts";
import { splitKey } from "../values/key-path.ts";
import { type ConfigNode, child } from "../values/node.ts";

/**
 * What to do instead of an override that means a key with a dot in it: the dot divides keys in an override, and no
 * quotes keep them together. As the key of a dict it is one: `loggers.db.pool.level=INFO` is
 * `loggers={db.pool:{level:INFO}}`. Undefined if no such key is meant.
 */
export function dottedKeyHint(
  root: ConfigNode,
  { keyOrGroup, origin }: Override,
): string | undefined {
  const parts = splitKey(keyOrGroup);
  let node: ConfigNode | undefined = root;
  for (let at = 0; node?.kind === "map" && at < parts.length; at++) {
    const rest = parts.slice(at);
    const key = longest(
      dottedKeys(node).filter((name) => `${rest.join(".")}.`.startsWith(`${name}.`)),
    );
    if (key !== undefined) {
      const below = rest.slice(key.split(".").length);
      const parent = parts.slice(0, at).join(".");
      return hint(key, asDict(parent, [key, ...below], origin.text.slice(keyOrGroup.length + 1)));
    }
    node = child(node, parts[at] ?? "");
  }
  return undefined;
}

const dottedKeys = ({ entries }: ConfigNode & { readonly kind: "map" }): readonly string[] =>
  [...entries.values()].map(({ key }) => String(key)).filter((name) => name.includes("."));

const longest = (names: readonly string[]): string | undefined =>
  names.toSorted((a, b) => b.length - a.length)[0];

const hint = (key: string, override: string | undefined): string => {
  const remedy =
    override === undefined ? "set it in a config file" : `use ${override}, or a config file`;
  return `'${key}' is a single key, but in an override its dot separates keys: ${remedy}`;
};

/** Undefined if the grammar has no way to write it: the whole config has no key, and dicts quote none. */
function asDict(parent: string, path: readonly string[], value: string): string | undefined {
  if (parent === "" || !path.every((name) => UNQUOTED.test(name))) return undefined;
  return `${parent}=${path.reduceRight((inner, name) => `{${name}:${inner}}`, value)}`;
}

const UNQUOTED = /^[\w.-]+$/;
