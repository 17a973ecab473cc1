/** Joins pieces of text into larger blocks, because one write per piece would be slow. */
export function* inBlocks(pieces: Iterable<string>): Generator<string> {
  let block: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    block.push(piece);
    length += piece.length;
    if (length < BLOCK) continue;
    yield block.join("");
    block = [];
    length = 0;
  }
  if (length > 0) yield block.join("");
}

const BLOCK = 1 << 16;
