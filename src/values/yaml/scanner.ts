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
import { createPossibleKeys, type PossibleKey } from "./possible-keys.ts";
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

/** Tokens that were taken are removed so many at a time. */
const KEPT_TOKENS = 1024;

/** The scanner of one document: PyYAML's notion of YAML 1.1, token by token. */
export function createScanner(source: SourceText): Scanner {
  const cursor = createCursor(source);
  const tokens: Token[] = [];
  let head = 0;
  let taken = 0;
  /** The token at the head, once no key can come before it any more: the parser looks at most of them several times. */
  let settled: Token | undefined;
  let done = false;
  /** Column of the innermost open block; -1 outside of all. */
  let indent = -1;
  const indents: number[] = [];
  let flowLevel = 0;
  let allowKey = true;
  const keys = createPossibleKeys(cursor);

  function peek(): Token {
    settled ??= settle();
    return settled;
  }

  function settle(): Token {
    for (;;) {
      const token = head < tokens.length ? tokens[head] : undefined;
      if (token !== undefined && (done || !headMayBeKey())) return token;
      fetch();
    }
  }

  function next(): Token {
    const token = peek();
    settled = undefined;
    head++;
    taken++;
    if (head > KEPT_TOKENS) {
      tokens.splice(0, head);
      head = 0;
    }
    return token;
  }

  /** Whether a key token may still be put in front of the next token. */
  function headMayBeKey(): boolean {
    keys.dropStale();
    return keys.has(taken);
  }

  function fetch(): void {
    skipToToken();
    keys.dropStale();
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
    keys.forget(flowLevel);
    allowKey = false;
    done = true;
    push("<stream end>", 0);
  }

  function fetchDirective(): void {
    unwind(-1);
    keys.forget(flowLevel);
    allowKey = false;
    tokens.push(scanDirective(cursor));
  }

  function fetchMarker(type: "<document start>" | "<document end>"): void {
    unwind(-1);
    keys.forget(flowLevel);
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
    keys.forget(flowLevel);
    // The parser refuses a bracket that closes nothing as soon as it sees it.
    flowLevel = Math.max(0, flowLevel - 1);
    keys.leaveLevelsAbove(flowLevel);
    allowKey = false;
    push(type);
  }

  function fetchFlowEntry(): void {
    allowKey = true;
    keys.forget(flowLevel);
    push(",");
  }

  function fetchBlockEntry(): void {
    if (flowLevel === 0) {
      if (!allowKey) throw misplaced("sequence entries are not allowed here");
      openBlock("<block sequence start>");
    }
    allowKey = true;
    keys.forget(flowLevel);
    push("-");
  }

  function fetchKey(): void {
    if (flowLevel === 0) {
      if (!allowKey) throw misplaced("mapping keys are not allowed here");
      openBlock("<block mapping start>");
    }
    allowKey = flowLevel === 0;
    keys.forget(flowLevel);
    push("?");
  }

  function fetchValue(): void {
    const key = keys.take(flowLevel);
    if (key !== undefined) {
      insertKey(key);
      allowKey = false;
    } else {
      if (flowLevel === 0) {
        if (!allowKey) throw misplaced("mapping values are not allowed here");
        openBlock("<block mapping start>");
      }
      allowKey = flowLevel === 0;
      keys.forget(flowLevel);
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
    keys.forget(flowLevel);
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
    const required = flowLevel === 0 && indent === column(cursor);
    keys.save(flowLevel, taken + tokens.length - head, required);
  }

  const misplaced = (problem: string) =>
    refusal(source, { problem, start: cursor.pos, ...misplacedHint(problem) });

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
