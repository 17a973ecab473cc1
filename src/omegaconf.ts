/** OmegaConf's functions on trees, for programs: reading, merging, selecting, updating and writing. */
import type { Config, ConfigTextOptions } from "./engine/compose/config.ts";
import {
  checkedAsRegistered,
  checkOptions,
  checkText,
  checkTexts,
  environment,
  fn,
  type OptionChecks,
  optional,
  text,
  trueOrFalse,
  wrongArgument,
} from "./engine/values/check-options.ts";
import { type DialectName, dialectOption, withDialect } from "./engine/values/dialect.ts";
import { checkNewKey } from "./engine/values/edit/assign.ts";
import { childAt, isMissingAt, maskedCopy as maskedNode } from "./engine/values/edit/children.ts";
import { mergeNodes } from "./engine/values/edit/merge.ts";
import {
  fromDotlist as fromTexts,
  mergeDotlist as mergeTexts,
  updateNode,
} from "./engine/values/edit/update.ts";
import { isInterpolationNode } from "./engine/values/interpolation/interpolation-parser.ts";
import { type Limits, limitsOption } from "./engine/values/limits.ts";
import {
  type ConfigNode,
  type ContainerNode,
  isNode,
  type Key,
  keyId,
  type MapNode,
} from "./engine/values/node.ts";
import { fromCode } from "./engine/values/origin.ts";
import { type FlagChanges, rootPlace, withFlags } from "./engine/values/place.ts";
import { fromObject, isKey, toObject } from "./engine/values/plain-objects.ts";
import {
  createResolveContext,
  type ResolveContext,
  resolveContext,
} from "./engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "./engine/values/resolution/resolve-tree.ts";
import type { Resolver } from "./engine/values/resolution/resolver.ts";
import { missingKeys as keysOfMissing, selectNode } from "./engine/values/resolution/select.ts";
import { bareValue } from "./engine/values/types/convert.ts";
import { checkTree } from "./engine/values/yaml/check-tree.ts";
import { createConfig } from "./engine/values/yaml/reader.ts";
import { writeYaml } from "./engine/values/yaml/writer.ts";
import { isBytes } from "./foundation/system/builtin-types.ts";

/** Where the environment is that a call without one has: that of a process, or none in a browser. */
type Ambient = () => Readonly<Record<string, string | undefined>>;

/**
 * OmegaConf's functions for programs. Each takes a tree, plain data or a composed config, and returns a new tree: nothing is changed in
 * place. Functions with options behave as another version of Hydra if they get its `dialect`, or a composed config of it, and throw
 * `compose.unsupported` for an unknown name. All except `loadYaml` throw ConfigError `key.invalid_type` and `interpolation.syntax` for plain
 * data that no config can contain, and all throw `value.wrong_type` for arguments that the types do not allow.
 */
export interface OmegaConf {
  /**
   * `OmegaConf.create(text)`: a tree from YAML 1.1.
   *
   * @throws ConfigError `yaml.*` and `limit.*` with the place.
   */
  loadYaml(yaml: string, options?: LoadOptions): ConfigNode;
  /**
   * `OmegaConf.to_yaml` of a tree or of plain data, byte for byte.
   *
   * @throws ConfigError those of interpolations with `resolve`
   */
  toYaml(value: unknown, options?: ResolvingOptions & ConfigTextOptions): string;
  /**
   * `OmegaConf.merge`: later values win, and maps are merged key by key. Interpolations that are merged over are resolved
   * in the context of the first composed config among the arguments, or with the built-in resolvers; `mergeAll` accepts
   * others.
   *
   * @throws ConfigError `merge.incompatible` for a map and a list, and those of types and flags
   */
  merge(...values: readonly unknown[]): ContainerNode;
  /**
   * Like `merge`, for a list of trees, with options for resolving the interpolations that are merged over, for example
   * `${mine:}`, where `mine` is a resolver of the program.
   *
   * @throws ConfigError as `merge`, and those of such interpolations
   */
  mergeAll(values: readonly unknown[], options?: ResolvingOptions): ContainerNode;
  /**
   * `OmegaConf.select`: the value at a key (`a.b[0]`). Interpolations on the path and of the value itself are resolved
   * immediately, those below it when they are read, which may then throw. Undefined if there is no such key, and for a
   * missing value (`???`). `toObject` reads the whole result and converts it to plain data.
   *
   * @throws ConfigError of an interpolation on the path, unless `throwOnResolutionFailure` is false; `value.missing` with
   * `throwOnMissing`
   */
  select(tree: unknown, key: string, options?: SelectOptions): ConfigNode | undefined;
  /**
   * `OmegaConf.update`: the tree with a value set at a key (`a.b[0]`). Maps on the path are created if they are absent or
   * scalars; items of lists must exist.
   *
   * @throws ConfigError `value.struct`, `value.readonly`, `value.wrong_type`, `merge.incompatible`, `key.not_found`,
   * `key.invalid_type`
   */
  update(tree: unknown, key: string, value: unknown, options?: UpdateOptions): ContainerNode;
  /**
   * `OmegaConf.resolve`: the tree with each interpolation replaced by its value. Interpolations that refer to a missing
   * value become missing.
   *
   * @throws ConfigError of the first interpolation that cannot be resolved
   */
  resolve(tree: unknown, options?: ResolvingOptions): ConfigNode;
  /**
   * `OmegaConf.missing_keys`: the full keys of all missing values (`???`), including those below interpolations, in the
   * order of the tree.
   *
   * @throws ConfigError of an interpolation that cannot be resolved
   */
  missingKeys(tree: unknown, options?: ResolvingOptions): readonly string[];
  /**
   * `OmegaConf.from_dotlist`: a map made of `key=value` texts. Values are YAML, not the override language. A
   * text without `=` sets null.
   *
   * @throws ConfigError `yaml.*`, or as `update`
   */
  fromDotlist(dotlist: readonly string[], options?: ResolvingOptions): ContainerNode;
  /**
   * `merge_with_dotlist`: the tree with each `key=value` text applied to it, in order.
   *
   * @throws ConfigError as `fromDotlist`
   */
  mergeDotlist(
    tree: unknown,
    dotlist: readonly string[],
    options?: ResolvingOptions,
  ): ContainerNode;
}

/** OmegaConf's functions in a program. @param ambient the environment of calls that give none */
export const omegaConf = (ambient: Ambient): OmegaConf => ({
  loadYaml: (yaml, options) => loadYaml(ambient, yaml, options),
  toYaml: (value, options) => toYaml(ambient, value, options),
  merge: (...values) => merge(ambient, values),
  mergeAll: (values, options) => mergeAll(ambient, values, options),
  select: (tree, key, options) => select(ambient, tree, key, options),
  update: (tree, key, value, options) => update(ambient, tree, key, value, options),
  resolve: (tree, options) => resolve(ambient, tree, options),
  missingKeys: (tree, options) => missingKeys(ambient, tree, options),
  fromDotlist: (dotlist, options) => fromDotlist(ambient, dotlist, options),
  mergeDotlist: (tree, dotlist, options) => mergeDotlist(ambient, tree, dotlist, options),
});

function loadYaml(ambient: Ambient, yaml: string, options: LoadOptions = {}): ConfigNode {
  const argument: unknown = yaml;
  checkText("loadYaml", "the YAML", argument, loadYamlHint(argument));
  checkOptions<LoadOptions>("loadYaml", options, {
    name: optional(text),
    limits: limitsOption,
    dialect: dialectOption,
  });
  return createConfig(yaml, { env: ambient(), ...withDialect(options) });
}

function toYaml(
  ambient: Ambient,
  value: unknown,
  options: ResolvingOptions & ConfigTextOptions = {},
): string {
  if (isConfig(value))
    throw wrongArgument(
      "toYaml",
      "the value",
      "a tree or plain data",
      value,
      "toYaml() of the config itself masks secrets; its tree is its 'root'",
    );
  const node = configOf(value, "toYaml");
  checkOptions("toYaml", options, TEXT_OPTIONS);
  const context = contextOf(ambient, options);
  const resolved = options.resolve ? resolveTree(node, context) : node;
  const { dialect, limits } = context;
  return writeYaml(resolved, { sortKeys: options.sortKeys ?? false, limits, dialect });
}

const merge = (ambient: Ambient, values: readonly unknown[]): ContainerNode =>
  mergeNodes(
    values.map((value, index) => containerOf(value, "merge", `argument ${index + 1}`)),
    values.find(isConfig)?.context ?? contextOf(ambient, {}),
  );

function mergeAll(
  ambient: Ambient,
  values: readonly unknown[],
  options: ResolvingOptions = {},
): ContainerNode {
  const argument: unknown = values;
  if (!Array.isArray(argument))
    throw wrongArgument("mergeAll", "the values", "a list", argument, "mergeAll([base, changes])");
  checkOptions("mergeAll", options, RESOLVING_OPTIONS);
  const context = contextOf(ambient, options, values.find(isConfig));
  return mergeNodes(
    Array.from(values, (value, index) => containerOf(value, "mergeAll", `values[${index}]`)),
    context,
  );
}

function select(
  ambient: Ambient,
  tree: unknown,
  key: string,
  options: SelectOptions = {},
): ConfigNode | undefined {
  const root = containerOf(tree, "select");
  checkText("select", "the key", key);
  checkOptions("select", options, SELECT_OPTIONS);
  const found = selectNode(root, key, contextOf(ambient, options, tree), {
    ...options,
    deep: "lazy",
  });
  return found && bareValue(found);
}

function update(
  ambient: Ambient,
  tree: unknown,
  key: string,
  value: unknown,
  options: UpdateOptions = {},
): ContainerNode {
  const root = containerOf(tree, "update");
  checkText("update", "the key", key);
  checkOptions("update", options, UPDATE_OPTIONS);
  const context = contextOf(ambient, options, tree);
  const plain = !isNode(value) && !isConfig(value);
  return updateNode(root, key, nodeOf(value, "update"), { ...options, plain }, context);
}

function resolve(ambient: Ambient, tree: unknown, options: ResolvingOptions = {}): ConfigNode {
  const root = containerOf(tree, "resolve");
  checkOptions("resolve", options, RESOLVING_OPTIONS);
  return resolveTree(root, contextOf(ambient, options, tree), IN_PLACE);
}

function missingKeys(
  ambient: Ambient,
  tree: unknown,
  options: ResolvingOptions = {},
): readonly string[] {
  const root = containerOf(tree, "missingKeys");
  checkOptions("missingKeys", options, RESOLVING_OPTIONS);
  return [...keysOfMissing(root, contextOf(ambient, options, tree))];
}

/**
 * `OmegaConf.is_missing`: whether the value at one key (not a path) of a map or list is `???`. A key that a map
 * does not have is not missing.
 *
 * @throws ConfigError `key.invalid_type` for a key of a list that is no number, `key.not_found` for an index
 *   outside of it
 */
export function isMissing(tree: unknown, key: Key): boolean {
  const root = containerOf(tree, "isMissing");
  checkKey("isMissing", key);
  return isMissingAt(root, indexOr(key));
}

/**
 * `OmegaConf.is_interpolation`: whether the value at one key (not a path) of a map or list contains an
 * interpolation (`${a}`, `x/${a}`); without a key, whether the node itself does. False for a key that a map
 * does not have.
 *
 * @throws ConfigError `key.invalid_type` for a key of a list that is no number, `key.not_found` for an index
 *   outside of it, `value.struct` for what a map with that flag does not have
 */
export function isInterpolation(tree: unknown, key?: Key): boolean {
  if (key === undefined) return isInterpolationNode(configOf(tree, "isInterpolation"));
  const root = containerOf(tree, "isInterpolation");
  checkKey("isInterpolation", key);
  const node = childAt(root, indexOr(key));
  if (node !== undefined) return isInterpolationNode(node);
  const parent = rootPlace(root);
  checkNewKey(parent, key, { kind: "place", node: root, parent, key });
  return false;
}

/**
 * `OmegaConf.masked_copy`: the map reduced to the named keys (one, or a list), in the order of the map.
 *
 * @throws ConfigError `value.wrong_type` for a tree that is no map
 */
export function maskedCopy(tree: unknown, keys: Key | readonly Key[]): MapNode {
  const root = containerOf(tree, "maskedCopy");
  const wanted = isKey(keys) ? [keys] : keys;
  if (!Array.isArray(wanted)) throw wrongArgument("maskedCopy", "the keys", "a list", wanted);
  for (const key of wanted) checkKey("maskedCopy", key);
  return maskedNode(root, wanted.map(keyId));
}

function fromDotlist(
  ambient: Ambient,
  dotlist: readonly string[],
  options: ResolvingOptions = {},
): ContainerNode {
  checkTexts("fromDotlist", "dotlist", dotlist, DOTLIST);
  checkOptions("fromDotlist", options, RESOLVING_OPTIONS);
  return fromTexts(dotlist, contextOf(ambient, options));
}

function mergeDotlist(
  ambient: Ambient,
  tree: unknown,
  dotlist: readonly string[],
  options: ResolvingOptions = {},
): ContainerNode {
  const root = containerOf(tree, "mergeDotlist");
  checkTexts("mergeDotlist", "dotlist", dotlist, DOTLIST);
  checkOptions("mergeDotlist", options, RESOLVING_OPTIONS);
  return mergeTexts(root, dotlist, contextOf(ambient, options, tree));
}

/**
 * `OmegaConf.set_struct` and `set_readonly`: the tree with flags that `merge` and `update` respect. `undefined` removes
 * a flag; other flags are kept.
 */
export function setFlags(tree: unknown, flags: FlagChanges): ContainerNode {
  const root = containerOf(tree, "setFlags");
  checkOptions("setFlags", flags, FLAGS, "setFlags(tree, { struct: true })");
  return withFlags(root, flags);
}

/** `OmegaConf.create` of plain data. */
const configOf = (value: unknown, by: string): ConfigNode =>
  isConfig(value) ? value.root : checkTree(nodeOf(value, by));

/** A value that becomes part of a config, where it is checked. */
const nodeOf = (value: unknown, by: string): ConfigNode =>
  isConfig(value) ? value.root : fromObject(value, fromCode(`${by}()`));

/** Whether a value is a composed config, which has methods, and not data. */
const isConfig = (value: unknown): value is Pick<Config, "root" | "context"> =>
  typeof value === "object" &&
  value !== null &&
  "root" in value &&
  "toYaml" in value &&
  typeof value.toYaml === "function";

function containerOf(value: unknown, by: string, name = "the tree"): ContainerNode {
  const node = configOf(value, by);
  if (node.kind !== "scalar") return node;
  const hint = typeof value === "string" ? "loadYaml(text) reads YAML" : undefined;
  const plain = value === undefined ? undefined : toObject(node);
  throw wrongArgument(by, name, "a map or a list", plain, hint);
}

/** @param tree if it is a composed config, its own context is used */
function contextOf(ambient: Ambient, options: ResolvingOptions, tree?: unknown): ResolveContext {
  const { context: base = isConfig(tree) ? tree.context : undefined, ...rest } = options;
  return createResolveContext({
    replace: false,
    ...withDialect(rest),
    ...(base ? { base } : { env: rest.env ?? ambient() }),
  });
}

/** Integers are integer keys, like list indices. */
const indexOr = (key: Key): Key =>
  typeof key === "number" && Number.isInteger(key) ? BigInt(key) : key;

function checkKey(by: string, key: unknown): void {
  if (!isKey(key)) throw wrongArgument(by, "a key", "a string or a number", key);
}

const DOTLIST = '["db.port=80", "db.host=a"]';

function loadYamlHint(value: unknown): string | undefined {
  if (isBytes(value)) return 'readFileSync(file, "utf8") gives a text';
  return typeof value === "object" && value !== null
    ? "plain data needs no loadYaml: merge(data) makes a tree of it"
    : undefined;
}

/** How a text is read. */
export interface LoadOptions {
  /** The name of the text in positions and errors, usually its path. */
  readonly name?: string;
  /** How much aliases may add. Default: the limits of the environment. */
  readonly limits?: Partial<Limits>;
  /** The version of Hydra whose OmegaConf is used. Default: 1.3. */
  readonly dialect?: DialectName;
}

/** How interpolations are resolved. */
export interface ResolvingOptions {
  /**
   * The context of a composed config (`config.context`), for a tree derived from it: it has the program's resolvers,
   * and those of Hydra. A config itself needs none.
   */
  readonly context?: ResolveContext;
  /** Resolvers in addition to the built-in `oc.*`, or to those of `context`. */
  readonly resolvers?: Iterable<Resolver>;
  /** Whether `resolvers` may replace built-in ones of the same name, and later entries earlier ones. */
  readonly replace?: boolean;
  /** The version of Hydra whose OmegaConf is used. Default: that of `context`, or 1.3. */
  readonly dialect?: DialectName;
  /** The environment that `oc.env` reads. Default: that of `context`, or of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How much interpolations may add; each limit is optional. Default: those of `context`, or of the environment. */
  readonly limits?: Partial<Limits>;
  /** Called with the warnings of `oc.deprecated`. Default: the handler of `context`; without one they are dropped. */
  readonly onWarning?: (message: string) => void;
}

/** How `select` treats missing values and failures. */
export interface SelectOptions extends ResolvingOptions {
  readonly throwOnMissing?: boolean;
  readonly throwOnResolutionFailure?: boolean;
}

/** How `update` writes a value, and how an interpolation is resolved that is merged over. */
export interface UpdateOptions extends ResolvingOptions {
  /** Whether maps and lists are merged into existing ones (default) or replace them. */
  readonly merge?: boolean;
  /** Adds a key even if the flag `struct` is set. */
  readonly forceAdd?: boolean;
}

const RESOLVING_OPTIONS: OptionChecks<ResolvingOptions> = {
  context: optional(resolveContext),
  resolvers: checkedAsRegistered,
  replace: optional(trueOrFalse),
  dialect: dialectOption,
  env: optional(environment),
  limits: limitsOption,
  onWarning: optional(fn),
};

const TEXT_OPTIONS: OptionChecks<ResolvingOptions & ConfigTextOptions> = {
  ...RESOLVING_OPTIONS,
  resolve: optional(trueOrFalse),
  sortKeys: optional(trueOrFalse),
};

const SELECT_OPTIONS: OptionChecks<SelectOptions> = {
  ...RESOLVING_OPTIONS,
  throwOnMissing: optional(trueOrFalse),
  throwOnResolutionFailure: optional(trueOrFalse),
};

const UPDATE_OPTIONS: OptionChecks<UpdateOptions> = {
  ...RESOLVING_OPTIONS,
  merge: optional(trueOrFalse),
  forceAdd: optional(trueOrFalse),
};

const FLAGS: OptionChecks<FlagChanges> = {
  struct: optional(trueOrFalse),
  readonly: optional(trueOrFalse),
};
