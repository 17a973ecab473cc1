import { spend } from "./budget.ts";
import { refuseDepth } from "./depth.ts";
import { isConfigError } from "./errors.ts";
import type { ResolveContext } from "./interpolation/context.ts";
import { createResolution } from "./interpolation/create-resolution.ts";
import { cycleError } from "./interpolation/resolution.ts";
import type { ConfigNode, Key } from "./node.ts";
import { isMissing } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";

/**
 * `OmegaConf.missing_keys`: the full keys of all missing values, those below interpolations to maps
 * and lists included, under the key where they really stand.
 * @throws ConfigError of an interpolation that cannot be resolved, `limit.values`
 */
export function missingKeys(root: ConfigNode, context: ResolveContext): ReadonlySet<string> {
  const resolution = createResolution(root, context);
  const keys = new Set<string>();
  const done = new Set<Place>();
  const open = new Set<Place>();
  gather(resolution.root);
  return keys;

  function gather(place: Place): void {
    if (done.has(place)) return;
    refuseDepth(open.size, place.node);
    open.add(place);
    const before = resolution.impureCalls();
    for (const key of keysOf(place)) {
      const below = resolution.places.child(place, key);
      if (below === undefined) continue;
      if (isMissing(below.node)) keys.add(fullKeyOf(below));
      else {
        const target = follow(below);
        if (open.has(target)) throw cycleError(below, "Recursive interpolation detected");
        gather(target);
      }
    }
    open.delete(place);
    // What an impure resolver gave is asked for by each reference to what is around it, as everywhere.
    if (resolution.impureCalls() === before) done.add(place);
    else spend(resolution.budget, { values: 1, characters: 0 }, place);
  }

  function follow(place: Place): Place {
    try {
      return resolution.dereference(place);
    } catch (error) {
      throw isConfigError(error) ? error.askedFor(fullKeyOf(place)) : error;
    }
  }
}

function keysOf({ node, result }: Place): readonly Key[] {
  if (result === true) return [];
  if (node.kind === "map") return [...node.entries.values()].map((entry) => entry.key);
  return node.kind === "list" ? node.items.map((_, index) => BigInt(index)) : [];
}
