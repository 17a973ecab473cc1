import { ConfigError } from "../../values/errors.ts";
import type { ConfigNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";
import type { Resolver } from "../../values/resolvers/resolver.ts";
import { selectNode } from "../../values/select.ts";

/**
 * `${hydra:runtime.cwd}`: a value of the `hydra` node, from wherever it is used. What is absent or
 * still missing there (`runtime.output_dir` before the job has one) is null, as in Hydra.
 *
 * @param read the composed tree with its `hydra` node, or undefined while it is being composed
 */
export function hydraResolver(read: () => ConfigNode | undefined): Resolver {
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
        throw new ConfigError({ code: "resolver.failed", message: "HydraConfig was not set" });
      return selectNode(root, `hydra.${pyStr(path.node)}`, call.context) ?? null;
    },
  };
}
