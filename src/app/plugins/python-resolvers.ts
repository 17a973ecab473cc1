/**
 * Resolvers that are functions of the project's Python: a single process answers over lines of JSON, from the first
 * call to the command's end.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { type ConfigNode, list, map, type ScalarValue, scalar } from "../../engine/values/node.ts";
import { fromCode } from "../../engine/values/origin.ts";
import type {
  Resolver,
  ResolverArgument,
  ResolverCall,
} from "../../engine/values/resolution/resolver.ts";
import { isBytes } from "../../foundation/system/builtin-types.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import SOURCE from "./python_resolvers.py";

/** Texts, booleans and null are plain JSON; ints of any size and infinite floats need a wrapper. */
type Encoded =
  | null
  | boolean
  | string
  | { readonly i: string }
  | { readonly f: string }
  | { readonly b: string }
  | { readonly p: string }
  | { readonly l: readonly Encoded[] }
  | { readonly m: readonly (readonly [Encoded, Encoded])[] };

type Answer =
  | { readonly value: Encoded }
  | { readonly error: string; readonly file?: string | null; readonly line?: number | null };

/** Standard output is reserved for answers: output of the functions goes to standard error. */

/** The Python process that runs the functions. */
export interface PythonPlace {
  readonly python: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Additional folders in which to find modules. */
  readonly folders: readonly string[];
}

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
  place: PythonPlace,
): readonly Resolver[] {
  let started: Peer | undefined;
  const ask = (question: string): Answer => {
    started ??= startPython(place);
    return started.ask(question);
  };
  return functions.map(({ isPure, name, path, useCache }): Resolver => {
    const answered = new Map<string, Answer>();
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
          if ("value" in answer) return nodeOf(answer.value, name);
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

interface Peer {
  ask(question: string): Answer;
}

/** The process did not start, or has ended. */
class PythonEnded extends Error {}

/**
 * Interpolations are resolved synchronously, so the process is read and written through FIFOs, which support blocking
 * reads. Each side opens only its own end: when a process ends, its end closes, and the other side sees that.
 */
function startPython({ cwd, env, folders, python }: PythonPlace): Peer {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-resolvers-"));
  try {
    const [questions, answers] = [join(folder, "questions"), join(folder, "answers")];
    makeFifos([questions, answers], python);
    const ofQuestions = bothEnds(questions);
    const ofAnswers = bothEnds(answers);
    const child = spawn(python, ["-c", SOURCE, ...folders, cwd], {
      cwd,
      env: env as NodeJS.ProcessEnv,
      stdio: [ofQuestions.read, ofAnswers.write, "inherit"],
    });
    closeSync(ofQuestions.read);
    closeSync(ofAnswers.write);
    child.on("error", () => {});
    child.unref();
    if (child.pid === undefined) throw new PythonEnded("it was not found, or cannot be executed");
    return { ask: (question) => exchange(question, ofQuestions.write, ofAnswers.read, child) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Falls back to Python, which takes longer. */
function makeFifos(paths: readonly string[], python: string): void {
  const byPython = "import os, sys; [os.mkfifo(path, 0o600) for path in sys.argv[1:]]";
  const commands = [["mkfifo", "-m", "600"] as const, [python, "-c", byPython] as const];
  for (const [file, ...args] of commands)
    if (spawnSync(file, [...args, ...paths], { stdio: "ignore" }).status === 0) return;
  throw new PythonEnded("it was not found, or cannot be executed");
}

/** Opening one end of a FIFO blocks until the other end is open, unless one process has both. */
function bothEnds(path: string): { readonly read: number; readonly write: number } {
  const both = openSync(path, "r+");
  try {
    return { read: openSync(path, "r"), write: openSync(path, "w") };
  } finally {
    closeSync(both);
  }
}

function exchange(question: string, to: number, from: number, child: ChildProcess): Answer {
  try {
    writeSync(to, `${question}\n`);
    return JSON.parse(lineFrom(from)) as Answer;
  } catch {
    closeSync(to);
    closeSync(from);
    child.kill();
    throw new PythonEnded("it ended while it was asked");
  }
}

function lineFrom(descriptor: number): string {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.alloc(65_536);
    const size = readSync(descriptor, piece);
    if (size === 0) throw new Error("no answer");
    pieces.push(piece.subarray(0, size));
    // A question has a single answer of a single line.
    if (piece[size - 1] === 10) return Buffer.concat(pieces).toString("utf8");
  }
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

function encodeScalar(value: ScalarValue): Encoded {
  if (typeof value === "bigint") return { i: String(value) };
  if (typeof value === "number")
    return { f: Number.isFinite(value) ? String(value) : spelt(value) };
  if (isBytes(value)) return { b: Buffer.from(value).toString("base64") };
  return value !== null && typeof value === "object" ? { p: value.path } : value;
}

const spelt = (value: number): string => (Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf");

function nodeOf(value: Encoded, name: string): ConfigNode {
  const origin = fromCode(`resolver ${name}`);
  if (value !== null && typeof value === "object") {
    if ("l" in value)
      return list(
        value.l.map((one) => nodeOf(one, name)),
        origin,
      );
    if ("m" in value)
      return map(
        value.m.map(([key, one]) => [scalarOf(key) as never, nodeOf(one, name)] as const),
        origin,
      );
  }
  return scalar(scalarOf(value), origin);
}

function scalarOf(value: Encoded): ScalarValue {
  if (value === null || typeof value !== "object") return value;
  if ("i" in value) return BigInt(value.i);
  if ("f" in value)
    return (
      { inf: Number.POSITIVE_INFINITY, "-inf": Number.NEGATIVE_INFINITY }[value.f] ??
      Number(value.f)
    );
  if ("b" in value) return new Uint8Array(Buffer.from(value.b, "base64"));
  return "p" in value ? { path: value.p } : null;
}

/** @param answer Python's own exception, with the line of the project that raised it */
function failed(
  name: string,
  { error, file, line }: Extract<Answer, { error: string }>,
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
