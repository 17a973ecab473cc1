import { TextDecoder } from "node:util";

/** Windows PowerShell writes what is redirected into a file as UTF-16, with a mark at its beginning. */
const MARK = [0xff, 0xfe] as const;

const isUtf16 = (bytes: Uint8Array): boolean => MARK.every((byte, place) => bytes[place] === byte);

/** The beginning of a text as UTF-8, whichever of the two it is in. */
export const headAsUtf8 = (head: Uint8Array): Buffer =>
  isUtf16(head)
    ? Buffer.from(new TextDecoder("utf-16le").decode(head))
    : Buffer.from(head.buffer, head.byteOffset, head.byteLength);

/** A text as UTF-8, a piece at a time. */
export async function* asUtf8(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let decoder: TextDecoder | null = null;
  let isFirst = true;
  for await (const chunk of input) {
    if (isFirst && isUtf16(chunk)) decoder = new TextDecoder("utf-16le");
    isFirst = false;
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}
