import type { ConfigNode } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";

/**
 * What a config of the store may be checked against: a JSON Schema (draft 2020-12) as plain data,
 * or the validator of any library that implements https://standardschema.dev.
 */
export type ConfigSchema = boolean | JsonSchemaObject | StandardSchema;

/** A JSON Schema, draft 2020-12. */
export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

/** The part of the standard-schema interface that a check needs. */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    /** `{value}` where the value fits, `{issues}` where it does not. */
    readonly validate: (value: unknown) => unknown;
  };
}

/** One way in which a tree does not fit, as the checker tells it. */
export interface SchemaProblem {
  readonly problem: "invalid_value" | "missing_value" | "missing_key" | "unknown_key";
  /** The full key below the tree that was checked; empty for the tree itself. */
  readonly key: string;
  /** The value found; absent for a missing key. */
  readonly value?: ConfigNode;
  /** What the schema wants, to be read after "expected". */
  readonly expected: string;
  /** What is wrong, in the words of a validator that has its own. */
  readonly says?: string;
  readonly description?: string;
  readonly origin: Origin;
  readonly available?: readonly string[];
  readonly nearest?: string;
}

/**
 * What reads schemas: the stage `schema`, which composing does not import. Gets trees that may hold
 * interpolations and missing values, and returns every problem in the order of the document.
 */
export interface SchemaReader {
  /** All ways in which a tree does not fit, in the order of the document. */
  problems(schema: ConfigSchema, tree: ConfigNode): readonly SchemaProblem[];
  /** The keys of the values that the schema marks secret. */
  secrets(schema: ConfigSchema, tree: ConfigNode): readonly (readonly string[])[];
  /** Whether a value at these keys would be secret. */
  isSecret(schema: ConfigSchema, path: readonly string[]): boolean;
}
