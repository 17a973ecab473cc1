import { checkTree } from "./values/check-tree.ts";
import { fromDotlist as fromTexts, mergeDotlist as mergeTexts } from "./values/dotlist.ts";
import { withFlags } from "./values/flags.ts";
import { fromObject } from "./values/from-object.ts";
import { createResolveContext } from "./values/interpolation/context.ts";
import { IN_PLACE, resolveTree } from "./values/interpolation/resolve-tree.ts";
import { isMissingAt } from "./values/is-missing-at.ts";
import { maskedCopy as maskedNode } from "./values/masked-copy.ts";
import { mergeNodes } from "./values/merge.ts";
import { missingKeys as keysOfMissing } from "./values/missing-keys.ts";
import type { ConfigNode, Key, MapNode, NodeFlags } from "./values/node.ts";
import { keyId } from "./values/node.ts";
import { fromCode } from "./values/origin.ts";
import type { ReadOptions } from "./values/reader.ts";
import { createConfig } from "./values/reader.ts";
import type { Resolver } from "./values/resolvers/resolver.ts";
import { selectNode } from "./values/select.ts";
import { updateNode } from "./values/update.ts";
import { writeYaml } from "./values/writer.ts";

// OmegaConf's functions for programs. Each takes a tree or plain data, and gives another tree: nothing is
// changed in place. All but `loadYaml` throw ConfigError `key.invalid_type` and `interpolation.syntax` for plain
// data that can be in no config.

/** What interpolations see. */
export interface ResolvingOptions {
  /** In addition to the built-in `oc.*`. */
  readonly resolvers?: Iterable<Resolver>;
  /** What `oc.env` sees. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * `OmegaConf.create(text)`: a tree from YAML 1.1.
 *
 * @throws ConfigError `yaml.*` with the place.
 */
export const loadYaml = (text: string, options?: ReadOptions): ConfigNode =>
  createConfig(text, options);

/**
 * `OmegaConf.to_yaml` of a tree or of plain data, byte for byte.
 *
 * @throws ConfigError those of interpolations with `resolve`
 */
export function toYaml(
  value: unknown,
  options: ResolvingOptions & { readonly resolve?: boolean; readonly sortKeys?: boolean } = {},
): string {
  const node = configOf(value, "toYaml()");
  const resolved = options.resolve ? resolveTree(node, createResolveContext(options)) : node;
  return writeYaml(resolved, { sortKeys: options.sortKeys ?? false });
}

/**
 * `OmegaConf.merge`: later ones win, maps merge key by key.
 *
 * @throws ConfigError `merge.incompatible` for a map against a list, what types and flags refuse
 */
export const merge = (...values: readonly unknown[]): ConfigNode =>
  mergeNodes(values.map((value) => configOf(value, "merge()")));

/**
 * `OmegaConf.select`: what stands at a key (`a.b[0]`), with interpolations on the way, at the end and below
 * it resolved; undefined where nothing does, and for a missing value (`???`). `toObject` makes plain data
 * of it.
 *
 * @throws ConfigError that of an interpolation, unless `throwOnResolutionFailure` is false;
 *   `value.missing` with `throwOnMissing`
 */
export const select = (
  tree: unknown,
  key: string,
  options: ResolvingOptions & {
    readonly throwOnMissing?: boolean;
    readonly throwOnResolutionFailure?: boolean;
  } = {},
): ConfigNode | undefined =>
  selectNode(configOf(tree, "select()"), key, createResolveContext(options), {
    ...options,
    deep: true,
  });

/**
 * `OmegaConf.update`: the tree with a value at a key (`a.b[0]`). Maps are made on the way where there is
 * nothing, or only a scalar; items of lists must exist.
 *
 * @param options `merge`: merge maps and lists into those that stand there (default), or replace them;
 *   `forceAdd`: add a key in spite of `struct`
 * @throws ConfigError `value.struct`, `value.readonly`, `value.wrong_type`, `merge.incompatible`,
 *   `key.not_found`, `key.invalid_type`
 */
export const update = (
  tree: unknown,
  key: string,
  value: unknown,
  options: { readonly merge?: boolean; readonly forceAdd?: boolean } = {},
): ConfigNode => updateNode(configOf(tree, "update()"), key, configOf(value, "update()"), options);

/**
 * `OmegaConf.resolve`: the tree with each interpolation replaced by its value. What refers to a missing
 * value becomes missing.
 *
 * @throws ConfigError that of the first interpolation that cannot be resolved
 */
export const resolve = (tree: unknown, options: ResolvingOptions = {}): ConfigNode =>
  resolveTree(configOf(tree, "resolve()"), createResolveContext(options), IN_PLACE);

/**
 * `OmegaConf.missing_keys`: the full keys of all missing values (`???`), those below interpolations
 * included, in the order of the tree.
 *
 * @throws ConfigError that of an interpolation that cannot be resolved
 */
export const missingKeys = (tree: unknown, options: ResolvingOptions = {}): readonly string[] => [
  ...keysOfMissing(configOf(tree, "missingKeys()"), createResolveContext(options)),
];

/**
 * `OmegaConf.is_missing`: whether what stands at one key (not a path) of a map or list is `???`; what is not
 * there is not missing.
 *
 * @throws ConfigError `key.invalid_type` for a key of a list that is no number
 */
export const isMissing = (tree: unknown, key: Key): boolean =>
  isMissingAt(configOf(tree, "isMissing()"), Number.isInteger(key) ? BigInt(key as number) : key);

/**
 * `OmegaConf.masked_copy`: the map with only those of its keys that are named, in its own order.
 *
 * @throws ConfigError `value.wrong_type` for what is no map
 */
export const maskedCopy = (tree: unknown, keys: readonly Key[]): MapNode =>
  maskedNode(configOf(tree, "maskedCopy()"), keys.map(keyId));

/**
 * `OmegaConf.from_dotlist`: a map of `key=value` texts, whose values are YAML (not the language of
 * overrides). A text without `=` sets null.
 *
 * @throws ConfigError `yaml.*`, or as `update`
 */
export const fromDotlist = (dotlist: readonly string[]): ConfigNode => fromTexts(dotlist);

/**
 * `merge_with_dotlist`: the tree with each of the texts applied to it, in order.
 *
 * @throws ConfigError as `fromDotlist`
 */
export const mergeDotlist = (tree: unknown, dotlist: readonly string[]): ConfigNode =>
  mergeTexts(configOf(tree, "mergeDotlist()"), dotlist);

/**
 * `OmegaConf.set_struct` and `set_readonly`: the tree with flags that `merge` and `update` heed, or without
 * them (`undefined`); those that are not named stay.
 */
export const setFlags = (
  tree: unknown,
  flags: { readonly [Flag in keyof NodeFlags]?: boolean | undefined },
): ConfigNode => withFlags(configOf(tree, "setFlags()"), flags);

/** `OmegaConf.create` of plain data. */
const configOf = (value: unknown, by: string): ConfigNode =>
  checkTree(fromObject(value, fromCode(by)));
