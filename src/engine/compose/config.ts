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
import type { PlainValue } from "../values/plain-objects.ts";
import { toObject } from "../values/plain-objects.ts";
import { floatRepr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate.ts";
import { resolveTree } from "../values/resolution/resolve-tree.ts";
import { findPlace, lazyObject, selectNode } from "../values/resolution/select.ts";
import { writeYaml } from "../values/yaml/writer.ts";
import type { Composition } from "./compose.ts";
import { type Explanation, explain, leavesOf } from "./explain.ts";
import { checkAccessed, checkResolved } from "./schemas.ts";
import { maskDifferences, maskSecrets } from "./secrets.ts";

/**
 * A composed config, for programs. It is immutable; interpolations are resolved on access. Printed, or converted to
 * JSON, it shows its values with secrets masked. The other members are not enumerable, since they contain the secrets
 * and the environment that interpolations may read.
 */
export interface Config<Data = PlainValue> {
  /** The tree with exact types and origins. */
  readonly root: MapNode;
  readonly composition: Composition;
  /** The context in which its interpolations are resolved. */
  readonly context: ResolveContext;
  /**
   * The value at a key such as `db.port` or `layers[0]`, as plain data; undefined if there is no such key.
   * Interpolations in a map or list are resolved when they are read; one that cannot be resolved throws then.
   *
   * @throws ConfigError `value.missing` for `???`, `schema.mismatch`, and errors of the resolution.
   */
  get<T = PlainValue>(key: string, options?: GetOptions): T | undefined;
  /**
   * The output of `--cfg job`, byte for byte; with `resolve`, that of `--cfg job --resolve`. Values that a schema marks
   * secret are masked here; `get` and `toObject` return them.
   */
  toYaml(options?: ConfigTextOptions): string;
  /**
   * Plain data with interpolations resolved. The type parameter is the caller's assertion; a schema can check it, and
   * the validator of a program's `schema` supplies it.
   *
   * @throws ConfigError `schema.mismatch` if the resolved values do not fit their schema, or one is still missing
   */
  toObject<T = Data>(options: { readonly resolve: true }): T;
  /** Plain data of the caller's type: `???` and, without `resolve`, interpolations are strings. */
  toObject<T = PlainValue>(options?: { readonly resolve?: boolean }): T;
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

/** The form of a config as text: interpolations resolved, keys sorted by name. */
export interface ConfigTextOptions {
  readonly resolve?: boolean;
  readonly sortKeys?: boolean;
}

/** @param root the part of the composition that the program gets: with or without `hydra`. */
export function createConfig<Data = PlainValue>(
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
    if (place === undefined || isMissing(place.node)) return undefined;
    const above = partsOf(key);
    checkAccessed(composition.schemas, root, above, place.node);
    return lazyObject(resolution, place, {
      read: (path, node) =>
        checkAccessed(composition.schemas, root, [...above, ...path.map(String)], node),
    });
  };
  const config: Config<Data> = {
    root,
    composition,
    context,
    get<T = PlainValue>(key: string, options: GetOptions = {}): T | undefined {
      checkText("get", "the key", key);
      checkOptions("get", options, OBJECT_OPTIONS);
      if (options.resolve === undefined) return view(key) as T | undefined;
      const deep = options.resolve;
      const node = selectNode(root, key, context, { throwOnMissing: true, deep });
      if (node === undefined) return undefined;
      checkAccessed(composition.schemas, root, partsOf(key), node);
      return toObject(node) as T;
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
    toObject<T = PlainValue>(options: { readonly resolve?: boolean } = {}): T {
      checkOptions("toObject", options, OBJECT_OPTIONS);
      const { resolve = false } = options;
      if (!resolve) return toObject(root) as T;
      const resolved = resolveTree(root, context);
      checkResolved(composition.schemas, root, resolved);
      return toObject(resolved) as T;
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

const OBJECT_OPTIONS = { resolve: optional(trueOrFalse) };

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
