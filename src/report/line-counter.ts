export interface TextPosition {
  /** 1-based; columns count UTF-16 units, as editors do. */
  readonly line: number;
  readonly column: number;
}

/** Lines and columns of places in a text, one behind the other, of which only a part is held. */
export interface LineCounter {
  /** @param offset into the part that is held, not before that of the last call */
  positionAt(text: string, offset: number): TextPosition;
  /** The text before this offset is let go of: it is offset 0 from now on. */
  cutAt(text: string, offset: number): void;
}

export function createLineCounter(): LineCounter {
  let line = 1;
  let lineStart = 0;
  /** Where to look for the next end of a line. */
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
