/** The text of a JSON file, which may be longer than a string can be (512 MB). */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import { refuseDevice } from "../../system/files.ts";

/** Gives the pieces of a text, as often as it is called. */
export type JsonText = () => Iterable<string>;

export const textOf =
  (text: string): JsonText =>
  () =>
    withoutMark([text]);

export const textOfBytes =
  (chunks: Iterable<Buffer>): JsonText =>
  () =>
    withoutMark(decoded(chunks));

/**
 * @throws the system's errors: at once if the file is missing or may not be read, others while the
 *   text is read
 */
export function textOfFile(path: string): JsonText {
  const file = openSync(path, "r");
  try {
    const status = fstatSync(file);
    refuseDevice(status, path);
    // A pipe delivers its bytes only once, so they are kept.
    if (!status.isFile()) return textOfBytes([...chunksOf(file)]);
  } finally {
    closeSync(file);
  }
  return () => withoutMark(decoded(chunksAt(path)));
}

const CHUNK_BYTES = 1 << 22;

/** Drops a byte order mark, which is no part of the document; positions do not count it. */
function* withoutMark(pieces: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const piece of pieces) {
    yield isFirst && piece.startsWith("\ufeff") ? piece.slice(1) : piece;
    isFirst &&= piece === "";
  }
}

/** With `StringDecoder`, because strings from `TextDecoder` take two bytes per character. */
function* decoded(chunks: Iterable<Buffer>): Generator<string> {
  const decoder = new StringDecoder("utf8");
  for (const chunk of chunks) yield decoder.write(chunk);
  yield decoder.end();
}

function* chunksAt(path: string): Generator<Buffer> {
  const file = openSync(path, "r");
  try {
    yield* chunksOf(file);
  } finally {
    closeSync(file);
  }
}

function* chunksOf(file: number): Generator<Buffer> {
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const length = readSync(file, chunk);
    if (length === 0) return;
    yield chunk.subarray(0, length);
  }
}
