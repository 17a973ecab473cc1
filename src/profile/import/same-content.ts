import { closeSync, openSync, readSync } from "node:fs";
import type { ImportSource } from "./importer.ts";

const CHUNK_BYTES = 1 << 20;

/** Whether two files hold the same, byte for byte; files of other sizes are not read for it. */
export function haveSameContent(one: ImportSource, other: ImportSource): boolean {
  if (one.isDirectory || other.isDirectory || one.bytes !== other.bytes) return false;
  if (Buffer.compare(one.head, other.head) !== 0) return false;
  if (one.bytes === one.head.length) return true;
  const descriptors: number[] = [];
  try {
    for (const { path } of [one, other]) descriptors.push(openSync(path, "r"));
    const [ofOne = -1, ofOther = -1] = descriptors;
    const [left, right] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
    for (let at = 0; at < one.bytes; at += CHUNK_BYTES) {
      const length = readSync(ofOne, left, 0, CHUNK_BYTES, at);
      if (readSync(ofOther, right, 0, CHUNK_BYTES, at) !== length) return false;
      if (left.compare(right, 0, length, 0, length) !== 0) return false;
    }
    return true;
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
