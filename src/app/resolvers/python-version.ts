import { ConfigError } from "../../values/errors.ts";
import { pyStr } from "../../values/python-text.ts";
import type { Resolver } from "../../values/resolution/resolver.ts";

/**
 * The Python whose behaviour this dialect has. There is no Python to ask here, and a tree that
 * tells versions apart must compose the same on every machine.
 */
const VERSIONS: ReadonlyMap<string, string> = new Map([
  ["major", "3"],
  ["minor", "3.11"],
  ["micro", "3.11.2"],
]);

/** `${python_version:}`, `${python_version:micro}`; null for other levels, as in Hydra. */
export const pythonVersionResolver: Resolver = {
  name: "python_version",
  pure: true,
  resolve: (args) => {
    if (args.length > 1)
      throw new ConfigError({
        code: "resolver.failed",
        message: "python_version takes one argument: major, minor or micro",
      });
    const [level] = args;
    return VERSIONS.get(level === undefined ? "minor" : pyStr(level.node)) ?? null;
  },
};
