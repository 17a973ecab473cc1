/** The composed config as programs use it: values, plain data, text and explanations. */

import { isBytes } from "../../foundation/system/builtin-types.ts";
import { toBase64 } from "../../foundation/text/bytes.ts";
import {
  checkOptions,
  checkText,
  type OptionChecks,
  optional,
  trueOrFalse,
  withMethods,
} from "../values/check-options.ts";
import { type Difference, diffConfigs, type KeyedNode } from "../values/diff.ts";
import { splitKey } from "../values/key-path.ts";
import { type ConfigNode, isMissing, type MapNode } from "../values/node.ts";
import { type PlainValue, toObject } from "../values/plain-objects.ts";
import { floatRepr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate-interpolation.ts";
import { resolveTree } from "../values/resolution/resolve-tree.ts";
import { findPlace, keyAbsent, lazyObject, selectNode } from "../values/resolution/select.ts";
import { writeYaml } from "../values/yaml/writer.ts";
import type { Composition } from "./compose.ts";
import type { DeepReadonly, KeyOf, ValueAt } from "./config-types.ts";
import { type Explanation, explain, leavesOf } from "./explain.ts";
import { checkAccessed, checkResolved, isValidator, pathIn } from "./schemas.ts";
import { maskDifferences, maskSecrets } from "./secrets.ts";

/**
 * A composed config, for programs. It is immutable; interpolations are resolved on access. Printed, or converted to
 * JSON, it shows its values with secrets masked. The other members are not enumerable, since they contain the secrets
 * and the environment that interpolations may read.
 */
export interface Config<Data = unknown> {
  /** The tree with exact types and origins. */
  readonly root: MapNode;
  readonly composition: Composition;
  /** The context in which its interpolations are resolved. */
  readonly context: ResolveContext;
  // `NoInfer`, since the compiler would else infer keys from the type that is expected of the value, which takes most of its time.
  /**
   * The value at a key such as `db.port` or `layers[0]`, as plain data; undefined if there is no such key.
   * Interpolations in a map or list are resolved when they are read; one that cannot be resolved throws then.
   *
   * Keys and types are those of `Data`, which a schema or a declared tree (`hydraconf schema --types`) gives; without either, any key
   * may be asked for, and its value is unknown.
   *
   * @throws ConfigError `value.missing` for `???`, `schema.mismatch`, and errors of the resolution; `key.not_found`, with the nearest
   * key and where it is set, for a `required` key that does not exist
   */
  get<const Key extends KeyOf<Data>, const Options extends ValueOptions = Resolved>(
    key: Key,
    options?: Options,
  ): NoInfer<ValueOf<Options, ValueAt<Data, Key>>>;
  /**
   * The output of `--cfg job`, byte for byte; with `resolve`, that of `--cfg job --resolve`. Values that a schema marks
   * secret are masked here; `get` and `toObject` return them.
   */
  toYaml(options?: ConfigTextOptions): string;
  /**
   * All values as plain data, interpolations resolved: of the type that a schema or a declared tree gives, else unknown. With
   * `resolve: false` interpolations stay texts.
   *
   * @throws ConfigError `schema.mismatch` if the resolved values do not fit their schema, or one is still missing, and errors of the
   * resolution
   */
  toObject<const Options extends GetOptions = Resolved>(
    options?: Options,
  ): NoInfer<ValueOf<Options, DeepReadonly<Data>>>;
  /**
   * The value for `JSON.stringify`: unresolved and with secrets masked, like `toYaml()`; integers beyond 2^53 and bytes
   * (base64) as strings.
   */
  toJSON(): PlainValue;
  /** Which file or override set a value, and what it replaced. */
  explain(key: string): Explanation | undefined;
  /** Every leaf with its key and origin (`--cfg --origins`). */
  origins(): readonly KeyedNode[];
  /** The differences to another config (`--diff`), with both values and both origins. */
  diff(other: Pick<Config, "root" | "composition">): readonly Difference[];
}

/** When the interpolations of a map or list are resolved. */
export interface GetOptions {
  /** true: all at once; false: never, they stay strings. Default: each when it is read. */
  readonly resolve?: boolean;
}

/** How the value of a key is given. */
export interface ValueOptions extends GetOptions {
  /** Whether a key that does not exist is an error, and not undefined. Default: false. */
  readonly required?: boolean;
}

/** Options that resolve interpolations. */
export interface Resolved extends GetOptions {
  readonly resolve?: true;
}

/** A value as the options give it: of no type where interpolations stay texts, and there where it is required. */
export type ValueOf<Options extends ValueOptions, Value> = Options extends {
  readonly resolve: false;
}
  ? unknown
  : Options extends { readonly required: true }
    ? Exclude<Value, undefined>
    : Value;

/** The form of a config as text: interpolations resolved, keys sorted by name. */
export interface ConfigTextOptions {
  readonly resolve?: boolean;
  readonly sortKeys?: boolean;
}

/** @param root the part of the composition that the program gets: with or without `hydra`. */
export function createConfig<Data = unknown>(
  root: MapNode,
  composition: Composition,
  context: ResolveContext,
): Config<Data> {
  const shown = (resolve = false): ConfigNode => {
    const masked = maskSecrets(root, composition, { resolving: resolve });
    return resolve ? resolveTree(masked, context) : masked;
  };
  const partsOf = (key: string): readonly string[] =>
    key === "" ? [] : splitKey(key, context.dialect);
  /** Values of a map or list are checked when they are read. */
  const view = (key: string): unknown => {
    const resolution = createResolution(root, context);
    const place = findPlace(resolution, key, { throwOnMissing: true });
    if (place === undefined || isMissing(place.node)) {
      requireOutput(composition, root, context);
      return undefined;
    }
    const above = partsOf(key);
    checkAccessed(composition.schemas, root, above, place.node);
    if ([...composition.objects.keys()].some((path) => isBelow(JSON.parse(path), above)))
      return valueAt(key, { resolve: true });
    return lazyObject(resolution, place, {
      read: (path, node) =>
        checkAccessed(composition.schemas, root, [...above, ...path.map(String)], node),
    });
  };
  const valueAt = (key: string, { resolve: deep }: GetOptions): unknown => {
    const above = partsOf(key);
    if (deep !== false && composition.objects.size > 0) {
      const held = heldAt(composition.objects, pathIn(root, above) ?? above);
      if (held !== undefined) return held.value;
    }
    if (deep === undefined) return view(key);
    const node = selectNode(root, key, context, { throwOnMissing: true, deep });
    if (node === undefined) return undefined;
    checkAccessed(composition.schemas, root, above, node);
    return deep ? withObjects(toObject(node), composition.objects, above) : toObject(node);
  };
  const data = ({ resolve = true }: GetOptions): unknown => {
    if (!resolve) return toObject(root);
    const resolved = resolveTree(root, context);
    checkResolved(composition.schemas, root, resolved, context);
    return withObjects(toObject(resolved), composition.objects, []);
  };
  const config: Config<Data> = {
    root,
    composition,
    context,
    get(key: string, options: ValueOptions = {}): never {
      checkText("get", "the key", key);
      checkOptions("get", options, VALUE_OPTIONS);
      const value = valueAt(key, options);
      if (value === undefined && options.required === true) throw keyAbsent(root, key, context);
      return value as never;
    },
    toYaml(options = {}) {
      checkOptions("toYaml", options, TEXT_OPTIONS);
      const { resolve = false, sortKeys = false } = options;
      return writeYaml(shown(resolve), {
        sortKeys,
        limits: context.limits,
        dialect: context.dialect,
      });
    },
    toObject(options: GetOptions = {}): never {
      checkOptions("toObject", options, OBJECT_OPTIONS);
      return data(options) as never;
    },
    toJSON: () => jsonValue(toObject(shown())),
    explain(key) {
      checkText("explain", "the key", key);
      return explain(composition, key);
    },
    origins: () => leavesOf(maskSecrets(root, composition)),
    diff(other) {
      isConfig("diff", "the other", other);
      return maskDifferences(diffConfigs(root, other.root), composition, other.composition);
    },
  };
  for (const name of ["root", "composition", "context"] as const)
    Object.defineProperty(config, name, { enumerable: false });
  return Object.defineProperty(config, INSPECT, {
    value: () => toObject(shown()),
    enumerable: false,
  });
}

/**
 * A key that is not there may be one that a validator gives, once it can be asked.
 * @throws ConfigError for what keeps it from that: a missing value, an interpolation that cannot be resolved
 */
function requireOutput({ schemas }: Composition, root: MapNode, context: ResolveContext): void {
  const validators = schemas.filter(({ schema }) => isValidator(schema));
  if (validators.length > 0) checkResolved(validators, root, resolveTree(root, context), context);
}

const isBelow = (path: readonly string[], above: readonly string[]): boolean =>
  path.length > above.length && above.every((key, index) => path[index] === key);

/** The value that no node can hold at a key, or in one above it. */
function heldAt(
  objects: ReadonlyMap<string, unknown>,
  path: readonly string[],
): { readonly value: unknown } | undefined {
  for (let depth = 0; depth <= path.length; depth++) {
    const id = JSON.stringify(path.slice(0, depth));
    if (!objects.has(id)) continue;
    return { value: path.slice(depth).reduce(memberOf, objects.get(id)) };
  }
  return undefined;
}

/** Plain data, which was just made, with the values that no node can hold. */
function withObjects(
  data: PlainValue,
  objects: ReadonlyMap<string, unknown>,
  above: readonly string[],
): unknown {
  for (const [id, value] of objects) {
    const path: readonly string[] = JSON.parse(id);
    if (path.length === 0) return value;
    if (!isBelow(path, above)) continue;
    const inner = path.slice(above.length);
    const holder = inner.slice(0, -1).reduce<unknown>(memberOf, data);
    if (typeof holder === "object" && holder !== null)
      Object.defineProperty(holder, inner.at(-1) ?? "", {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return data;
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

const OBJECT_OPTIONS = { resolve: optional(trueOrFalse) };

const VALUE_OPTIONS: OptionChecks<ValueOptions> = {
  ...OBJECT_OPTIONS,
  required: optional(trueOrFalse),
};

const TEXT_OPTIONS: OptionChecks<ConfigTextOptions> = {
  ...OBJECT_OPTIONS,
  sortKeys: optional(trueOrFalse),
};

const isConfig = withMethods(
  ["toYaml", "explain"],
  "a composed config",
  "diffConfigs compares trees",
);

/** The method that `console.log` calls on an object. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** `JSON.stringify` throws for a bigint, and writes bytes as an object, and `inf` and `nan` as null. */
function jsonValue(value: PlainValue): PlainValue {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return floatRepr(value);
  if (isBytes(value)) return toBase64(value);
  if (isList(value)) return value.map(jsonValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonValue(item)]));
}

const isList = (value: PlainValue): value is readonly PlainValue[] => Array.isArray(value);
