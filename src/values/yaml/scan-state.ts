import type { SourceText } from "../origin.ts";
import { type Cursor, createCursor } from "./cursor.ts";
import { createPossibleKeys, type PossibleKeys } from "./possible-keys.ts";
import { createTokenQueue, type TokenQueue } from "./token-queue.ts";

/** Where scanning a document stands: what is open around the cursor, and what may begin there. */
export interface ScanState {
  readonly cursor: Cursor;
  readonly queue: TokenQueue;
  readonly keys: PossibleKeys;
  /** Column of the innermost open block; -1 outside of all. */
  indent: number;
  /** Columns of the blocks around it. */
  readonly outerIndents: number[];
  /** How many brackets are open; 0 is the block context. */
  flowLevel: number;
  /** Whether a key may begin here without `?` in front of it. */
  allowKey: boolean;
  /** Whether the end of the text was reached. */
  done: boolean;
}

export function createScanState(source: SourceText): ScanState {
  const cursor = createCursor(source);
  return {
    cursor,
    queue: createTokenQueue(),
    keys: createPossibleKeys(cursor),
    indent: -1,
    outerIndents: [],
    flowLevel: 0,
    allowKey: true,
    done: false,
  };
}

/** Opens a block at this column, where none is open there. Returns whether it did. */
export function indentTo(state: ScanState, toColumn: number): boolean {
  if (state.indent >= toColumn) return false;
  state.outerIndents.push(state.indent);
  state.indent = toColumn;
  return true;
}

/** Closes the blocks that are indented more than this column; brackets ignore indentation. */
export function unwind(state: ScanState, toColumn: number): void {
  if (state.flowLevel > 0) return;
  const { pos } = state.cursor;
  while (state.indent > toColumn) {
    state.indent = state.outerIndents.pop() ?? -1;
    state.queue.tokens.push({ type: "<block end>", start: pos, end: pos });
  }
}
