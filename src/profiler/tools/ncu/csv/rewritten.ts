/**
 * Tables of ncu that another program has saved: pandas, a spreadsheet. Unlike ncu's own they follow the rules of CSV,
 * and have other separators, fewer quotes, and an index before the columns.
 */

import { TextDecoder } from "node:util";
import { knownColumns } from "./ncu-columns.ts";
import { withoutMark } from "./split-rows.ts";

export interface Rewriting {
  readonly separator: string;
  /** The number of columns before ncu's own. */
  readonly added: number;
  /** The number of bytes before its header. */
  readonly offset: number;
}

/** How much of a text is examined: the header is near the beginning, but one with thousands of metrics is long. */
const HEAD_BYTES = 1 << 20;

const PRINTED = /^(?:"ID","Process ID",|"Process ID","Process Name",|"Domain","Range:PL_Type)/m;
const SEPARATORS = [",", ";", "\t"];
/** Names of index columns, which come first. */
const INDEX = /^(?:Unnamed: [\d.]+|index|level_\d)?$/;
/** A header has at least this many of ncu's names, or begins as ncu's does. */
const FEWEST_KNOWN = 3;
const MOST_ADDED = 4;

/** Null for ncu's own output, and for any other text. */
export function rewritingOf(bytes: Buffer): Rewriting | null {
  const unmarked = withoutMark(bytes);
  // One byte per character, because all of ncu's names are ASCII.
  const head = unmarked.toString("latin1", 0, HEAD_BYTES);
  if (PRINTED.test(head)) return null;
  for (const { 0: line, index } of head.matchAll(/^.*(?:Process ID|Kernel Name|Metric Name).*$/gm))
    for (const separator of SEPARATORS) {
      const names = namesIn(line, separator);
      const first = names.findIndex((name) => !INDEX.test(name));
      if (first < 0 || first > MOST_ADDED || !isHeader(names.slice(first))) continue;
      return { separator, added: first, offset: bytes.length - unmarked.length + index };
    }
  return null;
}

const namesIn = (line: string, separator: string): readonly string[] =>
  line.split(separator).map((name) => name.trim().replace(/^"|"$/g, ""));

const isHeader = (names: readonly string[]): boolean =>
  (names[0] === "ID" && names[1] === "Process ID") ||
  (knownColumns(names) >= FEWEST_KNOWN &&
    (names.includes("Kernel Name") || (names.includes("ID") && names.includes("Process ID"))));

/** Whether a text begins like such a table. */
export const isRewritten = (head: Buffer): boolean => rewritingOf(head) !== null;

type Encoding = "utf-16le" | "utf-16be";

/** Windows PowerShell redirects output as UTF-16 with a byte order mark; other programs omit the mark. */
function utf16Of(bytes: Uint8Array): Encoding | null {
  const [first, second, third, fourth] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  // Text in other encodings has no zero bytes, and output of programs begins with ASCII letters.
  if (isAscii(first) && second === 0 && isAscii(third) && fourth === 0) return "utf-16le";
  if (first === 0 && isAscii(second) && third === 0 && isAscii(fourth)) return "utf-16be";
  return null;
}

const isAscii = (byte: number | undefined): boolean =>
  byte !== undefined &&
  ((byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d);

/** The beginning of a text as UTF-8, from any of the encodings. */
export function headAsUtf8(head: Uint8Array): Buffer {
  const encoding = utf16Of(head);
  return encoding === null
    ? Buffer.from(head.buffer, head.byteOffset, head.byteLength)
    : Buffer.from(new TextDecoder(encoding).decode(head));
}

/** Decodes a text to UTF-8, chunk by chunk. */
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
