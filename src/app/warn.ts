import type { CompositionWarning } from "../compose/index.ts";
import type { Invocation } from "./invocation.ts";

/** Tells the user what a composition noticed, as Python shows Hydra's warnings. */
export function warn(warnings: readonly CompositionWarning[], { console }: Invocation): void {
  for (const { message } of warnings) console.stderr(`UserWarning: ${message}\n`);
}
