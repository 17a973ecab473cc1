import { pyStr, pyTypeName } from "../python-text.ts";
import type { ResolverArgument } from "./resolver.ts";

/** Refuses a call with too few or too many arguments. The bounds are inclusive. */
export function expectCount(
  name: string,
  args: readonly ResolverArgument[],
  least: number,
  most: number,
): void {
  if (args.length >= least && args.length <= most) return;
  const wanted = least === most ? `${least}` : `${least} to ${most}`;
  throw new TypeError(`${name} takes ${wanted} argument(s), but ${args.length} were given`);
}

/** The argument as a string; anything else is refused. `what` says what it is for. */
export function expectText(name: string, what: string, arg: ResolverArgument | undefined): string {
  const node = arg?.node;
  if (node?.kind === "scalar" && typeof node.value === "string") return node.value;
  const found = node === undefined ? "nothing" : `'${pyStr(node)}' of type ${pyTypeName(node)}`;
  throw new TypeError(`${name}: ${what} is not a string, but ${found}`);
}
