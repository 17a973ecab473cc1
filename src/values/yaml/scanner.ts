import type { SourceText } from "../origin.ts";
import { TAB } from "./characters.ts";
import {
  type Cursor,
  charAt,
  column,
  createCursor,
  scanLineBreak,
  skipSpaces,
  skipToBreak,
} from "./cursor.ts";
import { refusal, showCharacter } from "./refusal.ts";
import { scanBlockScalar } from "./scan-block-scalar.ts";
import { scanDirective } from "./scan-directive.ts";
import { scanPlain } from "./scan-plain.ts";
import { scanName, scanTag } from "./scan-properties.ts";
import { scanQuoted } from "./scan-quoted.ts";
import { type TokenStart, tokenStart } from "./token-start.ts";
import type { StructureType, Token } from "./tokens.ts";

/** Tokens on demand: no more of the text is scanned than the parser asks for. */
export interface Scanner {
  peek(): Token;
  next(): Token;
}

/**
 * A place where an implicit key may have started. Only the `:` behind it tells, so the token that
 * marks the key is put in front of it later. YAML 1.1 allows that on one line and within 1024
 * characters.
 */
interface PossibleKey {
  /** How many tokens were made before this one. */
  readonly tokenNumber: number;
  /** A block of this indentation is open, so that anything but a key here is an error. */
  readonly required: boolean;
  readonly start: number;
  readonly line: number;
  readonly column: number;
}

const MAX_KEY_LENGTH = 1024;

/** The scanner of one document: PyYAML's notion of YAML 1.1, token by token. */
export function createScanner(source: SourceText): Scanner {
  const cursor = createCursor(source);
  const tokens: Token[] = [];
  let head = 0;
  let taken = 0;
  let done = false;
  /** Column of the innermost open block; -1 outside of all. */
  let indent = -1;
  const indents: number[] = [];
  let flowLevel = 0;
  let allowKey = true;
  /** By flow level, 0 being the block context. */
  const keys: (PossibleKey | undefined)[] = [];

  function peek(): Token {
    for (;;) {
      const token = head < tokens.length ? tokens[head] : undefined;
      if (token !== undefined && (done || !headMayBeKey())) return token;
      fetch();
    }
  }

  function next(): Token {
    const token = peek();
    head++;
    taken++;
    if (head === tokens.length && head > 256) {
      tokens.length = 0;
      head = 0;
    }
    return token;
  }

  /** Whether a key token may still be put in front of the next token. */
  function headMayBeKey(): boolean {
    dropStaleKeys();
    for (let level = 0; level < keys.length; level++)
      if (keys[level]?.tokenNumber === taken) return true;
    return false;
  }

  function fetch(): void {
    skipToToken();
    dropStaleKeys();
    unwind(column(cursor));
    const start = tokenStart(cursor, flowLevel > 0);
    if (start === null) throw cannotStart(cursor);
    fetchers[start]();
  }

  function skipToToken(): void {
    for (;;) {
      skipSpaces(cursor);
      if (charAt(cursor) === 0x23) skipToBreak(cursor);
      if (scanLineBreak(cursor) === "") return;
      if (flowLevel === 0) allowKey = true;
    }
  }

  function push(type: StructureType, width = 1): void {
    tokens.push({ type, start: cursor.pos, end: cursor.pos + width });
    cursor.pos += width;
  }

  function fetchEnd(): void {
    unwind(-1);
    forgetKey();
    allowKey = false;
    keys.length = 0;
    done = true;
    push("<stream end>", 0);
  }

  function fetchDirective(): void {
    unwind(-1);
    forgetKey();
    allowKey = false;
    tokens.push(scanDirective(cursor));
  }

  function fetchMarker(type: "<document start>" | "<document end>"): void {
    unwind(-1);
    forgetKey();
    allowKey = false;
    push(type, 3);
  }

  function fetchFlowStart(type: "[" | "{"): void {
    saveKey();
    flowLevel++;
    allowKey = true;
    push(type);
  }

  function fetchFlowEnd(type: "]" | "}"): void {
    forgetKey();
    // The parser refuses a bracket that closes nothing as soon as it sees it.
    flowLevel = Math.max(0, flowLevel - 1);
    keys.length = Math.min(keys.length, flowLevel + 1);
    allowKey = false;
    push(type);
  }

  function fetchFlowEntry(): void {
    allowKey = true;
    forgetKey();
    push(",");
  }

  function fetchBlockEntry(): void {
    if (flowLevel === 0) {
      if (!allowKey) throw misplaced("sequence entries are not allowed here");
      openBlock("<block sequence start>");
    }
    allowKey = true;
    forgetKey();
    push("-");
  }

  function fetchKey(): void {
    if (flowLevel === 0) {
      if (!allowKey) throw misplaced("mapping keys are not allowed here");
      openBlock("<block mapping start>");
    }
    allowKey = flowLevel === 0;
    forgetKey();
    push("?");
  }

  function fetchValue(): void {
    const key = keys[flowLevel];
    if (key !== undefined) {
      keys[flowLevel] = undefined;
      insertKey(key);
      allowKey = false;
    } else {
      if (flowLevel === 0) {
        if (!allowKey) throw misplaced("mapping values are not allowed here");
        openBlock("<block mapping start>");
      }
      allowKey = flowLevel === 0;
      forgetKey();
    }
    push(":");
  }

  /** Marks what was scanned as a key, now that its `:` was found. */
  function insertKey(key: PossibleKey): void {
    const at = head + key.tokenNumber - taken;
    const place = { start: key.start, end: key.start };
    tokens.splice(at, 0, { type: "?", ...place });
    if (flowLevel === 0 && indent < key.column) {
      indents.push(indent);
      indent = key.column;
      tokens.splice(at, 0, { type: "<block mapping start>", ...place });
    }
  }

  function fetchProperty(scan: () => Token): void {
    saveKey();
    allowKey = false;
    tokens.push(scan());
  }

  function fetchBlockScalar(): void {
    allowKey = true;
    forgetKey();
    tokens.push(scanBlockScalar(cursor, indent));
  }

  function fetchPlain(): void {
    saveKey();
    const { token, endsLine } = scanPlain(cursor, indent + 1, flowLevel > 0);
    allowKey = endsLine;
    tokens.push(token);
  }

  function openBlock(type: "<block sequence start>" | "<block mapping start>"): void {
    if (indent >= column(cursor)) return;
    indents.push(indent);
    indent = column(cursor);
    tokens.push({ type, start: cursor.pos, end: cursor.pos });
  }

  /** Closes the blocks that are indented more than this column; brackets ignore indentation. */
  function unwind(toColumn: number): void {
    if (flowLevel > 0) return;
    while (indent > toColumn) {
      indent = indents.pop() ?? -1;
      tokens.push({ type: "<block end>", start: cursor.pos, end: cursor.pos });
    }
  }

  function saveKey(): void {
    if (!allowKey) return;
    const here = column(cursor);
    forgetKey();
    keys[flowLevel] = {
      tokenNumber: taken + tokens.length - head,
      required: flowLevel === 0 && indent === here,
      start: cursor.pos,
      line: cursor.line,
      column: here,
    };
  }

  function forgetKey(): void {
    const key = keys[flowLevel];
    if (key?.required === true) throw missingColon(key);
    keys[flowLevel] = undefined;
  }

  function dropStaleKeys(): void {
    for (let level = 0; level < keys.length; level++) {
      const key = keys[level];
      if (key === undefined) continue;
      if (key.line === cursor.line && !isTooLong(cursor, key)) continue;
      if (key.required) throw missingColon(key);
      keys[level] = undefined;
    }
  }

  const misplaced = (problem: string) =>
    refusal(source, { problem, start: cursor.pos, ...misplacedHint(problem) });

  const missingColon = (key: PossibleKey) =>
    refusal(source, {
      context: "while scanning a simple key",
      problem: "could not find expected ':'",
      start: key.start,
      end: endOfLine(cursor.text, key.start),
    });

  const fetchers: Readonly<Record<TokenStart, () => void>> = {
    end: fetchEnd,
    directive: fetchDirective,
    "document start": () => fetchMarker("<document start>"),
    "document end": () => fetchMarker("<document end>"),
    "[": () => fetchFlowStart("["),
    "{": () => fetchFlowStart("{"),
    "]": () => fetchFlowEnd("]"),
    "}": () => fetchFlowEnd("}"),
    ",": fetchFlowEntry,
    "block entry": fetchBlockEntry,
    key: fetchKey,
    value: fetchValue,
    alias: () => fetchProperty(() => scanName(cursor, "<alias>")),
    anchor: () => fetchProperty(() => scanName(cursor, "<anchor>")),
    tag: () => fetchProperty(() => scanTag(cursor)),
    quoted: () => fetchProperty(() => scanQuoted(cursor)),
    "block scalar": fetchBlockScalar,
    plain: fetchPlain,
  };

  return { peek, next };
}

/** Python counts characters; a pair of surrogates is one. */
function isTooLong(cursor: Cursor, key: PossibleKey): boolean {
  const units = cursor.pos - key.start;
  if (units <= MAX_KEY_LENGTH) return false;
  if (units > 2 * MAX_KEY_LENGTH) return true;
  return [...cursor.text.slice(key.start, cursor.pos)].length > MAX_KEY_LENGTH;
}

function cannotStart(cursor: Cursor) {
  return refusal(cursor.source, {
    context: "while scanning for the next token",
    problem: `found character ${showCharacter(cursor.text, cursor.pos)} that cannot start any token`,
    start: cursor.pos,
    hint:
      charAt(cursor) === TAB
        ? "YAML allows no tabs here: use spaces"
        : "quote a text that starts with it",
  });
}

function misplacedHint(problem: string): { hint?: string } {
  if (problem.startsWith("mapping values")) return { hint: "quote a text that contains ': '" };
  if (problem.startsWith("sequence")) return { hint: "start the list on a line of its own" };
  return {};
}

function endOfLine(text: string, from: number): number {
  const end = /[\r\n\x85\u2028\u2029\0]/.exec(text.slice(from, from + 200));
  return end === null ? from + 200 : from + end.index;
}
