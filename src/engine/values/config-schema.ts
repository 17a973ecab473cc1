/** Schemas of configs, as programs give them, and the types of the data that they describe. */

/**
 * A schema: a JSON Schema (draft 2020-12) as plain data or of TypeBox, the path of a file with one, or the validator of any library that
 * implements https://standardschema.dev. A relative path is relative to the directory that the engine works in.
 */
export type ConfigSchema = string | LoadedSchema;

/** A schema that was read, if it was in a file. */
export type LoadedSchema = boolean | JsonSchemaObject | TypedJsonSchema | StandardSchema;

/** A JSON Schema, draft 2020-12. */
export interface JsonSchemaObject {
  readonly [keyword: string]: unknown;
}

/** A JSON Schema whose type is an interface of its keywords, as TypeBox makes it. */
export interface TypedJsonSchema {
  readonly $ref?: unknown;
  readonly type?: unknown;
  readonly properties?: unknown;
  readonly anyOf?: unknown;
  readonly allOf?: unknown;
}

/** The part of the standard-schema interface that is used. */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    /** Returns `{value}` for a value that fits, and `{issues}` for others. */
    readonly validate: (value: unknown) => unknown;
    /** The types of values before and after the validation, for the compiler only. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    /** The JSON Schema of what it accepts, for help, completion and secrets. */
    readonly jsonSchema?: {
      /** That of the values before the validation. */
      readonly input: (options: { readonly target: "draft-2020-12" }) => JsonSchemaObject;
    };
  };
}

/**
 * The type of a config that fits a schema: what a validator gives, what a JSON Schema written as a literal or made by TypeBox describes;
 * unknown for others.
 */
export type SchemaOutput<Schema> = Schema extends {
  readonly "~standard": { readonly types?: infer Types };
}
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : Schema extends { readonly static: infer Static }
    ? Static
    : Schema extends object
      ? JsonSchemaData<Schema>
      : unknown;

/**
 * The type of what fits a JSON Schema that is written as a literal, or made by TypeBox. A member with a `default` is always there.
 * Unknown where the schema says nothing of the type.
 */
export type JsonSchemaData<Schema, Root = Schema> = Schema extends { readonly $ref: infer To }
  ? JsonSchemaData<Referred<Root, To>, Root>
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly anyOf: readonly (infer Branch)[] }
        ? JsonSchemaData<Branch, Root>
        : Schema extends { readonly oneOf: readonly (infer Branch)[] }
          ? JsonSchemaData<Branch, Root>
          : Schema extends { readonly allOf: readonly [infer First, ...infer Others] }
            ? JsonSchemaData<First, Root> & Together<Others, Root>
            : Schema extends { readonly type: infer Type }
              ? TypeData<Type extends readonly (infer One)[] ? One : Type, Schema, Root>
              : Schema extends { readonly properties: unknown }
                ? ObjectData<Schema, Root>
                : unknown;

type Together<Schemas, Root> = Schemas extends readonly [infer First, ...infer Others]
  ? JsonSchemaData<First, Root> & Together<Others, Root>
  : unknown;

type Referred<Root, To> = To extends "#"
  ? Root
  : To extends `#/${infer Tokens}`
    ? Inside<Root, Tokens>
    : unknown;

type Inside<Value, Tokens extends string> = Tokens extends `${infer Name}/${infer Rest}`
  ? Name extends keyof Value
    ? Inside<Value[Name], Rest>
    : unknown
  : Tokens extends keyof Value
    ? Value[Tokens]
    : unknown;

interface Scalars {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type TypeData<Type, Schema, Root> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends "object"
    ? ObjectData<Schema, Root>
    : Type extends "array"
      ? ListData<Schema, Root>
      : unknown;

type ListData<Schema, Root> = Schema extends {
  readonly prefixItems: infer Items extends readonly unknown[];
}
  ? { readonly [Index in keyof Items]: JsonSchemaData<Items[Index], Root> }
  : Schema extends { readonly items: infer Item }
    ? readonly JsonSchemaData<Item, Root>[]
    : readonly unknown[];

type ObjectData<Schema, Root> = Schema extends { readonly properties: infer Properties }
  ? Flat<
      {
        [Name in Present<Schema, Properties>]: JsonSchemaData<Properties[Name], Root>;
      } & {
        [Name in Exclude<keyof Properties, Present<Schema, Properties>>]?: JsonSchemaData<
          Properties[Name],
          Root
        >;
      }
    >
  : Schema extends { readonly additionalProperties: infer Values }
    ? Values extends false
      ? Record<never, never>
      : { readonly [name: string]: JsonSchemaData<Values, Root> }
    : { readonly [name: string]: unknown };

/** The members that a config has in any case. */
type Present<Schema, Properties> = {
  [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown }
    ? Name
    : Properties[Name] extends { readonly "~optional": true }
      ? never
      : Schema extends { readonly required: readonly (infer Required)[] }
        ? Name extends Required
          ? Name
          : never
        : never;
}[keyof Properties];

type Flat<Data> = { [Name in keyof Data]: Data[Name] };
