/** The resolvers of OmegaConf: `oc.env`, `oc.select`, `oc.decode` and others. */
import { plural } from "../../../foundation/text/plural.ts";
import { shellQuote } from "../../../foundation/text/shell-words.ts";
import { alternativesTo, ConfigError, isConfigError, nearest } from "../errors.ts";
import { isMissing, list, type MapNode, type NodeType, type ScalarNode, scalar } from "../node.ts";
import { fromCode } from "../origin.ts";
import { rootPlace } from "../place.ts";
import { keyText, pyRepr, pyStr, pyTypeName } from "../python-text.ts";
import { convertScalar } from "../types/convert-scalar.ts";
import { wrongType } from "../types/type-errors.ts";
import { checkTree } from "../yaml/check-tree.ts";
import { createConfig } from "../yaml/reader.ts";
import type { Resolver, ResolverArgument, ResolverCall } from "./resolver.ts";

/**
 * `${oc.create:value}`: makes a map or list a part of the configuration, below the parent. A string
 * is read as YAML.
 */
const ocCreate: Resolver = {
  name: "oc.create",
  pure: true,
  resolve(args, call) {
    expectArguments(args, { required: ["obj"] });
    const node = args[0]?.node;
    if (node?.kind === "map" || node?.kind === "list") return call.create(checkTree(node));
    if (node?.value === null) return null;
    if (typeof node?.value === "string") return call.create(createConfig(node.value, call.context));
    throw new TypeError(
      `Object of unsupported type: '${node === undefined ? "" : pyTypeName(node)}'`,
    );
  },
};

/** The types of `oc.coerce`, by their names. */
const COERCED: ReadonlyMap<string, NodeType> = new Map<string, NodeType>([
  ...(["bool", "bytes", "float", "int", "str"] as const).map((kind) => [kind, { kind }] as const),
  ["pathlib.Path", { kind: "path" }],
]);

/** The value without its type; undefined where the type refuses it. */
function tryConvert(type: NodeType, node: ScalarNode): ScalarNode | undefined {
  try {
    const { type: _, ...bare } = convertScalar(type, node, rootPlace(node));
    return bare;
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** `${oc.coerce:type,value}`: the value converted to a type, as a field of that type converts it. */
const ocCoerce: Resolver = {
  name: "oc.coerce",
  pure: true,
  resolve(args, { fullKey, node: caller }) {
    expectArguments(args, { required: ["type_name", "value"] });
    const [name, other] = args.map(({ node }) => pyStr(node));
    const type = name === undefined ? undefined : COERCED.get(name);
    if (name === undefined || type === undefined)
      throw new ConfigError({
        code: "resolver.failed",
        message: `Invalid oc.coerce type: '${name}'`,
        key: fullKey(),
        origin: caller.origin,
        ...alternativesTo(name ?? "", [...COERCED.keys()]),
        ...(other !== undefined &&
          COERCED.has(other) && { hint: `the type comes first: \${oc.coerce:${other},…}` }),
      });
    const node = args[1]?.node ?? scalar(null, caller.origin);
    if (node.kind === "scalar" && node.value === null)
      throw new TypeError(`Incompatible value 'None' for field of type '${name}'`);
    const none = scalar(null, caller.origin);
    const converted = node.kind === "scalar" ? tryConvert(type, node) : undefined;
    if (converted !== undefined) return converted;
    throw new ConfigError({
      code: "resolver.failed",
      // OmegaConf names the value that the new field has so far.
      message: wrongType(type, none, rootPlace(none)).message,
      key: fullKey(),
      origin: caller.origin,
      hint: `${pyRepr(pyStr(node))} (${pyTypeName(node)}) cannot be converted to ${name}`,
    });
  },
};

/**
 * `${oc.decode:text}`: the text evaluated by the grammar of resolver arguments, so that `"1"` is an
 * int and `"[${a}]"` a list. Null stays null.
 */
const ocDecode: Resolver = {
  name: "oc.decode",
  pure: true,
  resolve(args, call) {
    expectArguments(args, { required: ["expr"] });
    const node = args[0]?.node;
    if (node?.kind === "scalar") {
      if (node.value === null) return null;
      if (typeof node.value === "string") return call.evaluate(node.value);
    }
    const found = node === undefined ? "" : `'${pyStr(node)}' is of type ${pyTypeName(node)}`;
    throw new TypeError(`can only take strings or null as input, but ${found}`);
  },
};

const MESSAGE = "'$OLD_KEY' is deprecated. Change your code and config to use '$NEW_KEY'";

/**
 * `${oc.deprecated:new.key}` or `${oc.deprecated:new.key,message}`: written at the old key of a value that was moved.
 * Returns the value of the new key and warns at every use.
 */
const ocDeprecated: Resolver = {
  name: "oc.deprecated",
  resolve(args, call) {
    expectArguments(args, { required: ["key"], optional: ["message"] });
    const key = expectText("interpolation key type", args[0]);
    const message = args.length > 1 ? expectText("interpolation message type", args[1]) : MESSAGE;
    const oldKey = call.fullKey();
    const target = call.select(key);
    if (target === undefined) throw new Error(`At '${oldKey}': Key not found: '${key}'`);
    call.context.warn(substitute(message, { OLD_KEY: oldKey, NEW_KEY: call.fullKey(target) }));
    return target;
  },
};

/** Python's `string.Template.safe_substitute`: unknown names stay, `$$` is a dollar. */
function substitute(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(
    /\$(?:(\$)|([_a-zA-Z][_a-zA-Z0-9]*)|\{([_a-zA-Z][_a-zA-Z0-9]*)\})/g,
    (all: string, dollar?: string, name?: string, braced?: string) => {
      if (dollar !== undefined) return "$";
      const key = name ?? braced ?? "";
      return Object.hasOwn(values, key) ? (values[key] ?? all) : all;
    },
  );
}

/** `${oc.dict.keys:key}`: the keys of a map, as a list. */
const ocDictKeys: Resolver = {
  name: "oc.dict.keys",
  pure: true,
  resolve(args, call) {
    const { map } = expectMap(args, call);
    const origin = fromCode("resolver oc.dict.keys");
    const keys = [...map.entries.values()].map(({ key }) => scalar(key, origin));
    return call.create(list(keys, origin));
  },
};

const ANY: NodeType = { kind: "any" };

/**
 * `${oc.dict.values:key}`: the values of a map, as a list of references to them, typed as the map is. A relative key
 * gets one more dot, because the references stand one level deeper than the interpolation.
 */
const ocDictValues: Resolver = {
  name: "oc.dict.values",
  pure: true,
  resolve(args, call) {
    const { key, map } = expectMap(args, call);
    const origin = fromCode("resolver oc.dict.values");
    const prefix = key.startsWith(".") ? `.${key}` : key;
    const references = [...map.entries.values()].map((entry) =>
      scalar(`\${${prefix}.${keyText(entry.key)}}`, origin),
    );
    const element = map.type?.kind === "map" ? map.type.element : ANY;
    // Checked, because not every key can be written in an interpolation.
    const node = checkTree(list(references, origin));
    return call.create({ ...node, type: { kind: "list", element, optional: true } });
  },
};

/**
 * `${oc.env:NAME}` or `${oc.env:NAME,default}`: an environment variable as a string. The default is converted to a
 * string too, except null.
 */
const ocEnv: Resolver = {
  name: "oc.env",
  pure: true,
  resolve(args, { context, node, fullKey }) {
    expectArguments(args, { required: ["key"], optional: ["default"] });
    const key = expectText("the name of the variable", args[0]);
    const value = Object.hasOwn(context.env, key) ? context.env[key] : undefined;
    if (value !== undefined) return value;
    const fallback = args[1]?.node;
    if (fallback === undefined)
      throw new ConfigError({
        code: "resolver.failed",
        message: `Resolver 'oc.env' failed: Environment variable ${pyRepr(key)} not found`,
        key: fullKey(),
        origin: node.origin,
        nearest: nearest(key, Object.keys(context.env)),
        hint: shellDefault(key) ?? `${toSet(key)}give a default: \${oc.env:${written(key)},VALUE}`,
      });
    return fallback.kind === "scalar" && fallback.value === null ? null : pyStr(fallback);
  },
};

/** `${oc.env:HOME:-x}`: a default, as a shell has it. */
function shellDefault(key: string): string | undefined {
  const [, name, preset] = /^([A-Za-z_]\w*):-([\w./-]+)$/.exec(key) ?? [];
  return name === undefined
    ? undefined
    : `a comma precedes the default: write \${oc.env:${name},${preset}}`;
}

/** How to set the variable before a command, as far as an environment can have a variable of this name. */
function toSet(name: string): string {
  if (name === "" || name.includes("=")) return "";
  // A shell itself cannot set variables with other names.
  const byEnv = `env ${name.startsWith("-") ? "-- " : ""}${shellQuote(name)}=VALUE`;
  const setting = /^[A-Za-z_]\w*$/.test(name) ? `${name}=VALUE` : byEnv;
  return `put ${setting} before the command (a Python program or torchrun may set it itself), or `;
}

/** The name as it is written in an interpolation; one that would need escapes is replaced by a placeholder. */
function written(name: string): string {
  if (/['"\\$]/.test(name)) return "NAME";
  return PLAIN.test(name) ? name : `'${name}'`;
}

/** Texts that need no quotes and are no keyword for another value. */
const PLAIN = /^(?!(?:null|true|false|inf|nan)$)[a-z_][\w./-]*$/i;

/**
 * `${oc.select:key}` or `${oc.select:key,default}`: as `${key}`, but a key that is absent or missing
 * gives the default (null without one) instead of an error.
 */
const ocSelect: Resolver = {
  name: "oc.select",
  pure: true,
  resolve(args, call) {
    expectArguments(args, { required: ["key"], optional: ["default"] });
    const found = call.select(expectText("the key", args[0]));
    return found === undefined || isMissing(found.node) ? (args[1] ?? null) : found;
  },
};

/** The resolvers of every context, but for those that only some versions have (`addedResolvers` of a dialect). */
export const builtinResolvers: readonly Resolver[] = [
  ocCoerce,
  ocCreate,
  ocDecode,
  ocDeprecated,
  ocDictKeys,
  ocDictValues,
  ocEnv,
  ocSelect,
];

/** The parameters of a resolver, in order; the optional ones come last. */
interface Parameters {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
}

/** Refuses a call with too few or too many arguments. */
function expectArguments(args: readonly ResolverArgument[], parameters: Parameters): void {
  const { required, optional = [] } = parameters;
  const missing = required.slice(args.length).map((name) => `'${name}'`);
  if (missing.length > 0) throw new TypeError(`missing argument ${missing.join(", ")}`);
  const most = required.length + optional.length;
  if (args.length > most)
    throw new TypeError(
      `${plural(args.length, "argument was", "arguments were")} given, but at most ${most} are allowed`,
    );
}

/** The argument as a string; other values are refused. `what` describes the argument in the error. */
function expectText(what: string, arg: ResolverArgument | undefined): string {
  const node = arg?.node;
  if (node?.kind === "scalar" && typeof node.value === "string") return node.value;
  const found = node === undefined ? "absent" : `'${pyStr(node)}' (${pyTypeName(node)})`;
  throw new TypeError(`${what} is not a string, but ${found}`);
}

/** The map that `oc.dict.keys` or `oc.dict.values` is called with, and the key it was found at. */
function expectMap(
  args: readonly ResolverArgument[],
  call: ResolverCall,
): { readonly key: string; readonly map: MapNode } {
  expectArguments(args, { required: ["key"] });
  const key = expectText("the key", args[0]);
  const place = call.select(key, { throwOnMissing: true });
  if (place === undefined) throw new Error(`Key not found: '${key}'`);
  const { node, result } = place;
  if (node.kind !== "map" || result === true)
    throw new TypeError(`cannot be applied to objects of type: ${pyTypeName(node)}`);
  return { key, map: node };
}
