import { isMissing } from "../node.ts";
import { expectArguments, expectText } from "./arguments.ts";
import type { Resolver } from "./resolver.ts";

/**
 * `${oc.select:key}` or `${oc.select:key,default}`: as `${key}`, but a key that is absent or missing
 * gives the default (null without one) instead of an error.
 */
export const ocSelect: Resolver = {
  name: "oc.select",
  pure: true,
  resolve(args, call) {
    expectArguments(args, { required: ["key"], optional: ["default"] });
    const found = call.select(expectText("the key", args[0]));
    return found === undefined || isMissing(found.node) ? (args[1] ?? null) : found;
  },
};
