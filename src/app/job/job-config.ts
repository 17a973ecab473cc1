import { type PlainValue, toPlain } from "../../schema/plain.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import { resolveTree } from "../../values/interpolation/index.ts";
import type { ConfigNode } from "../../values/node.ts";
import { selectNode } from "../../values/select.ts";

/** The configuration a task gets: its own part of the tree, without the `hydra` node. */
export interface JobConfig {
  /** As composed, interpolations unresolved. */
  readonly tree: ConfigNode;
  /**
   * Everything resolved; worked out once, on first use.
   * @throws ConfigError of the first interpolation that cannot be resolved
   */
  resolved(): ConfigNode;
  /**
   * What stands at a dotted key, resolved; undefined when nothing does.
   * @throws ConfigError `value.missing`, or that of an interpolation
   */
  get(key: string): ConfigNode | undefined;
  /** Everything resolved, as plain values: ints and floats are numbers. */
  toObject(): PlainValue;
}

export function jobConfig(tree: ConfigNode, context: ResolveContext): JobConfig {
  let resolved: ConfigNode | undefined;
  const resolve = (): ConfigNode => {
    resolved ??= resolveTree(tree, context);
    return resolved;
  };
  return {
    tree,
    resolved: resolve,
    get: (key) => selectNode(tree, key, context, { throwOnMissing: true, deep: true }),
    toObject: () => toPlain(resolve()),
  };
}
