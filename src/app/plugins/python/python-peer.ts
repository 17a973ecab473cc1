/** A process of the project's Python that answers questions, each a line of JSON. */

import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ConfigNode,
  list,
  map,
  type ScalarValue,
  scalar,
} from "../../../engine/values/node.ts";
import type { Origin } from "../../../engine/values/origin.ts";
import { askProgramSync } from "../../../foundation/system/ask-program-sync.ts";
import { isBytes } from "../../../foundation/system/builtin-types.ts";
import PEER from "./python_peer.py";

/** Texts, booleans and null are plain JSON; ints of any size, floats, lists and maps need a wrapper. */
export type Encoded =
  | null
  | boolean
  | string
  | { readonly i: string }
  | { readonly f: string }
  | { readonly b: string }
  | { readonly p: string }
  | { readonly l: readonly Encoded[] }
  | { readonly m: readonly (readonly [Encoded, Encoded])[] };

/** An exception, with the line of the project that raised it. */
export interface PythonFailure {
  readonly error: string;
  readonly file?: string | null;
  readonly line?: number | null;
}

export type PythonAnswer<Value> = { readonly value: Value } | PythonFailure;

/** Where a Python process runs. */
export interface PythonPlace {
  readonly python: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface PythonPeer {
  /**
   * @param question JSON, in a line
   * @throws PythonEnded
   */
  ask<Value>(question: string): PythonAnswer<Value>;
  /** Ends the process. */
  close(): void;
}

/** The process did not start, or has ended. */
export class PythonEnded extends Error {}

/**
 * Starts a process. It ends with this one, however that ends: its input is then closed.
 *
 * Interpolations are resolved synchronously, so the process is read and written through FIFOs, which support blocking
 * reads. Each side opens only its own end: when a process ends, its end closes, and the other side sees that. Standard
 * output is reserved for answers: what functions print goes to standard error.
 *
 * @param source a program that has the functions of python_peer.py, and calls `serve`
 * @param args the folders in which modules are looked for first
 */
export function startPython(
  source: string,
  args: readonly string[],
  { cwd, env, python }: PythonPlace,
): PythonPeer {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-python-"));
  try {
    const [questions, answers] = [join(folder, "questions"), join(folder, "answers")];
    makeFifos([questions, answers], python);
    const ofQuestions = bothEnds(questions);
    const ofAnswers = bothEnds(answers);
    const child = spawn(python, ["-c", `${PEER}\n${source}`, ...args], {
      cwd,
      env: env as NodeJS.ProcessEnv,
      stdio: [ofQuestions.read, ofAnswers.write, "inherit"],
    });
    closeSync(ofQuestions.read);
    closeSync(ofAnswers.write);
    child.on("error", () => {});
    child.unref();
    if (child.pid === undefined) throw new PythonEnded("it was not found, or cannot be executed");
    let isOpen = true;
    const close = (): void => {
      if (!isOpen) return;
      isOpen = false;
      closeSync(ofQuestions.write);
      closeSync(ofAnswers.read);
    };
    return {
      ask<Value>(question: string) {
        if (!isOpen) throw new PythonEnded("it was closed");
        try {
          return exchange<Value>(question, ofQuestions.write, ofAnswers.read);
        } catch {
          close();
          child.kill();
          throw new PythonEnded("it ended while it was asked");
        }
      },
      close,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Falls back to Python, which takes longer. */
function makeFifos(paths: readonly string[], python: string): void {
  const byPython = "import os, sys; [os.mkfifo(path, 0o600) for path in sys.argv[1:]]";
  for (const command of [
    ["mkfifo", "-m", "600"],
    [python, "-c", byPython],
  ])
    if (!askProgramSync({ argv: [...command, ...paths], stdout: "nowhere" }).failed) return;
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

function exchange<Value>(question: string, to: number, from: number): PythonAnswer<Value> {
  writeSync(to, `${question}\n`);
  return JSON.parse(lineFrom(from)) as PythonAnswer<Value>;
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

/** A tree without interpolations. */
export function encodeNode(node: ConfigNode): Encoded {
  if (node.kind === "scalar") return encodeScalar(node.value);
  if (node.kind === "list") return { l: node.items.map(encodeNode) };
  return {
    m: [...node.entries.values()].map(
      ({ key, value }) => [encodeScalar(key), encodeNode(value)] as const,
    ),
  };
}

export function encodeScalar(value: ScalarValue): Encoded {
  if (typeof value === "bigint") return { i: String(value) };
  if (typeof value === "number")
    return { f: Number.isFinite(value) ? String(value) : spelt(value) };
  if (isBytes(value)) return { b: Buffer.from(value).toString("base64") };
  return value !== null && typeof value === "object" ? { p: value.path } : value;
}

const spelt = (value: number): string => (Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf");

export function nodeOf(value: Encoded, origin: Origin): ConfigNode {
  if (value !== null && typeof value === "object") {
    if ("l" in value)
      return list(
        value.l.map((element) => nodeOf(element, origin)),
        origin,
      );
    if ("m" in value)
      return map(
        value.m.map(([key, element]) => [scalarOf(key) as never, nodeOf(element, origin)] as const),
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
