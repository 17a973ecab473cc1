import { ConfigError } from "../../values/errors.ts";
import { pyStr } from "../../values/python-text.ts";
import type { Resolver } from "../../values/resolution/resolver.ts";
import { strftime } from "../python/strftime.ts";

/**
 * `${now:%Y-%m-%d}`: the time of the run, in the patterns of Python's strftime. One run has one
 * time: two directories named by it are the same directory.
 */
export function nowResolver(time: Date): Resolver {
  return {
    name: "now",
    useCache: true,
    pure: true,
    resolve: (args) => {
      const [pattern] = args;
      if (pattern === undefined || args.length !== 1)
        throw new ConfigError({
          code: "resolver.failed",
          message: "now takes one argument, a pattern such as %Y-%m-%d",
        });
      return strftime(pyStr(pattern.node), time);
    },
  };
}
