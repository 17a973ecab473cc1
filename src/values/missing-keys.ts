import type { ResolveContext } from "./interpolation/context.ts";
import { createResolution } from "./interpolation/create-resolution.ts";
import type { ConfigNode, Key } from "./node.ts";
import { isMissing } from "./node.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";

/**
 * `OmegaConf.missing_keys`: the full keys of all missing values, those below interpolations to maps
 * and lists included, under the key where they really stand.
 * @throws ConfigError of an interpolation that cannot be resolved
 */
export function missingKeys(root: ConfigNode, context: ResolveContext): ReadonlySet<string> {
  const resolution = createResolution(root, context);
  const keys = new Set<string>();
  const seen = new Set<Place>();
  gather(resolution.root);
  return keys;

  function gather(place: Place): void {
    if (seen.has(place)) return;
    seen.add(place);
    for (const key of keysOf(place.node)) {
      const below = resolution.places.child(place, key);
      if (below === undefined) continue;
      if (isMissing(below.node)) keys.add(fullKeyOf(below));
      else gather(resolution.dereference(below));
    }
  }
}

function keysOf(node: ConfigNode): readonly Key[] {
  if (node.kind === "map") return [...node.entries.values()].map((entry) => entry.key);
  return node.kind === "list" ? node.items.map((_, index) => BigInt(index)) : [];
}
