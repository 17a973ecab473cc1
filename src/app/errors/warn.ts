import type { Invocation } from "../process/invocation.ts";

/** Warns the user as Python shows Hydra's warnings. */
export const warnOf = (message: string, { console }: Pick<Invocation, "console">): void =>
  console.stderr(`UserWarning: ${message}\n`);

/** Passes each message on once, however many jobs it concerns. */
export function eachOnce(tell: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (!told.has(message)) tell(message);
    told.add(message);
  };
}
