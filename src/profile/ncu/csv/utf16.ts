import { TextDecoder } from "node:util";

type Encoding = "utf-16le" | "utf-16be";

/** Windows PowerShell writes what is redirected into a file as UTF-16, with a mark at its beginning; others leave the mark away. */
function utf16Of(bytes: Uint8Array): Encoding | null {
  const [first, second, third, fourth] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  // No other text has zeros, and output of programs begins with letters of ASCII.
  if (isAscii(first) && second === 0 && isAscii(third) && fourth === 0) return "utf-16le";
  if (first === 0 && isAscii(second) && third === 0 && isAscii(fourth)) return "utf-16be";
  return null;
}

const isAscii = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d);

/** The beginning of a text as UTF-8, whichever encoding it is in. */
export function headAsUtf8(head: Uint8Array): Buffer {
  const encoding = utf16Of(head);
  return encoding === null
    ? Buffer.from(head.buffer, head.byteOffset, head.byteLength)
    : Buffer.from(new TextDecoder(encoding).decode(head));
}

/** A text as UTF-8, a piece at a time. */
export async function* asUtf8(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let decoder: TextDecoder | null = null;
  let isFirst = true;
  for await (const chunk of input) {
    if (isFirst) {
      const encoding = utf16Of(chunk);
      if (encoding !== null) decoder = new TextDecoder(encoding);
    }
    isFirst = false;
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}
