import type { ResolveContext } from "./interpolation/context.ts";
import { createResolveContext } from "./interpolation/context.ts";
import type { ConfigNode } from "./node.ts";
import { map, scalar } from "./node.ts";
import type { OverrideOrigin } from "./origin.ts";
import { fromCode } from "./origin.ts";
import { readYamlValue } from "./reader.ts";
import { updateNode } from "./update.ts";

/**
 * `OmegaConf.from_dotlist`: a map of `key=value` texts, whose values are YAML (not the language of
 * overrides). A text without `=` sets null.
 * @throws ConfigError of the YAML reader, or as `updateNode`
 */
export const fromDotlist = (dotlist: readonly string[]): ConfigNode =>
  mergeDotlist(map([], fromCode("dotlist")), dotlist);

/**
 * `merge_with_dotlist`: the root with each of the texts applied to it, in order.
 * @throws ConfigError as `fromDotlist`
 */
export function mergeDotlist(
  root: ConfigNode,
  dotlist: readonly string[],
  context: ResolveContext = createResolveContext(),
): ConfigNode {
  let target = root;
  const copies = new Set<ConfigNode>();
  for (const [index, text] of dotlist.entries()) {
    const separator = text.indexOf("=");
    const key = separator < 0 ? text : text.slice(0, separator);
    const origin: OverrideOrigin = { kind: "override", text, index };
    const value = separator < 0 ? scalar(null, origin) : readYamlValue(text.slice(separator + 1));
    target = updateNode(target, key, { ...value, origin }, {}, context, copies);
  }
  return target;
}
