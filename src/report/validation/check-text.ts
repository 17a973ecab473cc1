/** Reads and checks the text of a report of any size: whether it is JSON, and whether it fits the contract. */
import { isErrorNamed } from "../../foundation/system/builtin-types.ts";
import { scanJson } from "./json-positions.ts";
import { type JsonText, openCursor, textOf } from "./json-text.ts";
import type { ReportIssue } from "./report-rules.ts";
import type { ReportValidator } from "./validate.ts";

export interface CheckedDocument {
  /** Undefined if the text is not JSON. */
  readonly document: unknown;
  /** The problems of the JSON or, if it is valid, of the document, each with its line. */
  readonly issues: readonly ReportIssue[];
}

/** Checks the text of a report: whether it is JSON, and whether it fits the contract. Issues have lines. */
export const checkReportText = (text: string, validator: ReportValidator): readonly ReportIssue[] =>
  readDocument(textOf(text), validator).issues;

/**
 * Reads and checks a report of any size.
 *
 * @throws the errors of reading its file
 */
export function readDocument(whole: JsonText, validator: ReportValidator): CheckedDocument {
  let document: unknown;
  try {
    document = readJson(whole);
  } catch (error) {
    if (!isErrorNamed("SyntaxError", error)) throw error;
    return { document: undefined, issues: [syntaxIssue(whole, error)] };
  }
  const issues = validator.validate(document);
  if (issues.length === 0) return { document, issues };
  const { positions } = scanJson(whole, new Set(issues.map(({ pointer }) => pointer)));
  return {
    document,
    issues: issues.map((issue) => ({ ...issue, ...positions.get(issue.pointer) })),
  };
}

function syntaxIssue(whole: JsonText, error: SyntaxError): ReportIssue {
  const { syntaxError } = scanJson(whole);
  const { message = error.message, ...position } = syntaxError ?? {};
  return {
    pointer: "",
    message: `not JSON: ${message}`,
    expected: "a JSON document",
    ...position,
  };
}

/** Maximum number of characters of an object or list that `JSON.parse` gets in one piece; larger ones are split. */
const PART = 1 << 20;

/**
 * Maximum depth at which values are split: each level is first scanned for its end, so the cost grows with the depth.
 */
const DEEPEST = 100;

/**
 * Parses a JSON text of any length, like `JSON.parse`.
 *
 * @param part maximum length of a piece; set by tests
 * @throws SyntaxError if it is not JSON (`scanJson` finds the place), or if a large text is nested too deeply
 */
export function readJson(whole: JsonText, part = PART): unknown {
  const cursor = openCursor(whole);
  while (cursor.text.length <= part) if (!cursor.more()) return JSON.parse(cursor.text);

  const take = (character: string): boolean => {
    if (cursor.peek() !== character) return false;
    cursor.offset++;
    return true;
  };
  const expect = (character: string): void => {
    if (!take(character)) throw notJson();
  };
  const parseUpTo = (end: number | null): unknown => {
    if (end === null) throw notJson();
    const text = cursor.text.slice(cursor.offset, end);
    cursor.offset = end;
    return JSON.parse(text);
  };

  let depth = 0;
  const value = (): unknown => {
    const first = cursor.peek();
    if (first !== "{" && first !== "[") return parseUpTo(cursor.endOfToken());
    while (cursor.text.length - cursor.offset <= part && cursor.more());
    const end = endOfContainer(cursor.text, cursor.offset, part);
    if (end !== null) return parseUpTo(end);
    if (depth === DEEPEST) throw new SyntaxError(`nested more than ${DEEPEST} deep`);
    cursor.offset++;
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
      // Assigning to `__proto__` would create no member.
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

/** The offset after the object or list that begins at `start`; null if it has more than `most` characters. */
function endOfContainer(text: string, start: number, most: number): number | null {
  const end = Math.min(text.length, start + most);
  let depth = 0;
  let inString = false;
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if ((code | BRACE_BIT) === OPENING) depth++;
    else if ((code | BRACE_BIT) === CLOSING && --depth === 0) return index + 1;
  }
  return null;
}
