import type { MapNode } from "../../values/node.ts";
import { resolverList } from "../../values/resolution/context.ts";
import type { Resolver } from "../../values/resolution/resolver.ts";
import { hydraResolver } from "./hydra.ts";
import { nowResolver } from "./now.ts";
import { pythonVersionResolver } from "./python-version.ts";

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
