import type { Draft } from "./draft.ts";
import { withFlags } from "./flags.ts";
import type { NodeFlags } from "./node.ts";

/** Makes a change with `struct` off at this one node: what is below it has the flag again that it sets or inherits. */
export function withoutStruct(at: Draft, change: () => void): void {
  const before = at.node.flags;
  setFlags(at, withFlags(at.node, { struct: false }).flags);
  change();
  setFlags(at, withFlags(at.node, { struct: before?.struct }).flags);
}

function setFlags(at: Draft, flags: NodeFlags | undefined): void {
  if (flags === undefined) delete at.node.flags;
  else at.node.flags = flags;
}
