import type { Invocation } from "../process/invocation.ts";

/** Warns the user as Python shows Hydra's warnings. */
export const warnOf = (message: string, { console }: Pick<Invocation, "console">): void =>
  console.stderr(`UserWarning: ${message}\n`);
