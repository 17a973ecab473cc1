import { plural } from "../../text/plural.ts";
import { pyStr, pyTypeName } from "../python-text.ts";
import type { ResolverArgument } from "./resolver.ts";

/** The parameters of a resolver, in order; the optional ones come last. */
export interface Parameters {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
}

/** Refuses a call with too few or too many arguments. */
export function expectArguments(args: readonly ResolverArgument[], parameters: Parameters): void {
  const { required, optional = [] } = parameters;
  const missing = required.slice(args.length).map((name) => `'${name}'`);
  if (missing.length > 0) throw new TypeError(`missing argument ${missing.join(", ")}`);
  const most = required.length + optional.length;
  if (args.length > most)
    throw new TypeError(
      `${plural(args.length, "argument was", "arguments were")} given, but at most ${most} are allowed`,
    );
}

/** The argument as a string; anything else is refused. `what` says what it is for. */
export function expectText(what: string, arg: ResolverArgument | undefined): string {
  const node = arg?.node;
  if (node?.kind === "scalar" && typeof node.value === "string") return node.value;
  const found = node === undefined ? "absent" : `'${pyStr(node)}' (${pyTypeName(node)})`;
  throw new TypeError(`${what} is not a string, but ${found}`);
}
