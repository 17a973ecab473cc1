import { TAB } from "./characters.ts";
import { type Cursor, charAt, column, scanLineBreak, skipSpaces, skipToBreak } from "./cursor.ts";
import type { PossibleKey } from "./possible-keys.ts";
import { refusal, showCharacter } from "./refusal.ts";
import { scanBlockScalar } from "./scan-block-scalar.ts";
import { scanDirective } from "./scan-directive.ts";
import { scanPlain } from "./scan-plain.ts";
import { scanName, scanTag } from "./scan-properties.ts";
import { scanQuoted } from "./scan-quoted.ts";
import { indentTo, type ScanState, unwind } from "./scan-state.ts";
import { insertToken, nextNumber } from "./token-queue.ts";
import { type TokenStart, tokenStart } from "./token-start.ts";
import type { StructureType, Token } from "./tokens.ts";

/** Scans one token more, with the starts and ends of blocks that its column implies. */
export function fetchToken(state: ScanState): void {
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
  tag: (state) => fetchProperty(state, () => scanTag(state.cursor)),
  quoted: (state) => fetchProperty(state, () => scanQuoted(state.cursor)),
  "block scalar": fetchBlockScalar,
  plain: fetchPlain,
};

function skipToToken(state: ScanState): void {
  const { cursor } = state;
  for (;;) {
    skipSpaces(cursor);
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
  // The parser refuses a bracket that closes nothing as soon as it sees it.
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
    if (state.flowLevel === 0) openBlock(state, "<block mapping start>", VALUE_MISPLACED);
    state.allowKey = state.flowLevel === 0;
    state.keys.forget(state.flowLevel);
  }
  push(state, ":");
}

/** Marks what was scanned as a key, now that its `:` was found. */
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

/** Notes that a key may begin here. In an open block of this column nothing else may. */
function saveKey({ cursor, queue, keys, allowKey, flowLevel, indent }: ScanState): void {
  if (!allowKey) return;
  const required = flowLevel === 0 && indent === column(cursor);
  keys.save(flowLevel, nextNumber(queue), required);
}

interface Misplaced {
  readonly problem: string;
  readonly hint?: string;
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

/** Opens the block that an indicator begins, where none is open at its column. */
function openBlock(
  state: ScanState,
  type: "<block sequence start>" | "<block mapping start>",
  misplaced: Misplaced,
): void {
  const { cursor, queue } = state;
  if (!state.allowKey) throw refusal(cursor.source, { ...misplaced, start: cursor.pos });
  if (indentTo(state, column(cursor)))
    queue.tokens.push({ type, start: cursor.pos, end: cursor.pos });
}

function cannotStart(cursor: Cursor) {
  return refusal(cursor.source, {
    context: "while scanning for the next token",
    problem: `found character ${showCharacter(cursor.text, cursor.pos)} that cannot start any token`,
    start: cursor.pos,
    hint:
      charAt(cursor) === TAB
        ? "YAML allows no tabs here: use spaces"
        : "quote a string that starts with it",
  });
}
