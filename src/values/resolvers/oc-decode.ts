import { pyStr, pyTypeName } from "../python-text.ts";
import { expectArguments } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

/**
 * `${oc.decode:text}`: the text evaluated by the grammar of resolver arguments, so that `"1"` is an
 * int and `"[${a}]"` a list. Null stays null.
 */
export const ocDecode: Resolver = {
  name: "oc.decode",
  pure: true,
  resolve(args, call) {
    expectArguments(args, { required: ["expr"] });
    const node = args[0]?.node;
    if (node?.kind === "scalar") {
      if (node.value === null) return null;
      if (typeof node.value === "string") return call.evaluate(node.value);
    }
    const found = node === undefined ? "" : `'${pyStr(node)}' is of type ${pyTypeName(node)}`;
    throw new TypeError(`can only take strings or null as input, but ${found}`);
  },
};
