import type { ConfigNode, MapNode } from "../values/node.ts";

/**
 * What a config looks like when a defaults list includes it again, after it was merged at the root.
 *
 * Hydra puts the maps and lists of such a config into the result without copying them, and later
 * merges change them in place. Where the same config is included a second time, it therefore
 * brings what has become of them. Scalars are replaced, never changed, and so keep their value;
 * a config that was merged under a package was copied and is not affected.
 *
 * @param node the config as it was loaded.
 * @param before the composed tree when the config was first merged at the root.
 * @param now the composed tree when it is included again.
 */
export function sharedContent(
  node: ConfigNode,
  before: ConfigNode | undefined,
  now: ConfigNode | undefined,
): ConfigNode {
  if (node.kind !== "map" || now?.kind !== "map") return node;
  const entries = new Map(node.entries);
  for (const [id, entry] of node.entries) {
    const value = sharedChild(entry.value, entryOf(before, id), now.entries.get(id)?.value);
    if (value !== entry.value) entries.set(id, { ...entry, value });
  }
  return { ...node, entries };
}

function sharedChild(
  own: ConfigNode,
  before: ConfigNode | undefined,
  now: ConfigNode | undefined,
): ConfigNode {
  if (own.kind === "scalar" || now === undefined) return own;
  // There was a map already: it stayed, and only what was new in it is shared.
  if (before?.kind === own.kind) return sharedContent(own, before, now);
  return now.kind === own.kind ? now : own;
}

const entryOf = (
  node: ConfigNode | undefined,
  id: Parameters<MapNode["entries"]["get"]>[0],
): ConfigNode | undefined => (node?.kind === "map" ? node.entries.get(id)?.value : undefined);
