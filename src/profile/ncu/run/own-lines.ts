import { closeSync, openSync, readSync } from "node:fs";

/**
 * From ncu's mark to the end of the line or the next mark; what the program printed before, without an end of line,
 * may stand in front of it. Longer than any message of ncu, a line is cut.
 */
const OWN_LINE = /==(?:ERROR|WARNING)== (?:(?!==(?:ERROR|WARNING)== ).){0,8192}/g;

const CHUNK_BYTES = 1 << 20;
/** Much more than any message; a program may print without ever ending a line. */
const LONGEST_LINE = 64 << 10;
/** ncu repeats itself for each kernel: what it said first tells as much. */
const MOST_LINES = 10_000;

/** Errors and warnings of ncu in a text, a line each. */
export const ownLinesIn = (text: string): readonly string[] => text.match(OWN_LINE) ?? [];

/**
 * The same of a file, which holds what a program printed as well: of any size, in the memory of a piece.
 * None where there is no such file.
 */
export function ownLinesOf(file: string): readonly string[] {
  const lines: string[] = [];
  let rest = "";
  for (const piece of piecesOf(file)) {
    const text = rest + piece;
    const end = text.lastIndexOf("\n") + 1;
    lines.push(...ownLinesIn(text.slice(0, end)));
    rest = text.slice(Math.max(end, text.length - LONGEST_LINE));
    if (lines.length > MOST_LINES) return lines.slice(0, MOST_LINES);
  }
  return [...lines, ...ownLinesIn(rest)];
}

function* piecesOf(file: string): Generator<string> {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return;
  }
  try {
    const decoder = new TextDecoder();
    const bytes = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      const length = readSync(descriptor, bytes);
      if (length === 0) return;
      yield decoder.decode(bytes.subarray(0, length), { stream: true });
    }
  } finally {
    closeSync(descriptor);
  }
}
