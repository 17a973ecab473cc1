import { ConfigError } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import { isMissing } from "../../values/node.ts";
import { withFlags } from "../../values/place.ts";
import { pyStr } from "../../values/python-text.ts";
import type { Resolver } from "../../values/resolution/resolver.ts";

/**
 * `${hydra:runtime.cwd}`: a value of the `hydra` node, from wherever it is used. A map or list of it
 * stays a part of that tree: its interpolations mean what they mean there. What is absent or still
 * missing (`runtime.output_dir` before the job has one) is null, as in Hydra.
 *
 * @param read the composed tree with its `hydra` node, or undefined while it is being composed
 */
export function hydraResolver(read: () => ConfigNode | undefined): Resolver {
  const locked = new WeakMap<ConfigNode, ConfigNode>();
  return {
    name: "hydra",
    resolve: (args, call) => {
      const [path] = args;
      if (path === undefined || args.length !== 1)
        throw new ConfigError({
          code: "resolver.failed",
          message: "hydra takes one argument, a key of the hydra node such as runtime.cwd",
        });
      const root = read();
      if (root === undefined)
        throw new ConfigError({
          code: "resolver.failed",
          message: "HydraConfig was not set",
          hint: "hydra: has values only in jobs of hydraMain, not in configs from compose()",
        });
      const tree = locked.get(root) ?? lockHydra(root);
      locked.set(root, tree);
      const found = call.selectIn(tree, ["hydra"], pyStr(path.node));
      return found === undefined || isMissing(found.node) ? null : found;
    },
  };
}

/** `HydraConfig` is read-only: not even `OmegaConf.resolve` may write to it. */
function lockHydra(root: ConfigNode): ConfigNode {
  const hydra = root.kind === "map" ? root.entries.get("hydra") : undefined;
  if (root.kind !== "map" || hydra === undefined) return root;
  const value = withFlags(hydra.value, { readonly: true });
  return { ...root, entries: new Map(root.entries).set("hydra", { ...hydra, value }) };
}
