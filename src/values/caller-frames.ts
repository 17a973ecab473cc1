import { join } from "node:path";
import { findPackage } from "../system/package-root.ts";

/** Deep enough to reach from the bottom of a composition to whoever asked for it. */
const DEPTH = 100;

/**
 * Where an error was made, as the lines of a stack: as many as it takes to reach the caller's own,
 * whatever is configured. Nothing where stacks are switched off.
 */
export function captureFrames(above: unknown): () => readonly string[] {
  const limit = Error.stackTraceLimit;
  const holder: { stack?: string } = {};
  // Not an assignment: frozen intrinsics refuse it, and an error must be made all the same.
  const isDeep = limit > 0 && limit < DEPTH && Reflect.set(Error, "stackTraceLimit", DEPTH);
  Error.captureStackTrace(holder, above as () => unknown);
  if (isDeep) Reflect.set(Error, "stackTraceLimit", limit);
  return () => framesIn(holder.stack);
}

/** The lines of a stack that say where, without the message above them. */
const framesIn = (stack = ""): readonly string[] =>
  stack.split("\n").filter((line) => /^\s+at /.test(line));

/**
 * The frames of whoever called us, since ours help nobody with a config that is wrong; all of them
 * where the caller is one of our commands.
 */
export function framesOfCaller(frames: readonly string[]): readonly string[] {
  const own = ownFolders();
  const first = frames.findIndex(
    (frame) =>
      !own.some((folder) => frame.includes(folder)) && !/\bnode:|<anonymous>|native/.test(frame),
  );
  return (first < 0 ? frames : frames.slice(first)).slice(0, Error.stackTraceLimit);
}

/** As paths and as addresses, which differ where names have blanks. None in a bundle, which has all code in one file. */
function ownFolders(): readonly string[] {
  const root = findPackage()?.root;
  if (root === undefined) return [];
  return ["src", "dist"].flatMap((folder) => {
    const path = `${join(root, folder)}/`;
    return [path, encodeURI(path)];
  });
}
