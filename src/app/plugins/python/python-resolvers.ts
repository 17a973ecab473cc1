/**
 * Resolvers that are functions of the project's Python: a single process answers, from the first call to the command's
 * end.
 */

import { ConfigError } from "../../../engine/values/errors.ts";
import { fromCode } from "../../../engine/values/origin.ts";
import type {
  Resolver,
  ResolverArgument,
  ResolverCall,
} from "../../../engine/values/resolution/resolver.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import SOURCE from "./python_resolvers.py";
import {
  type Encoded,
  encodeScalar,
  nodeOf,
  type PythonAnswer,
  PythonEnded,
  type PythonFailure,
  type PythonPeer,
  type PythonPlace,
  startPython,
} from "./python-peer.ts";

/**
 * A resolver `name` that calls the function at the dotted `path`, or the function that the module there registers under
 * this name.
 */
export interface PythonFunction {
  readonly name: string;
  readonly path: string;
  /** Whether equal arguments give equal results: then the function is called once for them. */
  readonly isPure: boolean;
  readonly useCache: boolean;
}

/**
 * Makes resolvers of Python functions, which share a process. The first use starts it. It ends with this process,
 * however that ends: its input is then closed.
 */
export function pythonResolvers(
  functions: readonly PythonFunction[],
  place: PythonPlace & { readonly folders: readonly string[] },
): readonly Resolver[] {
  let started: PythonPeer | undefined;
  const ask = (question: string): PythonAnswer<Encoded> => {
    started ??= startPython(SOURCE, [...place.folders, place.cwd], place);
    return started.ask<Encoded>(question);
  };
  return functions.map(({ isPure, name, path, useCache }): Resolver => {
    const answered = new Map<string, PythonAnswer<Encoded>>();
    return {
      name,
      ...(isPure && { pure: true }),
      ...(useCache && { useCache: true }),
      resolve(args, call) {
        const question = JSON.stringify([name, path, args.map((arg) => encode(arg, call))]);
        try {
          const answer = isPure
            ? getOrCreate(answered, question, () => ask(question))
            : ask(question);
          if ("value" in answer) return nodeOf(answer.value, fromCode(`resolver ${name}`));
          throw failed(name, answer, call);
        } catch (error) {
          if (!(error instanceof PythonEnded)) throw error;
          started = undefined;
          throw ended(name, place.python, error.message, call);
        }
      },
    };
  });
}

function encode(arg: ResolverArgument, call: ResolverCall): Encoded {
  const { node } = arg;
  if (node.kind === "scalar") return encodeScalar(node.value);
  const below = (key: Parameters<ResolverCall["child"]>[1]): Encoded => {
    const child = call.child(arg, key);
    return child === undefined ? "???" : encode(child, call);
  };
  if (node.kind === "list") return { l: node.items.map((_, index) => below(BigInt(index))) };
  return {
    m: [...node.entries.values()].map(({ key }) => [encodeScalar(key), below(key)] as const),
  };
}

/** @param answer Python's own exception, with the line of the project that raised it */
function failed(
  name: string,
  { error, file, line }: PythonFailure,
  { fullKey, node }: ResolverCall,
): ConfigError {
  const where = file ? ` (${file.split("/").at(-1)}:${line})` : "";
  const isLacking = /^ModuleNotFoundError/.test(error);
  return new ConfigError({
    code: "resolver.failed",
    message: `Resolver '${name}' failed: ${error}${where}`,
    key: fullKey(),
    origin: node.origin,
    ...(isLacking && {
      hint: "modules are looked for beside the settings file, in the working directory and by the project's Python (python: in hydraconf.yaml)",
    }),
  });
}

const ended = (
  name: string,
  python: string,
  why: string,
  { fullKey, node }: ResolverCall,
): ConfigError =>
  new ConfigError({
    code: "resolver.failed",
    message: `Resolver '${name}' failed: the Python '${python}' could not be asked: ${why}`,
    key: fullKey(),
    origin: node.origin,
    hint: "name the project's own: python: .venv/bin/python in hydraconf.yaml",
  });
