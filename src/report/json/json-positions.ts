/**
 * Finds the positions of values in a JSON text. The scanner runs only when there is an error to point at,
 * and keeps its own stack, so nesting is limited by memory alone.
 */
import { type JsonCursor, openCursor } from "./json-cursor.ts";
import type { JsonText } from "./json-text.ts";
import { createLineCounter, type LineCounter, type TextPosition } from "./line-counter.ts";
import { below, type WantedPlace, wantedPlaces } from "./wanted-places.ts";

export interface JsonScan {
  /** For each wanted JSON pointer, where its value (for a member: its key) begins. */
  readonly positions: ReadonlyMap<string, TextPosition>;
  /** The first place where the text stops being JSON. */
  readonly syntaxError: (TextPosition & { readonly message: string }) | null;
}

/** Reads the whole text and notes the positions of the wanted pointers. */
export function scanJson(whole: JsonText, wanted: ReadonlySet<string> = new Set()): JsonScan {
  const state = startScan(whole, wanted);
  const { cursor, lines, positions } = state;
  for (;;) {
    const character = cursor.peek();
    if (character === "" && state.expecting === "end") return { positions, syntaxError: null };
    const message =
      character === "" ? "the text ends too early" : STEPS[state.expecting](state, character);
    if (message !== null)
      return { positions, syntaxError: { ...lines.positionAt(cursor.text, cursor.at), message } };
  }
}

interface Container {
  readonly type: "object" | "array";
  /** Undefined if nothing inside is wanted: this spares building the pointers of deeply nested values. */
  readonly place: WantedPlace | undefined;
  index: number;
}

type Expecting = "value" | "first item" | "first key" | "key" | "after value" | "end";

/** The state of the scan. */
interface ScanState {
  readonly cursor: JsonCursor;
  readonly lines: LineCounter;
  readonly positions: Map<string, TextPosition>;
  /** The containers around the position, innermost last. */
  readonly stack: Container[];
  expecting: Expecting;
  /** The place of the value that comes next, or came last. */
  place: WantedPlace | undefined;
}

function startScan(whole: JsonText, wanted: ReadonlySet<string>): ScanState {
  const lines = createLineCounter();
  return {
    cursor: openCursor(whole, lines.cutAt),
    lines,
    positions: new Map(),
    stack: [],
    expecting: "value",
    place: wantedPlaces(wanted),
  };
}

/** Reads what begins with this character. Returns what is wrong with it; null if nothing is. */
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
    cursor.at++;
    return null;
  }
  const found = scalarAt(cursor);
  if (found === null) return character === '"' ? whyNoString(cursor) : "expected a value";
  cursor.at = found.end;
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
  cursor.at = name.end;
  if (cursor.peek() !== ":") return "expected a colon after the key";
  cursor.at++;
  state.expecting = "value";
  return null;
}

function takeSeparator(state: ScanState, character: string): string | null {
  const container = state.stack.at(-1);
  if (character === (container?.type === "object" ? "}" : "]")) return closeContainer(state);
  if (character !== ",") return `expected a comma or the end of the ${container?.type}`;
  state.cursor.at++;
  state.expecting = container?.type === "object" ? "key" : "value";
  if (container?.type === "array") state.place = below(container.place, String(++container.index));
  return null;
}

function closeContainer(state: ScanState): null {
  state.stack.pop();
  state.cursor.at++;
  state.expecting = state.stack.length === 0 ? "end" : "after value";
  return null;
}

function note({ cursor, lines, positions, place }: ScanState): void {
  const pointer = place?.pointer;
  if (pointer !== undefined && !positions.has(pointer))
    positions.set(pointer, lines.positionAt(cursor.text, cursor.at));
}

/** The scalar at the position, with the offset after it; null if there is none. */
function scalarAt(cursor: JsonCursor): { readonly end: number; readonly value: unknown } | null {
  const end = cursor.endOfToken();
  if (end === null) return null;
  try {
    return { end, value: JSON.parse(cursor.text.slice(cursor.at, end)) };
  } catch {
    return null;
  }
}

function whyNoString(cursor: JsonCursor): string {
  const end = cursor.endOfToken();
  return end === null || cursor.text.slice(cursor.at, end).includes("\n")
    ? "a string that does not end on its line"
    : "a string with an invalid escape or a control character";
}
