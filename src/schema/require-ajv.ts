import { createRequire } from "node:module";
import type { Ajv2020, Options } from "ajv/dist/2020.js";
import type { createAjv } from "./create-ajv.ts";

/**
 * As `createAjv`, but loads ajv only when it is called, and at once: a composition cannot wait, and
 * most of them check nothing.
 */
export const requireAjv: typeof createAjv = (options: Options = {}): Ajv2020 => {
  const load = createRequire(import.meta.url);
  const { Ajv2020: Ajv } = load("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const addFormats = load("ajv-formats") as (ajv: Ajv2020) => void;
  const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true, ...options });
  addFormats(ajv);
  return ajv;
};
