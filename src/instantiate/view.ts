import { type ConfigNode, isNode } from "../values/node.ts";

/** Where a read-only container keeps the config that it shows. */
const NODE = Symbol("hydraconf.config");

/**
 * Freezes a new array or object that shows a part of a config: what Hydra passes as a `DictConfig`
 * or `ListConfig`. It remembers that part, unless something in it has been instantiated.
 */
export function asView<Container extends object>(
  container: Container,
  node: ConfigNode,
): Container {
  return showing(container, node, isAllConfig(node));
}

/** As `asView`, of a part in which nothing has been instantiated: its targets are config, too. */
export function asUntouchedView<Container extends object>(
  container: Container,
  node: ConfigNode,
): Container {
  return showing(container, node, isAllConfig(node, true));
}

function showing<Container extends object>(
  container: Container,
  node: ConfigNode,
  isAll: boolean,
): Container {
  if (isAll) Object.defineProperty(container, NODE, { value: node });
  return Object.freeze(container);
}

function isAllConfig(node: ConfigNode, withTargets = false): boolean {
  if (node.kind === "scalar") return !("foreign" in node);
  if (node.kind === "list") return node.items.every((item) => isAllConfig(item, withTargets));
  if (!withTargets && node.entries.has("_target_")) return false;
  return [...node.entries.values()].every(({ value }) => isAllConfig(value, withTargets));
}

/**
 * The config that a value was made from, with exact types and origins: a node itself, or a map or
 * list that a target got with `_convert_: none`. Undefined for anything else.
 */
export function nodeOf(value: unknown): ConfigNode | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const own = (value as { readonly [NODE]?: ConfigNode })[NODE];
  if (own !== undefined) return own;
  return isNode(value) ? value : undefined;
}
