/** The tokens of YAML 1.1. */
import type { SourceText } from "../origin.ts";
import { type Cursor, column, createCursor, yamlError } from "./cursor.ts";
import { wrongDash } from "./dash-hint.ts";

/**
 * Tokens of YAML 1.1, with the names that messages use. Offsets are UTF-16 code units into the source text, ends
 * exclusive.
 */
export type Token =
  | StructureToken
  | ScalarToken
  | NameToken
  | TagToken
  | YamlDirectiveToken
  | TagDirectiveToken;

export type StructureType =
  | "<document start>"
  | "<document end>"
  | "<stream end>"
  | "<block sequence start>"
  | "<block mapping start>"
  | "<block end>"
  | "["
  | "]"
  | "{"
  | "}"
  | ","
  | "-"
  | "?"
  | ":";

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Punctuation, and the starts and ends of blocks that indentation implies. */
export interface StructureToken extends Span {
  readonly type: StructureType;
}

export interface ScalarToken extends Span {
  readonly type: "<scalar>";
  readonly value: string;
  /** Neither quoted nor a block: only plain scalars can have other types than string. */
  readonly plain: boolean;
}

export interface NameToken extends Span {
  readonly type: "<anchor>" | "<alias>";
  readonly name: string;
}

export interface TagToken extends Span {
  readonly type: "<tag>";
  /** `!`, `!!` or `!name!`; null where the suffix is the whole tag. */
  readonly handle: string | null;
  readonly suffix: string;
}

export interface YamlDirectiveToken extends Span {
  readonly type: "<directive>";
  readonly name: "YAML" | "unknown";
  /** Whether it names a supported version. */
  readonly isSupported: boolean;
}

export interface TagDirectiveToken extends Span {
  readonly type: "<directive>";
  readonly name: "TAG";
  readonly handle: string;
  readonly prefix: string;
}

export type TokenType = Token["type"];

/**
 * Scanned tokens that are not consumed yet. They are numbered from the start of the text, because tokens are inserted
 * before one that turns out to begin a key.
 */
interface TokenQueue {
  /** Consumed tokens stay in front of `head` until there are many of them. */
  readonly tokens: Token[];
  head: number;
  /** Number of consumed tokens: the number of the token at the head. */
  taken: number;
}

/** Consumed tokens are removed in batches of this size. */
const KEPT_TOKENS = 1024;

const createTokenQueue = (): TokenQueue => ({ tokens: [], head: 0, taken: 0 });

export const headOf = ({ tokens, head }: TokenQueue): Token | undefined =>
  head < tokens.length ? tokens[head] : undefined;

export const nextNumber = ({ tokens, head, taken }: TokenQueue): number =>
  taken + tokens.length - head;

export function removeHead(queue: TokenQueue): void {
  queue.head++;
  queue.taken++;
  if (queue.head <= KEPT_TOKENS) return;
  queue.tokens.splice(0, queue.head);
  queue.head = 0;
}

/** Inserts a token before the one with this number. */
export function insertToken({ tokens, head, taken }: TokenQueue, number: number, token: Token) {
  tokens.splice(head + number - taken, 0, token);
}

/**
 * A place where an implicit key may have started. Only a later `:` decides that, and then the key token is inserted
 * there. YAML 1.1 allows such a key on one line and within 1024 characters.
 */
export interface PossibleKey {
  /** Number of tokens before this one. */
  readonly tokenNumber: number;
  /** A block of this indentation is open, so that anything but a key here is an error. */
  readonly required: boolean;
  readonly start: number;
  readonly line: number;
  readonly column: number;
}

/** The possible keys of a text, at most one per level of brackets; level 0 is the block context. */
interface PossibleKeys {
  save(level: number, tokenNumber: number, required: boolean): void;
  /** Removes and returns the key of a level. */
  take(level: number): PossibleKey | undefined;
  /** Removes the key of a level. Throws if a key was required. */
  forget(level: number): void;
  /** Removes all keys that are too far back to be one. Throws if a key was required. */
  dropStale(): void;
  /** Removes the keys of all levels above this one. */
  leaveLevelsAbove(level: number): void;
  has(tokenNumber: number): boolean;
}

const MAX_KEY_LENGTH = 1024;

function createPossibleKeys(cursor: Cursor): PossibleKeys {
  const keys: (PossibleKey | undefined)[] = [];

  function forget(level: number): void {
    const key = keys[level];
    if (key?.required === true) throw missingColon(cursor, key);
    keys[level] = undefined;
  }

  return {
    forget,
    save(level, tokenNumber, required) {
      forget(level);
      const { pos: start, line } = cursor;
      keys[level] = { tokenNumber, required, start, line, column: column(cursor) };
    },
    take(level) {
      const key = keys[level];
      keys[level] = undefined;
      return key;
    },
    dropStale() {
      for (let level = 0; level < keys.length; level++) {
        const key = keys[level];
        if (key === undefined || !isStale(cursor, key)) continue;
        if (key.required) throw missingColon(cursor, key);
        keys[level] = undefined;
      }
    },
    leaveLevelsAbove(level) {
      keys.length = Math.min(keys.length, level + 1);
    },
    has(tokenNumber) {
      for (let level = 0; level < keys.length; level++)
        if (keys[level]?.tokenNumber === tokenNumber) return true;
      return false;
    },
  };
}

/** Python counts characters, and a surrogate pair is one. */
function isStale(cursor: Cursor, key: PossibleKey): boolean {
  if (key.line !== cursor.line) return true;
  const units = cursor.pos - key.start;
  if (units <= MAX_KEY_LENGTH) return false;
  if (units > 2 * MAX_KEY_LENGTH) return true;
  return [...cursor.text.slice(key.start, cursor.pos)].length > MAX_KEY_LENGTH;
}

function missingColon({ source, text }: Cursor, key: PossibleKey) {
  const line = text.slice(key.start, key.start + 200);
  const end = line.search(/[\r\n\x85\u2028\u2029\0]/);
  // `port:1` and `port = 1`
  const assigned = /^([A-Za-z_][\w.-]*)(?:[:=]| +=) *([\w./-]+) *$/.exec(
    line.slice(0, end < 0 ? line.length : end),
  );
  return yamlError(source, {
    context: "while scanning a simple key",
    problem: "could not find expected ':'",
    start: key.start,
    end: key.start + (end < 0 ? line.length : end),
    hint:
      assigned === null
        ? (wrongDash(text, key.start)?.hint ?? "a key is followed by ':' and a blank")
        : `write \`${assigned[1]}: ${assigned[2]}\``,
  });
}

/** The scanner's state: what is open around the cursor, and what may begin there. */
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
  /** Whether a key may begin here without `?`. */
  allowKey: boolean;
  /** Whether the end of the text is reached. */
  done: boolean;
}

export function createScanState(source: SourceText, libyaml: boolean): ScanState {
  const cursor = createCursor(source, libyaml);
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

/** Opens a block at this column, unless one is open there. Returns whether it did. */
export function indentTo(state: ScanState, toColumn: number): boolean {
  if (state.indent >= toColumn) return false;
  state.outerIndents.push(state.indent);
  state.indent = toColumn;
  return true;
}

/** Closes the blocks that are indented more than this column; indentation does not matter in brackets. */
export function unwind(state: ScanState, toColumn: number): void {
  if (state.flowLevel > 0) return;
  const { pos } = state.cursor;
  while (state.indent > toColumn) {
    state.indent = state.outerIndents.pop() ?? -1;
    state.queue.tokens.push({ type: "<block end>", start: pos, end: pos });
  }
}
