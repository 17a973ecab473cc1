/** An ajv that a program gives, where none can be loaded on demand. */
import { ConfigError } from "../values/errors.ts";
import type { JsonSchema } from "./applicable-schemas.ts";
import type { CompileSchema } from "./tree-issues.ts";

/** The options that an ajv must have, so that all problems are found, with what their messages need. */
export interface AjvOptions {
  readonly allErrors: true;
  readonly verbose: true;
  readonly allowUnionTypes: true;
  readonly discriminator: true;
  readonly strictRequired: false;
  readonly strictTypes: false;
}

/** What compiles JSON Schemas: an `Ajv2020` of ajv 8. */
export interface GivenAjv {
  /** Makes a function that checks data, and leaves what is wrong in its member `errors`. */
  compile(schema: never): unknown;
}

/** Makes an ajv: `(options) => addFormats(new Ajv2020(options))`, of `ajv/dist/2020.js` and `ajv-formats`. */
export type AjvFactory = (options: AjvOptions) => GivenAjv;

const OPTIONS: AjvOptions = {
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  discriminator: true,
  strictRequired: false,
  strictTypes: false,
};

/**
 * Makes an ajv for each schema.
 * @throws ConfigError `schema.invalid`, when it is called, where the program gives none
 */
export const ajvWith =
  (make: AjvFactory | undefined) =>
  (_: JsonSchema): { readonly compile: CompileSchema } => {
    if (make === undefined)
      throw new ConfigError({
        code: "schema.invalid",
        message: "A JSON Schema cannot be checked: this engine has no ajv",
        hint: "createEngine({ ajv: (options) => addFormats(new Ajv2020(options)) }) gives one; a validator such as zod needs none",
      });
    return make(OPTIONS) as { readonly compile: CompileSchema };
  };
