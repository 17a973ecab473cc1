import { fstatSync, readSync } from "node:fs";

/** No message is larger; a size beyond is damage. */
const LARGEST_MESSAGE = 1 << 30;

/** Reads a file in which every message has its size before it: 32 bits, little-endian. */
export interface SizedReader {
  /** Of the file, in bytes. */
  readonly size: number;
  /** Where the next read begins. */
  at: number;
  /** So many bytes; null where the file does not hold them. */
  take(length: number): Uint8Array | null;
  /** The next message; null where it is not whole. */
  takeSized(): Uint8Array | null;
}

export function createSizedReader(descriptor: number): SizedReader {
  const { size } = fstatSync(descriptor);
  const reader: SizedReader = {
    size,
    at: 0,
    take(length) {
      if (length > LARGEST_MESSAGE || reader.at + length > size) return null;
      const bytes = Buffer.alloc(length);
      if (readSync(descriptor, bytes, 0, length, reader.at) < length) return null;
      reader.at += length;
      return bytes;
    },
    takeSized() {
      const length = reader.take(4);
      return length === null ? null : reader.take(Buffer.from(length).readUInt32LE(0));
    },
  };
  return reader;
}
