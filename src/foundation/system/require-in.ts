/** Loads modules as code in another directory would. */
import * as nodeModule from "node:module";
import { resolve } from "node:path";

/**
 * `require` as a module in `directory` has it. The only place that makes one, and by no import of the name `createRequire`: webpack takes its calls
 * apart, at best with a warning.
 */
export const requireIn = (directory: string): NodeJS.Require =>
  nodeModule.createRequire(resolve(directory, "from-here.js"));
