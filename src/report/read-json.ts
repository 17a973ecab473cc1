import { openCursor } from "./json-cursor.ts";
import type { JsonText } from "./json-text.ts";

/** Characters of an object or list that go to `JSON.parse` as one; larger ones are taken apart. */
const PART = 1 << 20;

/** Objects and lists in each other that are taken apart: each is looked through for its end before. */
const DEEPEST = 100;

/**
 * The value of a JSON text of any length: what `JSON.parse` would make of it.
 *
 * @param part for tests
 * @throws SyntaxError where it is not JSON, `scanJson` says where; or where it is too deep for a large one
 */
export function readJson(whole: JsonText, part = PART): unknown {
  const cursor = openCursor(whole);
  while (cursor.text.length <= part) if (!cursor.more()) return JSON.parse(cursor.text);

  const take = (character: string): boolean => {
    if (cursor.peek() !== character) return false;
    cursor.at++;
    return true;
  };
  const expect = (character: string): void => {
    if (!take(character)) throw notJson();
  };
  const parseUpTo = (end: number | null): unknown => {
    if (end === null) throw notJson();
    const text = cursor.text.slice(cursor.at, end);
    cursor.at = end;
    return JSON.parse(text);
  };

  let depth = 0;
  const value = (): unknown => {
    const first = cursor.peek();
    if (first !== "{" && first !== "[") return parseUpTo(cursor.endOfToken());
    while (cursor.text.length - cursor.at <= part && cursor.more());
    const end = endOfContainer(cursor.text, cursor.at, part);
    if (end !== null) return parseUpTo(end);
    if (depth === DEEPEST) throw new SyntaxError(`nested more than ${DEEPEST} deep`);
    cursor.at++;
    depth++;
    const container = first === "{" ? object() : list();
    depth--;
    return container;
  };

  const list = (): unknown => {
    const elements: unknown[] = [];
    if (take("]")) return elements;
    do elements.push(value());
    while (take(","));
    expect("]");
    return elements;
  };

  const object = (): unknown => {
    const members: Record<string, unknown> = {};
    if (take("}")) return members;
    do {
      if (cursor.peek() !== '"') throw notJson();
      const key = String(parseUpTo(cursor.endOfToken()));
      expect(":");
      // An assignment to `__proto__` would make no member.
      Object.defineProperty(members, key, {
        value: value(),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } while (take(","));
    expect("}");
    return members;
  };

  const document = value();
  if (cursor.peek() !== "") throw notJson();
  return document;
}

const notJson = (): SyntaxError => new SyntaxError("not JSON");

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `]` with this bit are `{` and `}`. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** The offset behind the object or list that begins at `start`, where it has no more than `most` characters. */
function endOfContainer(text: string, start: number, most: number): number | null {
  const end = Math.min(text.length, start + most);
  let depth = 0;
  let inString = false;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if ((code | BRACE_BIT) === OPENING) depth++;
    else if ((code | BRACE_BIT) === CLOSING && --depth === 0) return at + 1;
  }
  return null;
}
