/** Scans what stands before a YAML node: anchors, aliases, tags and directives. */
import { isError } from "../../../foundation/system/builtin-types.ts";
import {
  type Cursor,
  charAt,
  isBlank,
  isBreakOrEnd,
  isDigit,
  isHexDigit,
  isSpaceBreakOrEnd,
  isWordCharacter,
  scanLineBreak,
  showCharacter,
  skipBlanks,
  skipToBreak,
  yamlError,
} from "./cursor.ts";
import type { NameToken, TagDirectiveToken, TagToken, YamlDirectiveToken } from "./tokens.ts";

const BANG = 0x21;
const PERCENT = 0x25;

/** Characters of tags besides letters and digits. */
const URI_PUNCTUATION = "-;/?:@&=+$,_.!~*'()[]%";
const SHORTHAND_PUNCTUATION = URI_PUNCTUATION.replace(/[,[\]]/g, "");
/** What may follow an anchor or alias directly. */
const AFTER_NAME = "?:,]}%@`";

/** `&name` or `*name`. */
export function scanName(cursor: Cursor, type: "<anchor>" | "<alias>"): NameToken {
  const start = cursor.pos;
  cursor.pos++;
  const name = scanWord(cursor);
  const next = charAt(cursor);
  if (name === "" || !(isBlank(next) || AFTER_NAME.includes(String.fromCharCode(next))))
    throw yamlError(cursor.source, {
      context: type === "<anchor>" ? "while scanning an anchor" : "while scanning an alias",
      contextStart: start,
      problem: `expected alphabetic or numeric character, but found ${showCharacter(cursor.text, cursor.pos)}`,
      start: cursor.pos,
      ...(type === "<alias>" && { hint: "quote a string that starts with *" }),
    });
  return { type, name, start, end: cursor.pos };
}

/** The construct that a handle or URI belongs to, as errors name it. */
interface Whole {
  readonly kind: "tag" | "directive";
  readonly start: number;
}

/** `!<tag>`, `!`, `!local`, `!!standard`, `!handle!suffix`. */
export function scanTag(cursor: Cursor, inFlow: boolean): TagToken {
  const start = cursor.pos;
  const tag: Whole = { kind: "tag", start };
  let handle: string | null = null;
  let suffix: string;
  const next = charAt(cursor, 1);
  if (next === 0x3c) {
    cursor.pos += 2;
    suffix = scanTagUri(cursor, tag);
    if (charAt(cursor) !== 0x3e) throw unexpected(cursor, tag, "'>'", "parsing");
    cursor.pos++;
  } else if (isBlank(next)) {
    suffix = "!";
    cursor.pos++;
  } else if (cursor.libyaml) {
    ({ handle, suffix } = scanShorthand(cursor, tag));
  } else {
    handle = hasSecondBang(cursor) ? scanTagHandle(cursor, tag) : "!";
    if (handle === "!") cursor.pos = start + 1;
    suffix = scanTagUri(cursor, tag);
  }
  const isEnd = cursor.libyaml ? isBlank(charAt(cursor)) : isSpaceBreakOrEnd(charAt(cursor));
  if (!isEnd && !(cursor.libyaml && inFlow && charAt(cursor) === 0x2c))
    throw unexpected(cursor, tag, "' '");
  return { type: "<tag>", handle, suffix, start, end: cursor.pos };
}

/** A tag without `<`, by libyaml's rules: it ends at flow indicators, and nothing has to follow a lone `!`. */
function scanShorthand(cursor: Cursor, tag: Whole): Pick<TagToken, "handle" | "suffix"> {
  const [written = "!", isHandle] = /!(?:[\w-]*(!))?/y.exec(cursor.text.slice(cursor.pos)) ?? [];
  cursor.pos += isHandle === undefined ? 1 : written.length;
  const from = cursor.pos;
  const suffix = scanUriRun(cursor, tag, SHORTHAND_PUNCTUATION);
  if (isHandle !== undefined && suffix === "") throw unexpected(cursor, tag, "URI", "parsing");
  if (isHandle !== undefined) return { handle: written, suffix };
  return cursor.pos === from ? { handle: null, suffix: "!" } : { handle: "!", suffix };
}

/** `!`, `!!` or `!name!`; also for the `%TAG` directive. */
function scanTagHandle(cursor: Cursor, whole: Whole): string {
  const from = cursor.pos;
  if (charAt(cursor) !== BANG) throw unexpected(cursor, whole, "'!'");
  cursor.pos++;
  if (charAt(cursor) === 0x20) return "!";
  scanWord(cursor);
  if (charAt(cursor) !== BANG) throw unexpected(cursor, whole, "'!'");
  cursor.pos++;
  return cursor.text.slice(from, cursor.pos);
}

function scanTagUri(cursor: Cursor, whole: Whole): string {
  const uri = scanUriRun(cursor, whole, URI_PUNCTUATION);
  if (uri === "") throw unexpected(cursor, whole, "URI", "parsing");
  return uri;
}

function scanUriRun(cursor: Cursor, whole: Whole, punctuation: string): string {
  let uri = "";
  for (;;) {
    const from = cursor.pos;
    let c = charAt(cursor);
    while (c !== PERCENT && isUriCharacter(c, punctuation)) {
      cursor.pos++;
      c = charAt(cursor);
    }
    uri += cursor.text.slice(from, cursor.pos);
    if (c !== PERCENT) return uri;
    uri += scanUriEscapes(cursor, whole);
  }
}

/** A run of `%xx`, which together encode UTF-8. */
function scanUriEscapes(cursor: Cursor, whole: Whole): string {
  const from = cursor.pos;
  const bytes: number[] = [];
  while (charAt(cursor) === PERCENT) {
    cursor.pos++;
    const digits = cursor.pos;
    for (; cursor.pos < digits + 2; cursor.pos++)
      if (!isHexDigit(charAt(cursor)))
        throw unexpected(cursor, whole, "URI escape sequence of 2 hexadecimal numbers");
    bytes.push(Number.parseInt(cursor.text.slice(digits, cursor.pos), 16));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(bytes),
    );
  } catch (cause) {
    throw yamlError(cursor.source, {
      context: `while scanning a ${whole.kind}`,
      problem: `the escaped bytes are not UTF-8 (${isError(cause) ? cause.message : ""})`,
      start: from,
      end: cursor.pos,
    });
  }
}

function scanWord(cursor: Cursor): string {
  const from = cursor.pos;
  while (isWordCharacter(charAt(cursor))) cursor.pos++;
  return cursor.text.slice(from, cursor.pos);
}

function hasSecondBang(cursor: Cursor): boolean {
  for (let index = cursor.pos + 1; ; index++) {
    const c = cursor.text.charCodeAt(index);
    if (c === BANG) return true;
    if (c === 0x20 || isBreakOrEnd(c)) return false;
  }
}

const isUriCharacter = (c: number, punctuation: string): boolean =>
  isWordCharacter(c) || (c !== 0 && punctuation.includes(String.fromCharCode(c)));

const unexpected = (
  cursor: Cursor,
  { kind, start }: Whole,
  expected: string,
  doing: "scanning" | "parsing" = "scanning",
) =>
  yamlError(cursor.source, {
    context: `while ${doing} a ${kind}`,
    contextStart: start,
    problem: `expected ${expected}, but found ${showCharacter(cursor.text, cursor.pos)}`,
    start: cursor.pos,
  });

/** `%YAML 1.1`, `%TAG !e! prefix`; other directives are ignored, as YAML demands. */
export function scanDirective(cursor: Cursor): YamlDirectiveToken | TagDirectiveToken {
  const start = cursor.pos;
  cursor.pos++;
  const name = scanDirectiveName(cursor, start);
  const token = scanValue(cursor, name, start);
  skipBlanks(cursor);
  if (charAt(cursor) === 0x23) skipToBreak(cursor);
  if (!isBreakOrEnd(charAt(cursor)))
    throw unexpectedInDirective(cursor, start, "a comment or a line break");
  scanLineBreak(cursor);
  return token;
}

function scanValue(
  cursor: Cursor,
  name: string,
  start: number,
): YamlDirectiveToken | TagDirectiveToken {
  if (name === "YAML") {
    const { major, minor } = scanYamlVersion(cursor, start);
    const isSupported = major === 1 && (!cursor.libyaml || minor === 1 || minor === 2);
    return { type: "<directive>", name, isSupported, start, end: cursor.pos };
  }
  if (name === "TAG") {
    const directive = { kind: "directive", start } as const;
    skipBlanks(cursor);
    const handle = scanTagHandle(cursor, directive);
    if (charAt(cursor) !== 0x20) throw unexpectedInDirective(cursor, start, "' '");
    skipBlanks(cursor);
    const prefix = scanTagUri(cursor, directive);
    if (!isSpaceBreakOrEnd(charAt(cursor))) throw unexpectedInDirective(cursor, start, "' '");
    return { type: "<directive>", name, handle, prefix, start, end: cursor.pos };
  }
  if (cursor.libyaml)
    throw yamlError(cursor.source, {
      context: "while scanning a directive",
      problem: "found unknown directive name",
      start,
      end: cursor.pos,
    });
  const end = cursor.pos;
  skipToBreak(cursor);
  return { type: "<directive>", name: "unknown", isSupported: false, start, end };
}

function scanDirectiveName(cursor: Cursor, start: number): string {
  const from = cursor.pos;
  while (isWordCharacter(charAt(cursor))) cursor.pos++;
  if (cursor.pos === from || !isSpaceBreakOrEnd(charAt(cursor)))
    throw unexpectedInDirective(cursor, start, "alphabetic or numeric character");
  return cursor.text.slice(from, cursor.pos);
}

function scanYamlVersion(
  cursor: Cursor,
  start: number,
): { readonly major: number; readonly minor: number } {
  skipBlanks(cursor);
  const major = scanNumber(cursor, start);
  if (charAt(cursor) !== 0x2e) throw unexpectedInDirective(cursor, start, "a digit or '.'");
  cursor.pos++;
  const minor = scanNumber(cursor, start);
  if (!isSpaceBreakOrEnd(charAt(cursor)))
    throw unexpectedInDirective(cursor, start, "a digit or ' '");
  return { major, minor };
}

function scanNumber(cursor: Cursor, start: number): number {
  const from = cursor.pos;
  while (isDigit(charAt(cursor))) cursor.pos++;
  if (cursor.pos === from) throw unexpectedInDirective(cursor, start, "a digit");
  return Number(cursor.text.slice(from, cursor.pos));
}

const unexpectedInDirective = (cursor: Cursor, start: number, expected: string) =>
  yamlError(cursor.source, {
    context: "while scanning a directive",
    contextStart: start,
    problem: `expected ${expected}, but found ${showCharacter(cursor.text, cursor.pos)}`,
    start: cursor.pos,
  });
