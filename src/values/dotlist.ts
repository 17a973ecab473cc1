import { createBudget } from "./budget.ts";
import { createCopies } from "./draft.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { createResolveContext } from "./interpolation/context.ts";
import type { Limits } from "./limits.ts";
import type { ConfigNode, ContainerNode } from "./node.ts";
import { map } from "./node.ts";
import type { OverrideOrigin } from "./origin.ts";
import { fromCode } from "./origin.ts";
import { readConstructed } from "./reader.ts";
import { updateNode } from "./update.ts";

/**
 * `OmegaConf.from_dotlist`: a map of `key=value` texts, whose values are YAML (not the language of
 * overrides). A text without `=` sets null.
 * @throws ConfigError of the YAML reader, or as `updateNode`
 */
export const fromDotlist = (dotlist: readonly string[]): ContainerNode =>
  mergeDotlist(map([], fromCode("dotlist")), dotlist);

/**
 * `merge_with_dotlist`: the root with each of the texts applied to it, in order.
 * @throws ConfigError as `fromDotlist`
 */
export function mergeDotlist(
  root: ContainerNode,
  dotlist: readonly string[],
  context?: ResolveContext,
): ContainerNode;
export function mergeDotlist(
  root: ConfigNode,
  dotlist: readonly string[],
  context?: ResolveContext,
): ConfigNode;
export function mergeDotlist(
  root: ConfigNode,
  dotlist: readonly string[],
  context: ResolveContext = createResolveContext(),
): ConfigNode {
  let target = root;
  const copies = createCopies(createBudget(context.limits));
  for (const [index, text] of dotlist.entries()) {
    const separator = text.indexOf("=");
    const key = separator < 0 ? text : text.slice(0, separator);
    const origin: OverrideOrigin = { kind: "override", text, index };
    const { value, foreign } = readValue(
      separator < 0 ? "" : text.slice(separator + 1),
      origin,
      context.limits,
    );
    target = updateNode(target, key, value, { foreign, plain: true }, context, copies);
  }
  return target;
}

/** The value with the text as its origin. What has no place in a config is for the update to refuse. */
function readValue(text: string, origin: OverrideOrigin, limits: Limits) {
  const { root, foreign } = readConstructed(text, limits);
  const value = { ...root, origin };
  const typeName = foreign.get(root);
  return { value, foreign: typeName === undefined ? foreign : new Map([[value, typeName]]) };
}
