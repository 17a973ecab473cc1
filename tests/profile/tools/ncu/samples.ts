import { join } from "node:path";
import { sharedOrSkip } from "../../../shared.ts";

/** The recordings of Nsight; null after saying what is skipped without them. */
export function samplesOrSkip(what: string): ((name: string) => string) | null {
  const shared = sharedOrSkip(what);
  return shared === null ? null : (name) => join(shared, "samples/nsight", name);
}
