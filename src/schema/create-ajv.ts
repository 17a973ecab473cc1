import { Ajv2020, type Options } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";

/**
 * An ajv for JSON Schema 2020-12 with the standard formats, reporting all errors with their data.
 * Loads ajv: import this module where something is validated, not where it might be.
 */
export function createAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, allowUnionTypes: true, ...options });
  // ajv-formats is CommonJS: its function is the module or the module's `default`.
  const addFormats = "default" in addFormatsModule ? addFormatsModule.default : addFormatsModule;
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  return ajv;
}
