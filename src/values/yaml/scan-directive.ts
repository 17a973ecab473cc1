import { isBreakOrEnd, isDigit, isSpaceBreakOrEnd, isWordCharacter } from "./characters.ts";
import { type Cursor, charAt, scanLineBreak, skipSpaces, skipToBreak } from "./cursor.ts";
import { refusal, showCharacter } from "./refusal.ts";
import { scanTagHandle, scanTagUri } from "./scan-properties.ts";
import type { TagDirectiveToken, YamlDirectiveToken } from "./tokens.ts";

/** `%YAML 1.1`, `%TAG !e! prefix`; other names are passed over, as YAML asks. */
export function scanDirective(cursor: Cursor): YamlDirectiveToken | TagDirectiveToken {
  const start = cursor.pos;
  cursor.pos++;
  const name = scanDirectiveName(cursor, start);
  const token = scanValue(cursor, name, start);
  skipSpaces(cursor);
  if (charAt(cursor) === 0x23) skipToBreak(cursor);
  if (!isBreakOrEnd(charAt(cursor))) throw unexpected(cursor, start, "a comment or a line break");
  scanLineBreak(cursor);
  return token;
}

function scanValue(
  cursor: Cursor,
  name: string,
  start: number,
): YamlDirectiveToken | TagDirectiveToken {
  if (name === "YAML") {
    const major = scanYamlVersion(cursor, start);
    return { type: "<directive>", name, major, start, end: cursor.pos };
  }
  if (name === "TAG") {
    const directive = { kind: "directive", start } as const;
    skipSpaces(cursor);
    const handle = scanTagHandle(cursor, directive);
    if (charAt(cursor) !== 0x20) throw unexpected(cursor, start, "' '");
    skipSpaces(cursor);
    const prefix = scanTagUri(cursor, directive);
    if (!isSpaceBreakOrEnd(charAt(cursor))) throw unexpected(cursor, start, "' '");
    return { type: "<directive>", name, handle, prefix, start, end: cursor.pos };
  }
  const end = cursor.pos;
  skipToBreak(cursor);
  return { type: "<directive>", name: "unknown", major: 0, start, end };
}

function scanDirectiveName(cursor: Cursor, start: number): string {
  const from = cursor.pos;
  while (isWordCharacter(charAt(cursor))) cursor.pos++;
  if (cursor.pos === from || !isSpaceBreakOrEnd(charAt(cursor)))
    throw unexpected(cursor, start, "alphabetic or numeric character");
  return cursor.text.slice(from, cursor.pos);
}

/** Returns the major version; the minor one is only checked for its form. */
function scanYamlVersion(cursor: Cursor, start: number): number {
  skipSpaces(cursor);
  const major = scanNumber(cursor, start);
  if (charAt(cursor) !== 0x2e) throw unexpected(cursor, start, "a digit or '.'");
  cursor.pos++;
  scanNumber(cursor, start);
  if (!isSpaceBreakOrEnd(charAt(cursor))) throw unexpected(cursor, start, "a digit or ' '");
  return major;
}

function scanNumber(cursor: Cursor, start: number): number {
  const from = cursor.pos;
  while (isDigit(charAt(cursor))) cursor.pos++;
  if (cursor.pos === from) throw unexpected(cursor, start, "a digit");
  return Number(cursor.text.slice(from, cursor.pos));
}

const unexpected = (cursor: Cursor, start: number, expected: string) =>
  refusal(cursor.source, {
    context: "while scanning a directive",
    contextStart: start,
    problem: `expected ${expected}, but found ${showCharacter(cursor.text, cursor.pos)}`,
    start: cursor.pos,
  });
