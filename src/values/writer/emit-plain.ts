import { append, BEST_WIDTH, type Output, type ScalarRole, startLine } from "./output.ts";

/**
 * A plain scalar is folded at single spaces behind column 80, never inside a longer run of spaces.
 * `length` is in code points.
 */
export function emitPlain(
  out: Output,
  text: string,
  length: number,
  indent: number,
  role: ScalarRole,
): void {
  if (role === "simple key" || out.column + length <= BEST_WIDTH) append(out, text, length);
  else for (const piece of pieces(text)) emitPiece(out, piece, indent);
}

/** Words and the runs of spaces between them, alternately. */
const pieces = (text: string): readonly string[] => text.split(/( +)/);

function emitPiece(out: Output, piece: string, indent: number): void {
  if (piece === " " && out.column > BEST_WIDTH) startLine(out, indent);
  else append(out, piece, [...piece].length);
}
