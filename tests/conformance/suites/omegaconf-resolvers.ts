import {
  type ConfigNode,
  type Key,
  list,
  map,
  type ScalarValue,
  scalar,
} from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { pyStr } from "../../../src/engine/values/python-text.ts";
import type { Resolver, ResolverArgument } from "../../../src/engine/values/resolution/resolver.ts";

const ORIGIN = fromCode("corpus resolver");

const text = (value: string): ConfigNode => scalar(value, ORIGIN);

/** A single argument as it is, any other number of them as a list. */
const identity = (name: string): Resolver => ({
  name,
  pure: true,
  resolve(args) {
    const [only] = args;
    return args.length === 1 && only !== undefined
      ? only
      : list(
          args.map((arg) => arg.node),
          ORIGIN,
        );
  },
});

const first: Resolver = {
  name: "first",
  pure: true,
  resolve(args, call) {
    const node = only(args);
    const [list] = args;
    if (node.kind === "list" && list !== undefined)
      return call.child(list, 0n) ?? fail("list index out of range");
    if (node.kind === "scalar" && typeof node.value === "string")
      return [...node.value][0] ?? fail("string index out of range");
    if (node.kind !== "map") return fail("the argument is no list and no dict");
    const [entry] = node.entries.values();
    return entry === undefined ? fail("no keys") : entry.key;
  },
};

const sum: Resolver = {
  name: "sum",
  pure: true,
  resolve(args) {
    const [a, b] = [scalarOf(args[0]), scalarOf(args[1])];
    if (args.length !== 2) return fail("missing argument 'b'");
    const [left, right] = args.map((arg) => arg.node);
    if (left?.kind === "list" && right?.kind === "list")
      return list([...left.items, ...right.items], ORIGIN);
    if (typeof a === "bigint" && typeof b === "bigint") return a + b;
    if (typeof a === "string" && typeof b === "string") return a + b;
    if (isNumber(a) && isNumber(b)) return Number(a) + Number(b);
    return fail("unsupported operand types for +");
  },
};

const plusOne: Resolver = {
  name: "plus_one",
  pure: true,
  resolve(args) {
    const value = scalarOf(args[0]);
    if (args.length !== 1) return fail("missing argument 'x'");
    if (typeof value === "bigint") return value + 1n;
    if (typeof value === "boolean") return value ? 2n : 1n;
    return typeof value === "number" ? value + 1 : fail("unsupported operand types for +");
  },
};

const concat: Resolver = {
  name: "concat",
  pure: true,
  resolve(args) {
    const [a, b] = [scalarOf(args[0]), scalarOf(args[1])];
    return args.length === 2 && typeof a === "string" && typeof b === "string"
      ? `${a}.${b}`
      : fail("missing argument 'b', or no strings");
  },
};

/** Python's names of the arguments' types; a literal list or dict is a plain one there. */
const typeOf: Resolver = {
  name: "typeof",
  pure: true,
  resolve: (args) =>
    list(
      args.map((arg) => text(typeName(arg))),
      ORIGIN,
    ),
};

const nodeKey: Resolver = {
  name: "node_key",
  resolve: (args, call) => (args.length === 0 ? call.fullKey() : fail("takes no arguments")),
};

const parentLength: Resolver = {
  name: "parent_len",
  resolve(args, { parent }) {
    if (args.length > 0) return fail("takes no arguments");
    if (parent.kind === "scalar") return fail("the parent is no container");
    return BigInt(parent.kind === "map" ? parent.entries.size : parent.items.length);
  },
};

const boom: Resolver = {
  name: "boom",
  resolve: () => fail("boom"),
};

const makeDict: Resolver = {
  name: "mkdict",
  pure: true,
  resolve: (args) =>
    args.length === 0
      ? dict([
          ["x", scalar(1n, ORIGIN)],
          ["y", dict([["z", scalar(2n, ORIGIN)]])],
        ])
      : fail("mkdict takes no arguments"),
};

const makeList: Resolver = {
  name: "mklist",
  pure: true,
  resolve: (args) =>
    args.length === 0
      ? list([scalar(10n, ORIGIN), scalar(20n, ORIGIN)], ORIGIN)
      : fail("mklist takes no arguments"),
};

/** `(1, (2, "x"))` */
const makeTuple: Resolver = {
  name: "mktuple",
  pure: true,
  resolve: () => tuple([scalar(1n, ORIGIN), tuple([scalar(2n, ORIGIN), text("x")])]),
};

const makeMissing: Resolver = {
  name: "mkmissing",
  pure: true,
  resolve: () => "???",
};

/** Counts its real calls, from 1 in each case. */
function cachedCount(): Resolver {
  let calls = 0n;
  return {
    name: "cached_count",
    useCache: true,
    resolve() {
      calls++;
      return calls;
    },
  };
}

/** The resolvers of `omegaconf/interpolation` beside the built-in ones, fresh for one case. */
export const corpusResolvers = (): readonly Resolver[] => [
  identity("identity"),
  identity("test"),
  identity("ns1.ns2.test"),
  first,
  sum,
  plusOne,
  concat,
  typeOf,
  nodeKey,
  parentLength,
  boom,
  makeDict,
  makeList,
  makeTuple,
  makeMissing,
  cachedCount(),
];

const dict = (entries: readonly (readonly [Key, ConfigNode])[]): ConfigNode => map(entries, ORIGIN);

const tuple = (items: readonly ConfigNode[]): ConfigNode => ({
  ...list(items, ORIGIN),
  tuple: true,
});

function fail(message: string): never {
  throw new Error(message);
}

function only(args: readonly ResolverArgument[]): ConfigNode {
  const [arg] = args;
  return arg !== undefined && args.length === 1 ? arg.node : fail("missing argument 'x'");
}

const scalarOf = (arg: ResolverArgument | undefined): ScalarValue | undefined =>
  arg?.node.kind === "scalar" ? arg.node.value : undefined;

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";

function typeName({ node, result }: ResolverArgument): string {
  if (node.kind !== "scalar" && result === true)
    return node.kind === "map" ? "dict" : node.tuple === true ? "tuple" : "list";
  if (node.kind === "scalar") return SCALAR_NAMES[typeof node.value] ?? pyStr(node);
  return node.kind === "map" ? "DictConfig" : "ListConfig";
}

const SCALAR_NAMES: Readonly<Record<string, string>> = {
  bigint: "int",
  number: "float",
  boolean: "bool",
  string: "str",
  object: "NoneType",
};
