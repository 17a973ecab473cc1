/** Loads modules as code in another directory would. */
import { resolve } from "node:path";

/**
 * `require` as a module in `directory` has it. The only place that makes one, and without an import: most programs need none, `node:module` takes
 * long to load, and webpack takes calls of an imported `createRequire` apart, at best with a warning.
 */
export const requireIn = (directory: string): NodeJS.Require =>
  process.getBuiltinModule("node:module").createRequire(resolve(directory, "from-here.js"));
