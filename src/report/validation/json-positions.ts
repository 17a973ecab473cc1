/**
 * Finds the positions of values in a JSON text. Runs only if there is an error to locate, and keeps its own stack, so
 * the nesting depth is limited only by memory.
 */

import { pointerTokens } from "../../engine/schema/json-document.ts";
import { type JsonCursor, type JsonText, openCursor } from "./json-text.ts";

export interface JsonScan {
  /** For each wanted JSON pointer, the start of its value, or of the key of a member. */
  readonly positions: ReadonlyMap<string, TextPosition>;
  /** The first position where the text is no valid JSON. */
  readonly syntaxError: (TextPosition & { readonly message: string }) | null;
}

/** Scans the whole text and records the positions of the wanted pointers. */
export function scanJson(whole: JsonText, wanted: ReadonlySet<string> = new Set()): JsonScan {
  const state = startScan(whole, wanted);
  const { cursor, lines, positions } = state;
  for (;;) {
    const character = cursor.peek();
    if (character === "" && state.expecting === "end") return { positions, syntaxError: null };
    const message =
      character === "" ? "the text ends too early" : STEPS[state.expecting](state, character);
    if (message !== null)
      return {
        positions,
        syntaxError: { ...lines.positionAt(cursor.text, cursor.offset), message },
      };
  }
}

interface Container {
  readonly type: "object" | "array";
  /** Undefined if nothing inside is wanted, which avoids building pointers for deeply nested values. */
  readonly place: PointerTree | undefined;
  index: number;
}

type Expecting = "value" | "first item" | "first key" | "key" | "after value" | "end";

/** The state of the scan. */
interface ScanState {
  readonly cursor: JsonCursor;
  readonly lines: LineCounter;
  readonly positions: Map<string, TextPosition>;
  /** The containers that enclose the position, innermost last. */
  readonly stack: Container[];
  expecting: Expecting;
  /** The place of the next or latest value. */
  place: PointerTree | undefined;
}

function startScan(whole: JsonText, wanted: ReadonlySet<string>): ScanState {
  const lines = createLineCounter();
  return {
    cursor: openCursor(whole, lines.cutAt),
    lines,
    positions: new Map(),
    stack: [],
    expecting: "value",
    place: pointerTree(wanted),
  };
}

/** Reads the token that begins with this character. Returns an error message, or null. */
type Step = (state: ScanState, character: string) => string | null;

const STEPS: Readonly<Record<Expecting, Step>> = {
  value: takeValue,
  "first item": (state, character) =>
    character === "]" ? closeContainer(state) : takeValue(state, character),
  "first key": (state, character) =>
    character === "}" ? closeContainer(state) : takeKey(state, character),
  key: takeKey,
  "after value": takeSeparator,
  end: () => "text after the end of the document",
};

function takeValue(state: ScanState, character: string): string | null {
  const { cursor, stack, place } = state;
  note(state);
  if (character === "{" || character === "[") {
    const type = character === "{" ? "object" : "array";
    stack.push({ type, place, index: 0 });
    if (type === "array") state.place = below(place, "0");
    state.expecting = type === "object" ? "first key" : "first item";
    cursor.offset++;
    return null;
  }
  const found = scalarAt(cursor);
  if (found === null) return character === '"' ? whyNoString(cursor) : "expected a value";
  cursor.offset = found.end;
  state.expecting = stack.length === 0 ? "end" : "after value";
  return null;
}

function takeKey(state: ScanState, character: string): string | null {
  const { cursor, stack } = state;
  if (character !== '"') return "expected a key in double quotes";
  const name = scalarAt(cursor);
  if (name === null) return whyNoString(cursor);
  state.place = below(stack.at(-1)?.place, String(name.value));
  note(state);
  cursor.offset = name.end;
  if (cursor.peek() !== ":") return "expected a colon after the key";
  cursor.offset++;
  state.expecting = "value";
  return null;
}

function takeSeparator(state: ScanState, character: string): string | null {
  const container = state.stack.at(-1);
  if (character === (container?.type === "object" ? "}" : "]")) return closeContainer(state);
  if (character !== ",") return `expected a comma or the end of the ${container?.type}`;
  state.cursor.offset++;
  state.expecting = container?.type === "object" ? "key" : "value";
  if (container?.type === "array") state.place = below(container.place, String(++container.index));
  return null;
}

function closeContainer(state: ScanState): null {
  state.stack.pop();
  state.cursor.offset++;
  state.expecting = state.stack.length === 0 ? "end" : "after value";
  return null;
}

function note({ cursor, lines, positions, place }: ScanState): void {
  const pointer = place?.pointer;
  if (pointer !== undefined && !positions.has(pointer))
    positions.set(pointer, lines.positionAt(cursor.text, cursor.offset));
}

/** The scalar at the position, with the offset after it; null if there is none. */
function scalarAt(cursor: JsonCursor): { readonly end: number; readonly value: unknown } | null {
  const end = cursor.endOfToken();
  if (end === null) return null;
  try {
    return { end, value: JSON.parse(cursor.text.slice(cursor.offset, end)) };
  } catch {
    return null;
  }
}

function whyNoString(cursor: JsonCursor): string {
  const end = cursor.endOfToken();
  return end === null || cursor.text.slice(cursor.offset, end).includes("\n")
    ? "a string that does not end on its line"
    : "a string with an invalid escape or a control character";
}

export interface TextPosition {
  /** Starting at 1; columns count UTF-16 units, as editors do. */
  readonly line: number;
  readonly column: number;
}

/** Counts lines and columns of ascending positions in a text that is only partly in memory. */
interface LineCounter {
  /** @param offset offset into the part in memory, at least that of the last call */
  positionAt(text: string, offset: number): TextPosition;
  /** Must be called when the text before this offset is dropped; the offset becomes 0. */
  cutAt(text: string, offset: number): void;
}

function createLineCounter(): LineCounter {
  let line = 1;
  let lineStart = 0;
  /** The offset up to which line breaks are counted. */
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

/** The places of JSON pointers as a tree, which is traversed together with the document. */
interface PointerTree {
  /** Undefined if only a descendant is wanted. */
  pointer?: string;
  readonly below: Map<string, PointerTree>;
}

/** The root of the tree of wanted places, which is the document itself. */
function pointerTree(pointers: Iterable<string>): PointerTree {
  const document: PointerTree = { below: new Map() };
  for (const pointer of pointers) {
    let place = document;
    for (const name of pointerTokens(pointer)) {
      const next = below(place, name) ?? { below: new Map() };
      place.below.set(name, next);
      place = next;
    }
    place.pointer = pointer;
  }
  return document;
}

/** The place of a member or an item; undefined if nothing there is wanted. */
const below = (place: PointerTree | undefined, name: string): PointerTree | undefined =>
  place?.below.get(name);
