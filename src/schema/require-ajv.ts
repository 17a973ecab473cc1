import type { Ajv2020, Options } from "ajv/dist/2020.js";
import { requireDependency } from "../values/own-package.ts";
import { configuredAjv, type LoadedAjv } from "./configured-ajv.ts";

/**
 * As `createAjv`, but loads ajv only when it is called, and at once: a composition cannot wait, and
 * most of them check nothing.
 */
export function requireAjv(options: Options): Ajv2020 {
  const { Ajv2020 } = requireDependency("ajv/dist/2020.js") as typeof import("ajv/dist/2020.js");
  const addFormats = requireDependency("ajv-formats") as LoadedAjv["addFormats"];
  return configuredAjv({ Ajv2020, addFormats }, options);
}
