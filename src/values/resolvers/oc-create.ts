import { checkTree } from "../check-tree.ts";
import { pyTypeName } from "../python-text.ts";
import { createConfig } from "../reader.ts";
import { expectArguments } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

/**
 * `${oc.create:value}`: makes a map or list a part of the configuration, below the parent. A string
 * is read as YAML.
 */
export const ocCreate: Resolver = {
  name: "oc.create",
  pure: true,
  resolve(args, call) {
    expectArguments(args, { required: ["obj"] });
    const node = args[0]?.node;
    if (node?.kind === "map" || node?.kind === "list") return call.create(checkTree(node));
    if (node?.value === null) return null;
    if (typeof node?.value === "string")
      return call.create(createConfig(node.value, { limits: call.context.limits }));
    throw new TypeError(
      `Object of unsupported type: '${node === undefined ? "" : pyTypeName(node)}'`,
    );
  },
};
