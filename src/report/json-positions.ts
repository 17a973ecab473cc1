/**
 * Where things stand in a JSON text: a scanner that is run only when there is an error to point at.
 * It keeps its own stack, so nesting is limited by memory alone.
 */

import { pointerTo } from "./issue.ts";
import { openCursor } from "./json-cursor.ts";
import type { JsonText } from "./json-text.ts";

export interface TextPosition {
  /** 1-based; columns count UTF-16 units, as editors do. */
  readonly line: number;
  readonly column: number;
}

export interface JsonScan {
  /** Where a value (a member: its key) begins, by JSON pointer, of those asked for. */
  readonly positions: ReadonlyMap<string, TextPosition>;
  /** The first place where the text stops being JSON. */
  readonly syntaxError: (TextPosition & { readonly message: string }) | null;
}

interface Container {
  readonly type: "object" | "array";
  readonly pointer: string;
  index: number;
}

type Expecting = "value" | "first item" | "first key" | "key" | "after value" | "end";

/** Reads the whole text and notes where the wanted pointers are. */
export function scanJson(whole: JsonText, wanted: ReadonlySet<string> = new Set()): JsonScan {
  const positions = new Map<string, TextPosition>();
  const stack: Container[] = [];
  let expecting: Expecting = "value";
  let pointer = "";

  let line = 1;
  /** Offset of the line that was reached, and of where to look for the end of it. */
  let lineStart = 0;
  let counted = 0;
  /** Of places one behind the other. */
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
  const cursor = openCursor(whole, (text, at) => {
    positionAt(text, at);
    lineStart -= at;
    counted = 0;
  });

  const note = (where: string) => {
    if (wanted.has(where) && !positions.has(where))
      positions.set(where, positionAt(cursor.text, cursor.at));
  };
  const fail = (message: string): JsonScan => ({
    positions,
    syntaxError: { ...positionAt(cursor.text, cursor.at), message },
  });
  /** A scalar's end and value; null where there is none. */
  const scalar = (): { readonly end: number; readonly value: unknown } | null => {
    const end = cursor.endOfToken();
    if (end === null) return null;
    try {
      return { end, value: JSON.parse(cursor.text.slice(cursor.at, end)) };
    } catch {
      return null;
    }
  };
  const badString = (): string => {
    const end = cursor.endOfToken();
    return end === null || cursor.text.slice(cursor.at, end).includes("\n")
      ? "a string that does not end on its line"
      : "a string with an invalid escape or a control character";
  };
  const closeContainer = () => {
    stack.pop();
    cursor.at++;
    expecting = stack.length === 0 ? "end" : "after value";
  };

  for (;;) {
    const character = cursor.peek();
    if (expecting === "end")
      return character === ""
        ? { positions, syntaxError: null }
        : fail("text after the end of the document");
    if (character === "") return fail("the text ends too early");
    const container = stack.at(-1);

    if (expecting === "after value") {
      if (character === ",") {
        cursor.at++;
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
      const name = scalar();
      if (name === null) return fail(badString());
      pointer = pointerTo(container?.pointer ?? "", String(name.value));
      note(pointer);
      cursor.at = name.end;
      if (cursor.peek() !== ":") return fail("expected a colon after the key");
      cursor.at++;
      expecting = "value";
      continue;
    }

    if (expecting === "first item" && character === "]") {
      closeContainer();
      continue;
    }
    note(pointer);
    if (character === "{" || character === "[") {
      const type = character === "{" ? "object" : "array";
      stack.push({ type, pointer, index: 0 });
      if (type === "array") pointer = pointerTo(pointer, 0);
      expecting = type === "object" ? "first key" : "first item";
      cursor.at++;
      continue;
    }
    const found = scalar();
    if (found === null) return fail(character === '"' ? badString() : "expected a value");
    cursor.at = found.end;
    expecting = stack.length === 0 ? "end" : "after value";
  }
}
