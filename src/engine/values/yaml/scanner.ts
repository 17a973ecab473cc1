/** The scanner of YAML 1.1: text to tokens, on demand. */
import type { ConfigError } from "../errors.ts";
import type { SourceText } from "../origin.ts";
import {
  atDocumentMarker,
  type Cursor,
  charAt,
  column,
  END,
  isBlank,
  scanLineBreak,
  showCharacter,
  skipBlanks,
  skipSpaces,
  skipToBreak,
  TAB,
  yamlError,
} from "./cursor.ts";
import { scanDirective, scanName, scanTag } from "./scan-properties.ts";
import { scanBlockScalar, scanPlain, scanQuoted } from "./scan-scalars.ts";
import {
  createScanState,
  headOf,
  indentTo,
  insertToken,
  nextNumber,
  type PossibleKey,
  removeHead,
  type ScanState,
  type StructureType,
  type Token,
  unwind,
} from "./tokens.ts";

/** Tokens on demand: the text is scanned only as far as the parser needs. */
export interface Scanner {
  peek(): Token;
  next(): Token;
}

/** The scanner of one document: YAML 1.1 as PyYAML reads it, or libyaml, token by token. */
export function createScanner(source: SourceText, libyaml = false): Scanner {
  const state = createScanState(source, libyaml);
  /** The token at the head, once it is final, since the parser peeks at most tokens several times. */
  let final: Token | undefined;
  return {
    peek() {
      final ??= finalToken(state);
      return final;
    },
    next() {
      const token = final ?? finalToken(state);
      final = undefined;
      removeHead(state.queue);
      return token;
    },
  };
}

/** Scans until the token at the head is final, that is, until no key token can be inserted before it any more. */
function finalToken(state: ScanState): Token {
  for (;;) {
    const token = headOf(state.queue);
    if (token !== undefined && (state.done || !mayBeKey(state))) return token;
    fetchToken(state);
  }
}

function mayBeKey({ keys, queue }: ScanState): boolean {
  keys.dropStale();
  return keys.has(queue.taken);
}

/** Scans one more token, with the starts and ends of blocks that its column implies. */
function fetchToken(state: ScanState): void {
  const { cursor } = state;
  skipToToken(state);
  state.keys.dropStale();
  unwind(state, column(cursor));
  const start = tokenStart(cursor, state.flowLevel > 0);
  if (start === null) throw cannotStart(cursor);
  FETCHERS[start](state);
}

const FETCHERS: Readonly<Record<TokenStart, (state: ScanState) => void>> = {
  end: fetchEnd,
  directive: fetchDirective,
  "document start": (state) => fetchMarker(state, "<document start>"),
  "document end": (state) => fetchMarker(state, "<document end>"),
  "[": (state) => fetchFlowStart(state, "["),
  "{": (state) => fetchFlowStart(state, "{"),
  "]": (state) => fetchFlowEnd(state, "]"),
  "}": (state) => fetchFlowEnd(state, "}"),
  ",": fetchFlowEntry,
  "block entry": fetchBlockEntry,
  key: fetchKey,
  value: fetchValue,
  alias: (state) => fetchProperty(state, () => scanName(state.cursor, "<alias>")),
  anchor: (state) => fetchProperty(state, () => scanName(state.cursor, "<anchor>")),
  tag: (state) => fetchProperty(state, () => scanTag(state.cursor, state.flowLevel > 0)),
  quoted: (state) => fetchProperty(state, () => scanQuoted(state.cursor)),
  "block scalar": fetchBlockScalar,
  plain: fetchPlain,
};

/** libyaml skips it at the start of every line. */
const BYTE_ORDER_MARK = 0xfeff;

function skipToToken(state: ScanState): void {
  const { cursor } = state;
  for (;;) {
    if (cursor.libyaml && charAt(cursor) === BYTE_ORDER_MARK && column(cursor) === 0) cursor.pos++;
    // A tab is not indentation: where a key may begin, only spaces are skipped.
    if (state.flowLevel > 0 || !state.allowKey) skipBlanks(cursor);
    else skipSpaces(cursor);
    if (charAt(cursor) === 0x23) skipToBreak(cursor);
    if (scanLineBreak(cursor) === "") return;
    if (state.flowLevel === 0) state.allowKey = true;
  }
}

function push({ cursor, queue }: ScanState, type: StructureType, width = 1): void {
  queue.tokens.push({ type, start: cursor.pos, end: cursor.pos + width });
  cursor.pos += width;
}

function fetchEnd(state: ScanState): void {
  endDocument(state);
  state.done = true;
  push(state, "<stream end>", 0);
}

function fetchDirective(state: ScanState): void {
  endDocument(state);
  state.queue.tokens.push(scanDirective(state.cursor));
}

function fetchMarker(state: ScanState, type: "<document start>" | "<document end>"): void {
  endDocument(state);
  push(state, type, 3);
}

function endDocument(state: ScanState): void {
  unwind(state, -1);
  state.keys.forget(state.flowLevel);
  state.allowKey = false;
}

function fetchFlowStart(state: ScanState, type: "[" | "{"): void {
  saveKey(state);
  state.flowLevel++;
  state.allowKey = true;
  push(state, type);
}

function fetchFlowEnd(state: ScanState, type: "]" | "}"): void {
  state.keys.forget(state.flowLevel);
  // A bracket that closes nothing stays at level 0: the parser refuses it as soon as it reads it.
  state.flowLevel = Math.max(0, state.flowLevel - 1);
  state.keys.leaveLevelsAbove(state.flowLevel);
  state.allowKey = false;
  push(state, type);
}

function fetchFlowEntry(state: ScanState): void {
  state.allowKey = true;
  state.keys.forget(state.flowLevel);
  push(state, ",");
}

function fetchBlockEntry(state: ScanState): void {
  if (state.flowLevel === 0) openBlock(state, "<block sequence start>", ENTRY_MISPLACED);
  state.allowKey = true;
  state.keys.forget(state.flowLevel);
  push(state, "-");
}

function fetchKey(state: ScanState): void {
  if (state.flowLevel === 0) openBlock(state, "<block mapping start>", KEY_MISPLACED);
  state.allowKey = state.flowLevel === 0;
  state.keys.forget(state.flowLevel);
  push(state, "?");
}

function fetchValue(state: ScanState): void {
  const key = state.keys.take(state.flowLevel);
  if (key !== undefined) {
    insertKey(state, key);
    state.allowKey = false;
  } else {
    if (state.flowLevel === 0)
      openBlock(
        state,
        "<block mapping start>",
        keyWithoutBlank(state) ??
          keywordWithColon(state) ??
          defaultsInOneLine(state) ??
          deeperKey(state) ??
          VALUE_MISPLACED,
      );
    state.allowKey = state.flowLevel === 0;
    state.keys.forget(state.flowLevel);
  }
  push(state, ":");
}

/** Marks the scanned token as a key, after its `:` was found. */
function insertKey(state: ScanState, { tokenNumber, start, column }: PossibleKey): void {
  const place = { start, end: start };
  insertToken(state.queue, tokenNumber, { type: "?", ...place });
  if (state.flowLevel === 0 && indentTo(state, column))
    insertToken(state.queue, tokenNumber, { type: "<block mapping start>", ...place });
}

function fetchProperty(state: ScanState, scan: () => Token): void {
  saveKey(state);
  state.allowKey = false;
  state.queue.tokens.push(scan());
}

function fetchBlockScalar(state: ScanState): void {
  state.allowKey = true;
  state.keys.forget(state.flowLevel);
  state.queue.tokens.push(scanBlockScalar(state.cursor, state.indent));
}

function fetchPlain(state: ScanState): void {
  saveKey(state);
  const { token, endsLine } = scanPlain(state.cursor, state.indent + 1, state.flowLevel > 0);
  state.allowKey = endsLine;
  state.queue.tokens.push(token);
}

/** Records that a key may begin here. If a block is open at this column, nothing else may. */
function saveKey({ cursor, queue, keys, allowKey, flowLevel, indent }: ScanState): void {
  if (!allowKey) return;
  const required = flowLevel === 0 && indent === column(cursor);
  keys.save(flowLevel, nextNumber(queue), required);
}

interface Misplaced {
  readonly problem: string;
  readonly hint?: string;
  /** The place of the mistake; the indicator itself if absent. */
  readonly start?: number;
}

/**
 * `lr:0.1` on the line before: without a blank after the colon it is a text, which goes on in the next line up to the
 * colon that is refused.
 */
function keyWithoutBlank({ cursor, queue }: ScanState): Misplaced | undefined {
  const last = queue.tokens.at(-1);
  if (last?.type !== "<scalar>" || !last.plain) return undefined;
  const [line = "", ...more] = cursor.text.slice(last.start, last.end).split(/\r?\n/);
  const [, key, value] = /^([\w.-]+):(\S.*)$/.exec(line) ?? [];
  if (more.length === 0 || key === undefined) return undefined;
  return {
    ...VALUE_MISPLACED,
    start: last.start,
    hint: `a blank must follow the colon: write \`${key}: ${value}\``,
  };
}

/** `- optional: db: mysql` in a defaults list, where the keyword is part of the key. */
function keywordWithColon({ cursor, queue }: ScanState): Misplaced | undefined {
  const last = queue.tokens.at(-1);
  if (last?.type !== "<scalar>") return undefined;
  const line = cursor.text
    .slice(cursor.text.lastIndexOf("\n", last.start - 1) + 1)
    .split("\n", 1)[0];
  const [, head = "", entry] =
    /^(\s*-\s+)((?:(?:optional|override):? )*(?:optional|override): [^\s:]+: \S+)\s*$/.exec(
      line ?? "",
    ) ?? [];
  if (entry === undefined) return undefined;
  return {
    ...VALUE_MISPLACED,
    start: cursor.text.lastIndexOf("\n", last.start - 1) + 1 + head.length,
    hint: `no colon follows the keyword: write \`${entry.replace(/(optional|override): /g, "$1 ")}\``,
  };
}

/** `defaults: db: mysql`, in one line. */
function defaultsInOneLine({ cursor }: ScanState): Misplaced | undefined {
  const start = cursor.text.lastIndexOf("\n", cursor.pos - 1) + 1;
  const [line = ""] = cursor.text.slice(start).split("\n", 1);
  const [, group, option] = /^defaults:\s+-?([\w/@.-]+):\s+([\w/.-]+)\s*$/.exec(line) ?? [];
  return group === undefined
    ? undefined
    : { ...VALUE_MISPLACED, start, hint: `write \`defaults: [{${group}: ${option}}]\`` };
}

/** A key below a key that has a value already: it reads as the next line of that value. */
function deeperKey({ cursor, queue }: ScanState): Misplaced | undefined {
  const last = queue.tokens.at(-1);
  if (last?.type !== "<scalar>" || !last.plain) return undefined;
  const lines = cursor.text.slice(last.start, last.end).split(/\r?\n/);
  if (lines.length < 2) return undefined;
  const [, key, value] = /^([\w.-]+) +(\S+)$/.exec(lines[0] ?? "") ?? [];
  const linePrefix = cursor.text.slice(
    cursor.text.lastIndexOf("\n", last.start - 1) + 1,
    last.start,
  );
  const [indent = ""] = /^ */.exec(lines[1] ?? "") ?? [];
  if (key !== undefined && linePrefix === indent)
    return {
      ...VALUE_MISPLACED,
      start: last.start,
      hint: `a colon is missing behind the key: write \`${key}: ${value}\``,
    };
  if (linePrefix.trim() === "" && /^[\w.-]+$/.test(lines[0] ?? ""))
    return {
      ...VALUE_MISPLACED,
      start: last.start,
      hint: `a colon is missing behind the key: write \`${lines[0]}:\``,
    };
  return {
    ...VALUE_MISPLACED,
    hint: "this line continues the value of the key above, since it is indented deeper: write both keys in the same column, or remove that value",
  };
}

const ENTRY_MISPLACED: Misplaced = {
  problem: "sequence entries are not allowed here",
  hint: "start the list on a line of its own",
};
const KEY_MISPLACED: Misplaced = { problem: "mapping keys are not allowed here" };
const VALUE_MISPLACED: Misplaced = {
  problem: "mapping values are not allowed here",
  hint: "quote a string that contains ': '",
};

/** At the mistake, if that stands before the indicator; the message then tells where PyYAML stopped. */
function misplacedError({ source, pos, line }: Cursor, misplaced: Misplaced): ConfigError {
  const { start = pos, problem } = misplaced;
  const stopped = start === pos ? "" : ` (line ${line + 1})`;
  return yamlError(source, { ...misplaced, start, problem: `${problem}${stopped}` });
}

/** Opens the block that an indicator begins, unless one is open at its column. */
function openBlock(
  state: ScanState,
  type: "<block sequence start>" | "<block mapping start>",
  misplaced: Misplaced,
): void {
  const { cursor, queue } = state;
  if (!state.allowKey) throw misplacedError(cursor, misplaced);
  if (indentTo(state, column(cursor)))
    queue.tokens.push({ type, start: cursor.pos, end: cursor.pos });
}

function cannotStart(cursor: Cursor) {
  return yamlError(cursor.source, {
    context: "while scanning for the next token",
    problem: `found character ${showCharacter(cursor.text, cursor.pos)} that cannot start any token`,
    start: cursor.pos,
    hint:
      charAt(cursor) === TAB
        ? "YAML allows no tabs here: use spaces"
        : "quote a string that starts with it",
  });
}

/** The kind of token that begins at the cursor. */
type TokenStart =
  | "end"
  | "directive"
  | "document start"
  | "document end"
  | "["
  | "{"
  | "]"
  | "}"
  | ","
  | "block entry"
  | "key"
  | "value"
  | "alias"
  | "anchor"
  | "tag"
  | "quoted"
  | "block scalar"
  | "plain";

/** Looks at most four characters ahead; null where no token can start. */
function tokenStart(cursor: Cursor, inFlow: boolean): TokenStart | null {
  const c = charAt(cursor);
  switch (c) {
    case END:
      return "end";
    case 0x25: // %
      return column(cursor) === 0 ? "directive" : null;
    case 0x2d: // -
      if (isMarker(cursor)) return "document start";
      return isBlank(charAt(cursor, 1)) ? "block entry" : "plain";
    case 0x2e: // .
      return isMarker(cursor) ? "document end" : "plain";
    case 0x5b:
      return "[";
    case 0x7b:
      return "{";
    case 0x5d:
      return "]";
    case 0x7d:
      return "}";
    case 0x2c:
      return ",";
    case 0x3f: // ?
      return inFlow || isBlank(charAt(cursor, 1)) ? "key" : "plain";
    case 0x3a: // :
      return inFlow || isBlank(charAt(cursor, 1)) ? "value" : "plain";
    case 0x2a: // *
      return "alias";
    case 0x26: // &
      return "anchor";
    case 0x21: // !
      return "tag";
    case 0x22: // "
    case 0x27: // '
      return "quoted";
    case 0x7c: // |
    case 0x3e: // >
      return inFlow ? null : "block scalar";
    case 0x09: // tab
    case 0x40: // @
    case 0x60: // `
      return null;
    default:
      return "plain";
  }
}

const isMarker = (cursor: Cursor): boolean =>
  column(cursor) === 0 && atDocumentMarker(cursor, isBlank);
