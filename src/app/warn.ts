import type { CompositionWarning } from "../compose/index.ts";
import type { Invocation } from "./invocation.ts";

/** Tells the user what a composition noticed, as Python shows Hydra's warnings. */
export function warn(warnings: readonly CompositionWarning[], invocation: Invocation): void {
  for (const { message } of warnings) warnOf(message, invocation);
}

export const warnOf = (message: string, { console }: Pick<Invocation, "console">): void =>
  console.stderr(`UserWarning: ${message}\n`);
