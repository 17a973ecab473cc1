import type { ConfigNode, ContainerNode, NodeFlags } from "./node.ts";
import type { Place } from "./place.ts";

/** A flag as it holds at a place: its own, else that of the nearest node above that sets it. */
export function flagAt(place: Place, flag: keyof NodeFlags): boolean {
  for (let at: Place | null = place; at !== null; at = at.parent) {
    const own = at.node.flags?.[flag];
    if (own !== undefined) return own;
  }
  return false;
}

/** Flags to set, or to unset where `undefined` is given. */
export type FlagChanges = { readonly [Flag in keyof NodeFlags]?: boolean | undefined };

/** The node with flags set, or unset (`undefined`); those not named stay as they are. */
export function withFlags(node: ContainerNode, flags: FlagChanges): ContainerNode;
export function withFlags(node: ConfigNode, flags: FlagChanges): ConfigNode;
export function withFlags(node: ConfigNode, flags: FlagChanges): ConfigNode {
  const merged = { ...node.flags, ...flags };
  const { flags: _, ...rest } = node;
  const set: { struct?: boolean; readonly?: boolean } = {};
  if (merged.struct !== undefined) set.struct = merged.struct;
  if (merged.readonly !== undefined) set.readonly = merged.readonly;
  return Object.keys(set).length === 0 ? rest : { ...rest, flags: set };
}
