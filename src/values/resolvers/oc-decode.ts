import { pyStr, pyTypeName } from "../python-text.ts";
import { expectCount } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

/**
 * `${oc.decode:text}`: the text evaluated by the grammar of resolver arguments, so that `"1"` is an
 * int and `"[${a}]"` a list. Null stays null.
 */
export const ocDecode: Resolver = {
  name: "oc.decode",
  pure: true,
  resolve(args, call) {
    expectCount("oc.decode", args, 1, 1);
    const node = args[0]?.node;
    if (node?.kind === "scalar") {
      if (node.value === null) return null;
      if (typeof node.value === "string") return call.evaluate(node.value);
    }
    const found = node === undefined ? "" : `'${pyStr(node)}' is of type ${pyTypeName(node)}`;
    throw new TypeError(`oc.decode can only take strings or null as input, but ${found}`);
  },
};
