/** An ajv that a program gives, where none can be loaded on demand. Public types, so without those of ajv. */

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
