/** The resolvers that settings files name: built-in ones, those of a module, and functions of the project's Python. */

import { isAbsolute, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { alternativesTo, ConfigError } from "../../engine/values/errors.ts";
import { isNode, type ScalarValue } from "../../engine/values/node.ts";
import type { FileOrigin } from "../../engine/values/origin.ts";
import { pyStr, pyTypeName } from "../../engine/values/python-text.ts";
import {
  divide,
  equals,
  evaluateArithmetic,
  isTrue,
  multiply,
  type Value,
} from "../../engine/values/resolution/arithmetic.ts";
import {
  type Resolver,
  type ResolverArgument,
  resolver,
} from "../../engine/values/resolution/resolver.ts";
import { isError } from "../../foundation/system/builtin-types.ts";
import { importFile } from "../../foundation/system/import-file.ts";
import { importRemedy } from "../../foundation/system/import-remedy.ts";
import { interpreterOf } from "./python/interpreter.ts";
import type { PythonFunction } from "./python/python-resolvers.ts";

/** A setting that runs code. */
export interface Runnable {
  readonly origin: FileOrigin;
  /** Why it is not run: the user has not trusted the project that it is from (trust.ts). */
  readonly refusal?: ConfigError;
}

/** A text of a settings file, and the directory that relative paths in that file start from. */
export interface PlacedText extends Runnable {
  readonly text: string;
  readonly folder: string;
}

/** A resolver that a settings file names. */
export interface ResolverEntry extends Runnable {
  /** `ready`, `python:module.function`, or the path of a module, with `#export` if the export has another name. */
  readonly from: string;
  readonly folder: string;
  readonly use_cache?: boolean;
  readonly pure?: boolean;
}

export const RESOLVER_EXAMPLE = {
  hint: "resolvers: {eval: ready, double: 'python:my_project.resolvers.double', scale: ./resolvers.mjs}",
};

/**
 * Makes the resolvers that settings name. Modules are loaded now; Python starts when one of its functions is first
 * called.
 *
 * @throws ConfigError `plugin.settings` for an unknown built-in resolver, `plugin.invalid` for a module without the
 * export
 */
export async function settingsResolvers(
  {
    python,
    resolvers,
  }: {
    readonly python?: PlacedText;
    readonly resolvers: Readonly<Record<string, ResolverEntry>>;
  },
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<readonly Resolver[]> {
  const made: Resolver[] = [];
  const ofPython: PythonFunction[] = [];
  const folders = new Set<string>();
  for (const [name, entry] of Object.entries(resolvers)) {
    const { folder, from, pure: isPure = false, use_cache: useCache = false } = entry;
    const isPython = from.startsWith("python:");
    const refusal = entry.refusal ?? (isPython ? python?.refusal : undefined);
    if (from === "ready") made.push(readyResolver(name, entry));
    else if (refusal !== undefined) made.push(refusedResolver(name, refusal));
    else if (isPython) {
      const path = from.slice("python:".length);
      if (!/^\w+(\.\w+)*$/.test(path)) throw refused(`'${from}' names no Python function`, entry);
      ofPython.push({ name, path, isPure, useCache });
      folders.add(folder);
    } else made.push(await moduleResolver(name, entry));
  }
  if (ofPython.length === 0) return made;
  const { pythonResolvers } = await import("./python/python-resolvers.ts");
  const interpreter = interpreterOf(python === undefined ? {} : { python }, place);
  const where = { ...place, python: interpreter, folders: [...folders] };
  return [...made, ...pythonResolvers(ofPython, where)];
}

/** Stands for a resolver that may not run, so that what does not need it goes on. */
const refusedResolver = (name: string, refusal: ConfigError): Resolver => ({
  name,
  resolve(_args, { fullKey }) {
    throw refusal.withRequestedKey(fullKey());
  },
});

const refused = (message: string, { origin }: ResolverEntry, hints: object = RESOLVER_EXAMPLE) =>
  new ConfigError({ code: "plugin.settings", message, origin, ...hints });

function readyResolver(name: string, entry: ResolverEntry): Resolver {
  const found = READY_RESOLVERS.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const names = READY_RESOLVERS.map((candidate) => candidate.name);
  throw refused(`There is no ready resolver '${name}'`, entry, alternativesTo(name, names));
}

async function moduleResolver(name: string, entry: ResolverEntry): Promise<Resolver> {
  const [path = "", exported = name] = entry.from.split("#");
  if (!/^\.{1,2}\//.test(path) && !isAbsolute(path))
    throw refused(`'${entry.from}' is neither 'ready', nor python:..., nor a path`, entry);
  const invalid = (message: string, cause?: unknown) =>
    new ConfigError({
      code: "plugin.invalid",
      message,
      origin: entry.origin,
      hint: importRemedy(cause),
      cause,
    });
  const file = resolve(entry.folder, path);
  const loaded = await importFile(pathToFileURL(file).href).catch((cause: unknown) => {
    const [why] = String(isError(cause) ? cause.message : cause).split("\n");
    throw invalid(`Cannot load the resolver '${name}' from '${path}': ${why}`, cause);
  });
  const found = (loaded as Readonly<Record<string, unknown>>)[exported];
  const { pure = false, use_cache: useCache = false } = entry;
  if (typeof found === "function")
    return resolver(name, found as (...args: readonly unknown[]) => unknown, { pure, useCache });
  if (typeof found === "object" && found !== null && "resolve" in found)
    return { ...(found as Resolver), name };
  throw invalid(`'${path}' exports no function '${exported}' for the resolver '${name}'`);
}

const operand = (arg: ResolverArgument | undefined): Value => {
  const node = arg?.node;
  if (node?.kind === "scalar") {
    const { value } = node;
    if (value === null || typeof value !== "object") return value;
  }
  throw new TypeError(`${node === undefined ? "nothing" : `'${pyStr(node)}'`} is not a number`);
};

const folded = (value: ScalarValue): ScalarValue =>
  typeof value === "string" ? value.toLowerCase() : value;

/** Compares as programs compare names of options: case-insensitively. */
function areEqual(a: ResolverArgument, b: ResolverArgument): boolean {
  const [x, y] = [a.node, b.node];
  if (x.kind !== "scalar" || y.kind !== "scalar") return pyStr(x) === pyStr(y);
  return equals(folded(x.value) as Value, folded(y.value) as Value);
}

/** A resolver with a fixed number of arguments. */
const ready = (
  name: string,
  count: number,
  compute: (...args: readonly ResolverArgument[]) => ReturnType<Resolver["resolve"]>,
): Resolver => ({
  name,
  pure: true,
  resolve(args) {
    if (args.length !== count) throw new TypeError(`${args.length} of ${count} arguments given`);
    return compute(...args);
  },
});

const product = (a?: ResolverArgument, b?: ResolverArgument): Value =>
  multiply(operand(a), operand(b));

/** The built-in resolvers; a config knows none of them before a settings file names it. */
export const READY_RESOLVERS: readonly Resolver[] = [
  ready("eval", 1, (expression) => {
    const node = expression?.node;
    if (node?.kind === "scalar" && typeof node.value === "string")
      return evaluateArithmetic(node.value);
    const found = isNode(node) ? pyTypeName(node) : "nothing";
    throw new TypeError(`the expression must be a text, and is ${found}`);
  }),
  ready("multiply", 2, product),
  ready("times", 2, product),
  ready("divide", 2, (a, b) => divide(operand(a), operand(b))),
  ready("eq", 2, (a, b) => areEqual(a as ResolverArgument, b as ResolverArgument)),
  ready("if", 3, (condition, yes, no) => {
    const node = condition?.node as ResolverArgument["node"];
    const holds =
      node.kind === "scalar"
        ? isTrue(node.value as Value)
        : node.kind === "list"
          ? node.items.length > 0
          : node.entries.size > 0;
    return (holds ? yes : no) as ResolverArgument;
  }),
  ready("contains", 2, (part, whole) => {
    const [what, where] = [part, whole] as [ResolverArgument, ResolverArgument];
    if (where.node.kind === "list")
      return where.node.items.some((node) => areEqual(what, { kind: "place", node, parent: null }));
    if (where.node.kind === "map")
      return [...where.node.entries.values()].some(({ key }) => pyStr(what.node) === String(key));
    return String(folded(pyStr(where.node))).includes(String(folded(pyStr(what.node))));
  }),
  ready("resolve_default", 2, (fallback, value) => {
    const node = value?.node;
    const isEmpty = node?.kind === "scalar" && node.value === "";
    return (isEmpty ? fallback : value) as ResolverArgument;
  }),
];
