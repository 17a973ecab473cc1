/** Hydra's resolvers: `hydra`, `now` and `python_version`. */

import { strftime } from "../text/date-time.ts";
import { ConfigError } from "../values/errors.ts";
import { type ConfigNode, isMissing, type MapNode } from "../values/node.ts";
import { withFlags } from "../values/place.ts";
import { pyStr } from "../values/python-text.ts";
import { resolverList } from "../values/resolution/context.ts";
import type { Resolver } from "../values/resolution/resolver.ts";

/**
 * The resolvers that Hydra itself registers, and a program's own, which may replace them.
 *
 * @param program the time that `now` tells, and the tree that `hydra` reads
 */
export function withHydraResolvers(
  own: Iterable<Resolver> | undefined,
  program: { readonly now: Date; readonly root: () => MapNode | undefined },
): readonly Resolver[] {
  const given = resolverList(own);
  const taken = new Set(given.map(({ name }) => name));
  const standard = [nowResolver(program.now), pythonVersionResolver, hydraResolver(program.root)];
  return [...standard.filter(({ name }) => !taken.has(name)), ...given];
}

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

/**
 * `${now:%Y-%m-%d}`: the time of the run, in the patterns of Python's strftime. One run has one
 * time: two directories named by it are the same directory.
 */
export function nowResolver(time: Date): Resolver {
  return {
    name: "now",
    useCache: true,
    pure: true,
    resolve: (args) => {
      const [pattern] = args;
      if (pattern === undefined || args.length !== 1)
        throw new ConfigError({
          code: "resolver.failed",
          message: "now takes one argument, a pattern such as %Y-%m-%d",
        });
      return strftime(pyStr(pattern.node), time);
    },
  };
}

/**
 * The Python whose behaviour this dialect has. There is no Python to ask here, and a tree that
 * tells versions apart must compose the same on every machine.
 */
const VERSIONS: ReadonlyMap<string, string> = new Map([
  ["major", "3"],
  ["minor", "3.11"],
  ["micro", "3.11.2"],
]);

/** `${python_version:}`, `${python_version:micro}`; null for other levels, as in Hydra. */
export const pythonVersionResolver: Resolver = {
  name: "python_version",
  pure: true,
  resolve: (args) => {
    if (args.length > 1)
      throw new ConfigError({
        code: "resolver.failed",
        message: "python_version takes one argument: major, minor or micro",
      });
    const [level] = args;
    return VERSIONS.get(level === undefined ? "minor" : pyStr(level.node)) ?? null;
  },
};
