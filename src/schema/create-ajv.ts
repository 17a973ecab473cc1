import { Ajv2020, type Options } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { configuredAjv, type LoadedAjv } from "./ajv.ts";

/**
 * An ajv for JSON Schema 2020-12 with the standard formats, reporting all errors with their data.
 * Loads ajv: import this module where something is validated, not where it might be.
 */
export const createAjv = (options: Options = {}): Ajv2020 =>
  configuredAjv({ Ajv2020, addFormats }, options);

// ajv-formats is CommonJS: its function is the module or the module's `default`.
const addFormats = ("default" in addFormatsModule
  ? addFormatsModule.default
  : addFormatsModule) as unknown as LoadedAjv["addFormats"];
