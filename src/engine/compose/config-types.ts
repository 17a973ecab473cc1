/** The types of a config's values: its keys, the value at a key, and what the compiler knows of the trees of a project. */
import type { ConfigSchema, SchemaOutput } from "../values/config-schema.ts";
import type { PlainValue } from "../values/plain-objects.ts";

/** Data that cannot be changed, at any depth. Objects of classes, such as dates, stay as they are. */
export type DeepReadonly<Data> = [PlainValue] extends [Data] ? Data : Deep<Data>;

type Deep<Data> = Data extends Leaf
  ? Data
  : { readonly [Name in keyof Data]: DeepReadonly<Data[Name]> };

/** Values without keys: scalars, and objects of classes. */
type Leaf =
  | string
  | number
  | bigint
  | boolean
  | symbol
  | null
  | undefined
  | Date
  | RegExp
  | Uint8Array
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ((...args: never) => unknown);

/**
 * The keys of a config's data: `"db" | "db.port" | "layers[0]"`. Any text where nothing is known of the data, below maps of any keys and
 * where data contains data of its own type.
 */
export type KeyOf<Data> = [PlainValue] extends [Data] ? string : Keys<Data, never>;

/** @param Above the types around the data: recursive ones have no end */
type Keys<Data, Above> = Data extends Leaf
  ? never
  : [PlainValue] extends [Data]
    ? string
    : Data extends readonly (infer Item)[]
      ? `[${number}]` | Joined<`[${number}]`, Item, Above | Data>
      : string extends keyof Data
        ? string
        : {
            [Name in Named<Data>]: Name | Joined<Name, Data[Name & keyof Data], Above | Data>;
          }[Named<Data>];

type Joined<Name extends string, Data, Above> = Data extends Leaf
  ? never
  : [Data] extends [Above]
    ? `${Name}${"." | "["}${string}`
    : Keys<Data, Above> extends infer Rest extends string
      ? Rest extends `[${string}`
        ? `${Name}${Rest}`
        : `${Name}.${Rest}`
      : never;

/** The names of members that a key can have: a dot or a bracket in one would be read as a path. */
type Named<Data> = Exclude<keyof Data & string, `${string}${"." | "[" | "]"}${string}`>;

/** The value at a key of a config's data. Undefined is among its types where only some of the data has the key. */
export type ValueAt<Data, Key extends string> = unknown extends Data
  ? unknown
  : Key extends ""
    ? DeepReadonly<Data>
    : DeepReadonly<At<Data, Key>>;

/** `a[0].b` is read as `a.0.b`. */
type At<Data, Key extends string> = Key extends `${infer Head}[${infer Index}]${infer Rest}`
  ? At<Data, `${Head extends "" ? "" : `${Head}.`}${Index}${Rest}`>
  : Key extends `${infer Name}.${infer Rest}`
    ? At<Member<Data, Name>, Rest>
    : Member<Data, Key>;

type Member<Data, Name extends string> = unknown extends Data
  ? unknown
  : Data extends Leaf
    ? undefined
    : Data extends readonly unknown[]
      ? Name extends `${number}` | number
        ? Data[number] | undefined
        : undefined
      : Name extends keyof Data
        ? Data[Name]
        : undefined;

/**
 * The config trees of a project, by the name of their directory: what `hydraconf schema --types` declares of them. Empty until then.
 */
// biome-ignore lint/suspicious/noEmptyInterface: a project's file adds its trees to it.
export interface ConfigTrees {}

/** What is declared of one tree. */
export interface ConfigTree {
  /** The data of each primary config, interpolations resolved. */
  readonly configs: object;
  /** The options of each group. */
  readonly groups: object;
}

/** The declared tree of a directory: the only one where the directory is not known before the program runs. */
export type TreeIn<Dir> = Dir extends string
  ? string extends Dir
    ? OnlyTree
    : {
        [Name in keyof ConfigTrees & string]: Dir extends Name | `${string}/${Name}`
          ? ConfigTrees[Name]
          : never;
      }[keyof ConfigTrees & string]
  : never;

type OnlyTree = IsUnion<keyof ConfigTrees> extends true ? never : ConfigTrees[keyof ConfigTrees];

type IsUnion<Names, Each = Names> = Each extends Names
  ? [Names] extends [Each]
    ? false
    : true
  : never;

/** The data of a config: what its schema gives, else what is declared of its tree, else unknown. */
export type DataOf<Schema, Dir, Name> = [Schema] extends [ConfigSchema]
  ? SchemaOutput<Schema>
  : DeclaredData<TreeIn<Dir>, Name>;

type DeclaredData<Tree, Name> = [Tree] extends [never]
  ? unknown
  : Tree extends { readonly configs: infer Configs }
    ? Name extends keyof Configs
      ? Configs[Name]
      : unknown
    : unknown;

/**
 * Overrides that fit the declared tree: of a group one of its options, else a key of the config. What a program only knows when it runs
 * (a `string`), sweeps, functions and interpolations are left to the composition, and so is any key where the tree is not declared.
 */
export type CheckedOverrides<Dir, Name, Overrides extends readonly string[]> = {
  readonly [Index in keyof Overrides]: Checked<TreeIn<Dir>, Name, Overrides[Index]>;
};

type Checked<Tree, Name, Text> = [Tree] extends [never]
  ? Text
  : Text extends `${infer Key}=${infer Value}`
    ? string extends Key
      ? Text
      : Tree extends { readonly groups: infer Groups }
        ? Fit<DeclaredData<Tree, Name>, Groups, Text & string, Key, Value>
        : Text
    : Text;

type Fit<Data, Groups, Text extends string, Key extends string, Value extends string> =
  Unprefixed<Key> extends infer Group
    ? Group extends keyof Groups
      ? IsLeftOpen<Value> extends true
        ? Text
        : Value extends Groups[Group] | "null"
          ? Text
          : `${Key}=${Groups[Group] & string}`
      : Key extends `${"+" | "~"}${string}` | `hydra${"." | "/"}${string}`
        ? Text
        : Key extends `${string}${"@" | "/"}${string}`
          ? GroupOverrides<Groups>
          : Key extends KeyOf<Data>
            ? Text
            : // With the value that was written, these are names of which the compiler tells the nearest.
              GroupOverrides<Groups> | `${KeyOf<Data>}=${Value}`
    : Text;

type GroupOverrides<Groups> = {
  [Group in keyof Groups & string]: `${Group}=${Groups[Group] & string}`;
}[keyof Groups & string];

/** `+db@backup` is an override of the group `db`. */
type Unprefixed<Key extends string> = Key extends `++${infer Rest}`
  ? Unplaced<Rest>
  : Key extends `${"+" | "~"}${infer Rest}`
    ? Unplaced<Rest>
    : Unplaced<Key>;

type Unplaced<Key extends string> = Key extends `${infer Group}@${string}` ? Group : Key;

/** Whether a value is more than a name: a sweep, a list, a function, an interpolation, a quoted or a computed text. */
type IsLeftOpen<Value extends string> = string extends Value
  ? true
  : Value extends `${string}${"," | "[" | "(" | "{" | "'" | '"' | "$"}${string}`
    ? true
    : Value extends `${infer First}${infer _}`
      ? string extends First
        ? true
        : false
      : false;
