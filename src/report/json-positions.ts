/**
 * Where things stand in a JSON text: a scanner that is run only when there is an error to point at.
 * It keeps its own stack, so nesting is limited by memory alone.
 */
import { pointerTo } from "./issue.ts";

export interface TextPosition {
  /** 1-based; columns count UTF-16 units, as editors do. */
  readonly line: number;
  readonly column: number;
}

export interface JsonScan {
  /** Offset of the value (for a member: of its key) by JSON pointer, of those asked for. */
  readonly offsets: ReadonlyMap<string, number>;
  /** The first place where the text stops being JSON. */
  readonly syntaxError: { readonly offset: number; readonly message: string } | null;
}

interface Container {
  readonly type: "object" | "array";
  readonly pointer: string;
  index: number;
}

type Expecting = "value" | "first item" | "first key" | "key" | "after value" | "end";

/** Reads the whole text and notes the offsets of the wanted pointers. */
export function scanJson(text: string, wanted: ReadonlySet<string> = new Set()): JsonScan {
  const offsets = new Map<string, number>();
  const stack: Container[] = [];
  let expecting: Expecting = "value";
  let pointer = "";
  let at = 0;

  const note = (where: string, offset: number) => {
    if (wanted.has(where) && !offsets.has(where)) offsets.set(where, offset);
  };
  const fail = (message: string, offset = at): JsonScan => ({
    offsets,
    syntaxError: { offset, message },
  });
  const closeContainer = () => {
    stack.pop();
    at++;
    expecting = stack.length === 0 ? "end" : "after value";
  };

  for (;;) {
    at = endOf(BLANK, text, at) ?? at;
    const character = text[at];
    if (expecting === "end")
      return character === undefined
        ? { offsets, syntaxError: null }
        : fail("text after the end of the document");
    if (character === undefined) return fail("the text ends too early");
    const container = stack.at(-1);

    if (expecting === "after value") {
      if (character === ",") {
        at++;
        expecting = container?.type === "object" ? "key" : "value";
        if (container?.type === "array") pointer = pointerTo(container.pointer, ++container.index);
      } else if (character === (container?.type === "object" ? "}" : "]")) closeContainer();
      else return fail(`expected a comma or the end of the ${container?.type}`);
      continue;
    }

    if (expecting === "first key" || expecting === "key") {
      if (expecting === "first key" && character === "}") {
        closeContainer();
        continue;
      }
      if (character !== '"') return fail("expected a key in double quotes");
      const end = endOf(STRING, text, at);
      if (end === null) return fail(badString(text, at));
      pointer = pointerTo(container?.pointer ?? "", JSON.parse(text.slice(at, end)));
      note(pointer, at);
      at = endOf(BLANK, text, end) ?? end;
      if (text[at] !== ":") return fail("expected a colon after the key");
      at++;
      expecting = "value";
      continue;
    }

    if (expecting === "first item" && character === "]") {
      closeContainer();
      continue;
    }
    note(pointer, at);
    if (character === "{" || character === "[") {
      const type = character === "{" ? "object" : "array";
      stack.push({ type, pointer, index: 0 });
      if (type === "array") pointer = pointerTo(pointer, 0);
      expecting = type === "object" ? "first key" : "first item";
      at++;
      continue;
    }
    const end = endOf(character === '"' ? STRING : SCALAR, text, at);
    if (end === null) return fail(character === '"' ? badString(text, at) : "expected a value");
    at = end;
    expecting = stack.length === 0 ? "end" : "after value";
  }
}

export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf("\n");
  return { line: before.split("\n").length, column: offset - lastBreak };
}

const BLANK = /[ \t\n\r]+/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const STRING = /"(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

function endOf(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

const badString = (text: string, at: number): string =>
  /^"(?:[^"\\\n]|\\.)*"/.test(text.slice(at))
    ? "a string with an invalid escape or a control character"
    : "a string that does not end on its line";
