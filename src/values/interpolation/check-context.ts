import { wrongArgument } from "../check-arguments.ts";
import type { OptionCheck } from "../check-options.ts";

/** An option that is a context: a config, which has one, is often taken for it. */
export const resolveContext: OptionCheck = (by, name, value) => {
  const isContext =
    typeof value === "object" && value !== null && "resolvers" in value && "cache" in value;
  if (isContext) return;
  const hint = "pass the 'context' of a composed config";
  throw wrongArgument(by, name, "the context of a composed config", value, hint);
};
