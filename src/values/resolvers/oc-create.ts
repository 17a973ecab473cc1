import { pyTypeName } from "../python-text.ts";
import { expectCount } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

/** `${oc.create:value}`: makes a map or list a part of the configuration, below the parent. */
export const ocCreate: Resolver = {
  name: "oc.create",
  pure: true,
  resolve(args, call) {
    expectCount("oc.create", args, 1, 1);
    const node = args[0]?.node;
    if (node === undefined || node.kind === "scalar")
      throw new TypeError(
        `oc.create: Object of unsupported type: '${node === undefined ? "" : pyTypeName(node)}'`,
      );
    return call.create(node);
  },
};
