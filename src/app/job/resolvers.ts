/** Hydra's resolvers: `hydra`, `now` and `python_version`. */

import { parseOverride } from "../../engine/overrides/index.ts";
import { DEFAULT_DIALECT, type Dialect } from "../../engine/values/dialect.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import {
  type ConfigNode,
  child,
  getAt,
  isMissing,
  type MapNode,
  scalar,
} from "../../engine/values/node.ts";
import { withFlags } from "../../engine/values/place.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import { resolverList } from "../../engine/values/resolution/context.ts";
import type { Resolver, ResolverCall } from "../../engine/values/resolution/resolver.ts";
import { byCodePoint } from "../../foundation/text/code-points.ts";
import { strftime } from "../../foundation/text/date-time.ts";

/**
 * The resolvers that Hydra registers, and the program's own, which may replace them.
 *
 * @param program the time that `now` formats, and the tree that `hydra` reads
 */
export function withHydraResolvers(
  resolvers: Iterable<Resolver> | undefined,
  program: {
    readonly now: Date;
    readonly root: () => MapNode | undefined;
    readonly dialect?: Dialect;
    /** The texts of overrides with secrets. */
    readonly hidden?: () => ReadonlySet<string>;
  },
): readonly Resolver[] {
  const added = resolverList(resolvers);
  const taken = new Set(added.map(({ name }) => name));
  const { dialect = DEFAULT_DIALECT, hidden, now, root } = program;
  const standard = [
    nowResolver(now),
    pythonVersionResolver,
    hydraResolver(root),
    ...(dialect.resolvesDirname ? [dirnameResolver(root, hidden)] : []),
  ];
  return [...standard.filter(({ name }) => !taken.has(name)), ...added];
}

/**
 * `${hydra:runtime.cwd}`: a value of the `hydra` node, usable anywhere in the config. A map or list stays part of the
 * `hydra` tree: its interpolations are resolved there. An absent or missing value (`runtime.output_dir` before the job
 * has one) is null, as in Hydra.
 *
 * @param read the composed tree with its `hydra` node, or undefined while it is being composed
 */
export function hydraResolver(read: () => ConfigNode | undefined): Resolver {
  const locked = new WeakMap<ConfigNode, ConfigNode>();
  return {
    name: "hydra",
    resolve: (args, call) => {
      const [path] = args;
      if (path === undefined || args.length !== 1)
        throw new ConfigError({
          code: "resolver.failed",
          message: "hydra takes one argument, a key of the hydra node such as runtime.cwd",
        });
      const root = read();
      if (root === undefined)
        throw new ConfigError({
          code: "resolver.failed",
          message: "HydraConfig was not set",
          hint: "hydra: has values only in jobs of hydraMain, not in configs from compose()",
        });
      const tree = locked.get(root) ?? lockHydra(root);
      locked.set(root, tree);
      const found = call.selectIn(tree, ["hydra"], pyStr(path.node));
      return found === undefined || isMissing(found.node) ? null : found;
    },
  };
}

/** `HydraConfig` is read-only: not even `OmegaConf.resolve` may write to it. */
function lockHydra(root: ConfigNode): ConfigNode {
  const hydra = root.kind === "map" ? root.entries.get("hydra") : undefined;
  if (root.kind !== "map" || hydra === undefined) return root;
  const value = withFlags(hydra.value, { readonly: true });
  return { ...root, entries: new Map(root.entries).set("hydra", { ...hydra, value }) };
}

/**
 * `${now:%Y-%m-%d}`: the time of the run in a pattern of Python's strftime. A run has a single time, so that two
 * directories named by it are the same.
 */
export function nowResolver(time: Date): Resolver {
  return {
    name: "now",
    useCache: true,
    pure: true,
    resolve: (args) => {
      const [pattern] = args;
      if (pattern === undefined || args.length !== 1)
        throw new ConfigError({
          code: "resolver.failed",
          message: "now takes one argument, a pattern such as %Y-%m-%d",
        });
      return strftime(pyStr(pattern.node), time);
    },
  };
}

/**
 * The Python version whose behaviour this dialect has. No Python interpreter is asked: a config that depends on the
 * version must compose the same on every machine.
 */
const VERSIONS: ReadonlyMap<string, string> = new Map([
  ["major", "3"],
  ["minor", "3.11"],
  ["micro", "3.11.2"],
]);

/** `${python_version:}`, `${python_version:micro}`; null for other levels, as in Hydra. */
export const pythonVersionResolver: Resolver = {
  name: "python_version",
  pure: true,
  resolve: (args) => {
    if (args.length > 1)
      throw new ConfigError({
        code: "resolver.failed",
        message: "python_version takes one argument: major, minor or micro",
      });
    const [level] = args;
    return VERSIONS.get(level === undefined ? "minor" : pyStr(level.node)) ?? null;
  },
};

/**
 * `${hydra_override_dirname:}`: the overrides of the task as typed, sorted and joined, for the name of a directory. Its
 * argument is a mapping with `kv_sep`, `item_sep`, `exclude_keys` and `element_resolver`; without one,
 * `hydra.job.config.override_dirname` gives the first three.
 *
 * @param read the composed tree with its `hydra` node, for configs without one
 * @param hidden the texts of overrides with secrets, which appear in no name
 */
export function dirnameResolver(
  read: () => ConfigNode | undefined = () => undefined,
  hidden: () => ReadonlySet<string> = () => new Set(),
): Resolver {
  return {
    name: "hydra_override_dirname",
    resolve(args, call) {
      if (args.length > 1)
        throw dirnameError(
          "too many positional arguments: hydra_override_dirname takes one, a mapping of options",
        );
      const tree = holdsHydra(call.root) ? call.root : read();
      const valueAt = (key: string): ConfigNode | undefined =>
        tree === undefined ? undefined : call.selectIn(tree, [], key)?.node;
      if (tree === undefined || valueAt("hydra") === undefined)
        throw dirnameError("HydraConfig was not set");
      const options = readDirnameOptions(args[0]?.node, valueAt);
      const items = overridesIn(tree)
        .filter((text) => !hidden().has(text))
        .map((text, index) => parseOverride(text, { dialect: call.context.dialect }, index))
        .filter(({ keyOrGroup }) => !options.excludeKeys.includes(keyOrGroup))
        .map(({ origin }) => origin.text)
        .sort(byCodePoint)
        .map((text) =>
          nameOfOverride(
            text.replaceAll("=", () => options.keyValueSeparator),
            options,
            call,
          ),
        );
      return items.join(options.itemSeparator);
    },
  };
}

interface DirnameSettings {
  readonly keyValueSeparator: string;
  readonly itemSeparator: string;
  readonly excludeKeys: readonly string[];
  readonly elementResolver?: string;
}

const dirnameError = (message: string): ConfigError =>
  new ConfigError({ code: "resolver.failed", message });

const holdsHydra = (root: ConfigNode): boolean => root.kind === "map" && root.entries.has("hydra");

/** The overrides as recorded in the tree, without resolving interpolations in them. */
function overridesIn(tree: ConfigNode): readonly string[] {
  const task = getAt(tree, ["hydra", "overrides", "task"]);
  return task?.kind === "list" ? task.items.map((item) => pyStr(item)) : [];
}

function readDirnameOptions(
  options: ConfigNode | undefined,
  valueAt: (key: string) => ConfigNode | undefined,
): DirnameSettings {
  const isGiven = options !== undefined && !(options.kind === "scalar" && options.value === null);
  if (isGiven && options.kind !== "map")
    throw dirnameError("hydra_override_dirname options must be a dictionary");
  const member = (name: string): ConfigNode | undefined =>
    isGiven ? child(options, name) : valueAt(`hydra.job.config.override_dirname.${name}`);
  const text = (name: string, ifAbsent?: string): string | undefined => {
    const node = member(name);
    if (node === undefined) return ifAbsent;
    if (node.kind === "scalar" && typeof node.value === "string") return node.value;
    if (ifAbsent === undefined && node.kind === "scalar" && node.value === null) return undefined;
    throw dirnameError(`hydra_override_dirname ${name} must be a string`);
  };
  const elementResolver = isGiven ? text("element_resolver") : undefined;
  return {
    keyValueSeparator: text("kv_sep", "=") ?? "=",
    itemSeparator: text("item_sep", ",") ?? ",",
    excludeKeys: keysIn(member("exclude_keys")),
    ...(elementResolver !== undefined && { elementResolver }),
  };
}

function keysIn(node: ConfigNode | undefined): readonly string[] {
  if (node === undefined) return [];
  if (node.kind !== "list")
    throw dirnameError("hydra_override_dirname exclude_keys must be a list");
  return node.items.map((item) => {
    if (item.kind === "scalar" && typeof item.value === "string") return item.value;
    throw dirnameError("hydra_override_dirname exclude_keys must contain strings");
  });
}

/** A key that no config has; interpolations in a text below it are resolved against the config. */
const ITEM = "_hydra_override_dirname_item";

function nameOfOverride(
  text: string,
  { elementResolver }: DirnameSettings,
  call: ResolverCall,
): string {
  const resolved = text.includes("${") ? resolvedText(text, call) : text;
  if (elementResolver === undefined) return resolved;
  const made = call.context.resolvers.get(elementResolver);
  if (made === undefined) throw dirnameError(`Unknown OmegaConf resolver '${elementResolver}'`);
  const node = scalar(resolved, call.node.origin);
  const result = made.resolve([call.create(node)], call);
  if (typeof result !== "object" || result === null) return pyStr(scalar(result, node.origin));
  return pyStr("node" in result ? result.node : result);
}

function resolvedText(text: string, call: ResolverCall): string {
  if (call.root.kind !== "map") return text;
  const entry = { key: ITEM, value: scalar(text, call.node.origin) };
  const tree = { ...call.root, entries: new Map(call.root.entries).set(ITEM, entry) };
  const found = call.selectIn(tree, [], ITEM);
  return found === undefined ? text : pyStr(found.node);
}
