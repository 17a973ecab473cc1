export interface TextPosition {
  /** 1-based; columns count UTF-16 units, as editors do. */
  readonly line: number;
  readonly column: number;
}

/** Counts the lines and columns of ascending positions in a text of which only a part is in memory. */
export interface LineCounter {
  /** @param offset into the part in memory; never less than in the last call */
  positionAt(text: string, offset: number): TextPosition;
  /** Call when the text before this offset is dropped, which then becomes offset 0. */
  cutAt(text: string, offset: number): void;
}

export function createLineCounter(): LineCounter {
  let line = 1;
  let lineStart = 0;
  /** Where to look for the next line break. */
  let counted = 0;
  const positionAt = (text: string, offset: number): TextPosition => {
    for (;;) {
      const end = text.indexOf("\n", counted);
      if (end < 0 || end >= offset) break;
      line++;
      lineStart = end + 1;
      counted = lineStart;
    }
    counted = offset;
    return { line, column: offset - lineStart + 1 };
  };
  return {
    positionAt,
    cutAt(text, offset) {
      positionAt(text, offset);
      lineStart -= offset;
      counted = 0;
    },
  };
}
