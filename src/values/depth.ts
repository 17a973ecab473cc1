import { ConfigError } from "./errors.ts";
import { type ConfigNode, MAX_TREE_DEPTH } from "./node.ts";

/**
 * How deep a pass goes into a tree that something was put into after it was read. Trees made by
 * hand have no limit, and a pass must refuse them before the stack is exhausted.
 */
export const MAX_PASS_DEPTH = MAX_TREE_DEPTH + 100;

/**
 * @param depth of the node below the root that the pass began at, from 0
 * @throws ConfigError `yaml.depth_limit`
 */
export function refuseDepth(depth: number, node: ConfigNode, limit = MAX_PASS_DEPTH): void {
  if (depth <= limit) return;
  throw new ConfigError({
    code: "yaml.depth_limit",
    message: `the tree is nested more than ${limit} levels deep`,
    origin: node.origin,
  });
}
