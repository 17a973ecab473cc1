/** The tokens of OmegaConf's interpolation grammar. */
import type { Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import type { Origin } from "../origin.ts";
import { parsePythonFloat, parsePythonInt } from "../python-text.ts";
import type { PrimitiveElement, StaticReference } from "./interpolation-ast.ts";

/**
 * The kind of a token. Names follow the syntax of the language: a colon or a bracket means the same in a key and in
 * arguments, although their lexical rules differ.
 */
export type TokenKind =
  | "literal"
  | "escaped-interpolation"
  | "escaped"
  | "backslashes"
  | "open"
  | "close"
  | "dot"
  | "key"
  | "id"
  | "colon"
  | "comma"
  | "list-open"
  | "list-close"
  | "dict-open"
  | "dict-close"
  | "quote-open"
  | "quote-close"
  | "null"
  | "bool"
  | "int"
  | "float"
  | "symbol"
  | "blank"
  /** No rule matches, or a closing brace has no opening one: the last token of a text. */
  | "invalid"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
}

/**
 * The lexical contexts: free text, inside `${…}` before a colon, arguments (also inside `{…}`), and
 * quoted text. An opening token enters one, its closing token leaves it.
 */
type LexerMode = "text" | "key" | "arguments" | "single-quoted" | "double-quoted";

interface Rule {
  readonly kind: TokenKind;
  readonly pattern: RegExp;
  readonly step?: Step;
}

type Step =
  | { readonly enter: LexerMode }
  | { readonly become: LexerMode }
  | { readonly leave: true };

const enter = (mode: LexerMode): Step => ({ enter: mode });
const LEAVE: Step = { leave: true };

const OPEN: Rule = { kind: "open", pattern: /\$\{[ \t]*/y, step: enter("key") };
const ID = /[a-zA-Z_][a-zA-Z0-9_-]*/y;
const DIGITS = "[0-9](?:_?[0-9])*";
const UNSIGNED = "(?:0|[1-9](?:_?[0-9])*)";
const POINT = `(?:(?:${UNSIGNED})?\\.${DIGITS}|${UNSIGNED}\\.)`;
const EXPONENT = `(?:${POINT}|${UNSIGNED})[eE][+-]?${DIGITS}`;

/**
 * Rules for text up to one of the stop characters. A run of backslashes counts only before `${`
 * or, in quotes, before the closing quote; elsewhere it is part of the literal. Literals end before
 * such a run, so that its full length is known.
 */
const textRules = (quote: string): readonly Rule[] => [
  OPEN,
  { kind: "literal", pattern: new RegExp(`[^${quote}$]*[^${quote}\\\\$]`, "y") },
  { kind: "escaped-interpolation", pattern: /(?:\\\\)*\\\$\{/y },
  ...(quote === ""
    ? []
    : [
        { kind: "escaped", pattern: new RegExp(`(?:\\\\\\\\)*\\\\${quote}`, "y") } as const,
        { kind: "quote-close", pattern: new RegExp(quote, "y"), step: LEAVE } as const,
      ]),
  { kind: "backslashes", pattern: /(?:\\\\)+/y },
  { kind: "literal", pattern: /\\+/y },
  { kind: "literal", pattern: /\$/y },
];

/** Keys in which a backslash makes a separator a character of the key. */
const ESCAPED_KEY: Rule = { kind: "key", pattern: /(?:[^\\{}()[\]:. \t'"]|\\[.[\]:=\\])+/y };

/** Per mode, in order of precedence between matches of the same length; the longest match wins. */
const RULES: Readonly<Record<LexerMode, readonly Rule[]>> = {
  text: textRules(""),
  "single-quoted": textRules("'"),
  "double-quoted": textRules('"'),
  key: [
    OPEN,
    { kind: "colon", pattern: /[ \t]*:[ \t]*/y, step: { become: "arguments" } },
    { kind: "close", pattern: /[ \t]*\}/y, step: LEAVE },
    { kind: "dot", pattern: /\./y },
    { kind: "list-open", pattern: /\[/y },
    { kind: "list-close", pattern: /\]/y },
    { kind: "id", pattern: ID },
    { kind: "key", pattern: /[^\\{}()[\]:. \t'"]+/y },
  ],
  arguments: [
    OPEN,
    { kind: "dict-open", pattern: /\{[ \t]*/y, step: enter("arguments") },
    { kind: "dict-close", pattern: /[ \t]*\}/y, step: LEAVE },
    { kind: "quote-open", pattern: /'/y, step: enter("single-quoted") },
    { kind: "quote-open", pattern: /"/y, step: enter("double-quoted") },
    { kind: "comma", pattern: /[ \t]*,[ \t]*/y },
    { kind: "list-open", pattern: /\[[ \t]*/y },
    { kind: "list-close", pattern: /[ \t]*\]/y },
    { kind: "colon", pattern: /[ \t]*:[ \t]*/y },
    // The alternatives of a float are ordered longest first, because a regular expression takes the first that matches.
    {
      kind: "float",
      pattern: new RegExp(`[+-]?(?:${EXPONENT}|${POINT}|[Ii][Nn][Ff]|[Nn][Aa][Nn])`, "y"),
    },
    { kind: "int", pattern: new RegExp(`[+-]?${UNSIGNED}`, "y") },
    { kind: "bool", pattern: /true|false/iy },
    { kind: "null", pattern: /null/iy },
    { kind: "symbol", pattern: /[/\-\\+.$%*@?|]/y },
    { kind: "id", pattern: ID },
    { kind: "escaped", pattern: /(?:\\[\\()[\]{}:=, \t])+/y },
    { kind: "blank", pattern: /[ \t]+/y },
  ],
};

const ESCAPED_KEY_RULES: readonly Rule[] = RULES.key.map((rule) =>
  rule.kind === "key" ? ESCAPED_KEY : rule,
);

/**
 * Splits a text into tokens. The last one is `end`, or `invalid` at the first position without a match, which is an
 * error only if the parser gets that far.
 */
function tokenize(text: string, initial: LexerMode, { escapesInKeys }: Dialect): readonly Token[] {
  const tokens: Token[] = [];
  const modes: LexerMode[] = [];
  let mode = initial;
  let offset = 0;
  while (offset < text.length) {
    const rules = mode === "key" && escapesInKeys ? ESCAPED_KEY_RULES : RULES[mode];
    const match = longestMatch(rules, text, offset);
    if (match === null) return [...tokens, { kind: "invalid", text: "", start: offset }];
    tokens.push({ kind: match.rule.kind, text: text.slice(offset, match.end), start: offset });
    const step = match.rule.step;
    if (step !== undefined && "enter" in step) {
      modes.push(mode);
      mode = step.enter;
    } else if (step !== undefined && "become" in step) mode = step.become;
    else if (step !== undefined) {
      const outer = modes.pop();
      if (outer === undefined) return [...tokens, { kind: "invalid", text: "", start: offset }];
      mode = outer;
    }
    offset = match.end;
  }
  tokens.push({ kind: "end", text: "", start: text.length });
  return tokens;
}

function longestMatch(
  rules: readonly Rule[],
  text: string,
  offset: number,
): { readonly rule: Rule; readonly end: number } | null {
  let best: Rule | null = null;
  let end = offset;
  for (const rule of rules) {
    rule.pattern.lastIndex = offset;
    if (rule.pattern.test(text) && rule.pattern.lastIndex > end) {
      best = rule;
      end = rule.pattern.lastIndex;
    }
  }
  return best === null ? null : { rule: best, end };
}

/** The parser's position in the tokens of a text. */
export interface Cursor {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly dialect: Dialect;
  /** References parsed before, by their keys, so that equal ones share one object. */
  readonly references: Map<string, StaticReference>;
  offset: number;
  depth: number;
}

export const openCursor = (
  text: string,
  mode: LexerMode,
  dialect: Dialect,
  references: Cursor["references"] = new Map(),
): Cursor => ({
  text,
  dialect,
  tokens: tokenize(text, mode, dialect),
  references,
  offset: 0,
  depth: 0,
});

/** Deeper nesting is refused, to protect the stack. */
const MAX_DEPTH = 200;

/** @throws ConfigError where nesting is too deep; the caller decrements the depth */
export function descend(cursor: Cursor): void {
  if (++cursor.depth > MAX_DEPTH) throw unexpected(cursor, "too deeply nested");
}

/** The token list ends with `end` or `invalid`, which only the entry points consume. */
export function peek(cursor: Cursor): Token {
  const token = cursor.tokens[cursor.offset] ?? cursor.tokens.at(-1);
  if (token === undefined) throw new Error("a token list is never empty");
  return token;
}

export function next(cursor: Cursor): Token {
  const token = peek(cursor);
  cursor.offset++;
  return token;
}

export function accept(cursor: Cursor, kind: TokenKind): boolean {
  if (peek(cursor).kind !== kind) return false;
  cursor.offset++;
  return true;
}

export function expect(cursor: Cursor, kind: TokenKind): Token {
  if (peek(cursor).kind !== kind)
    throw unexpected(cursor, `expected ${DESCRIPTIONS[kind] ?? kind}`);
  return next(cursor);
}

const DESCRIPTIONS: Partial<Record<TokenKind, string>> = {
  close: "'}'",
  "dict-close": "'}'",
  "list-close": "']'",
  colon: "':'",
  end: "the end",
  "quote-close": "a closing quote",
};

/** Offset where the token before the current one ends. */
export function endOf(cursor: Cursor): number {
  const last = cursor.tokens[cursor.offset - 1];
  return last === undefined ? 0 : last.start + last.text.length;
}

export function unexpected(cursor: Cursor, why: string): ConfigError {
  const { kind, start } = peek(cursor);
  return interpolationSyntaxError(
    cursor.text,
    start,
    kind === "invalid" ? "unexpected character" : why,
  );
}

/*
 * The value of a token: literal text without its escapes, or a typed value.
 */

/** Decides how a run of backslashes at the end of a text is read. */
export type TextKind = "free" | "quoted";

/**
 * The literal text of a token.
 * @param following the token after it
 */
export function unescapeText(token: Token, following: Token, kind: TextKind): string {
  switch (token.kind) {
    case "escaped-interpolation":
      return token.text.slice(-(Math.floor(token.text.length / 2) + 1));
    case "escaped":
      return everySecond(token.text);
    case "backslashes": {
      const counts =
        following.kind === "open" || (kind === "quoted" && following.kind === "quote-close");
      return counts ? everySecond(token.text) : token.text;
    }
    default:
      return token.text;
  }
}

/**
 * The value of a token that is a whole element.
 * @param text source of the token, for errors
 * @throws ConfigError `interpolation.syntax`
 */
export function primitive(text: string, token: Token): PrimitiveElement {
  const value = (scalarValue: PrimitiveElement["value"]): PrimitiveElement => ({
    kind: "primitive",
    value: scalarValue,
  });
  switch (token.kind) {
    case "null":
      return value(null);
    case "bool":
      return value(token.text.toLowerCase() === "true");
    case "int":
      return value(parsePythonInt(token.text) ?? tooManyDigits(text, token));
    case "float":
      return value(parsePythonFloat(token.text) ?? tooManyDigits(text, token));
    case "blank":
      throw interpolationSyntaxError(text, token.start, "nothing but blanks");
    default:
      return value(primitiveText(token));
  }
}

function tooManyDigits(text: string, token: Token): never {
  throw interpolationSyntaxError(text, token.start, "a number with too many digits");
}

/** The text of a token in an unquoted value of several tokens. */
export const primitiveText = (token: Token): string =>
  token.kind === "escaped" ? everySecond(token.text) : token.text;

/** Undoes escapes in a text of backslash pairs: of `\\\\`, or of `\\'`, the second of each pair. */
const everySecond = (text: string): string => text.replace(/\\(.)/gs, "$1");

/**
 * The error of an invalid interpolation; `at` is the offset of the unexpected character. The origin is the text itself
 * until the caller, which knows the place, sets it.
 */
function interpolationSyntaxError(text: string, offset: number, why: string): ConfigError {
  const found = offset < text.length ? `'${text.slice(offset, offset + 12)}'` : "the end";
  return new ConfigError({
    code: "interpolation.syntax",
    message: `Invalid interpolation '${text}': ${why} at ${found} (offset ${offset})`,
    ...(offset < text.length && {
      hint:
        doubledBraces(text) ??
        wrongBrackets(text) ??
        calculation(text) ??
        "where no interpolation is meant, a backslash keeps it as text: \\${ (in double quotes of YAML \\\\${)",
    }),
    origin: {
      kind: "file",
      source: { name: "<interpolation>", text },
      start: offset,
      end: Math.min(offset + 1, text.length),
    },
  });
}

/** A text with the braces of its last interpolations closed: after the key, or at the end of the text. */
export function withInterpolationClosed(text: string): string {
  const open: number[] = [];
  for (const { 0: mark, index } of text.matchAll(/\$?\{|\}/g)) {
    if (mark === "}") open.pop();
    else open.push(index);
  }
  const [start = 0, ...others] = open;
  const [whole = "", next] =
    /^\$\{(?:[\w.-]|\[[\w.-]*(?:\]|$))*(.?)/s.exec(text.slice(start)) ?? [];
  if (!open.some((start) => text.startsWith("${", start))) return text;
  if (others.length > 0 || whole === "" || next === ":") return text + "}".repeat(open.length);
  const end = start + whole.length - (next?.length ?? 0);
  return `${text.slice(0, end)}}${text.slice(end)}`;
}

/** `${{name}}`, as in other languages. */
function doubledBraces(text: string): string | undefined {
  const [, name] = /\$\{\{\s*([\w.[\]]+)\s*\}\}/.exec(text) ?? [];
  return name === undefined
    ? undefined
    : `an interpolation has one pair of braces: write \${${name}}`;
}

/** `${a['b']}`, as in Python, and `${a[b}`. */
function wrongBrackets(text: string): string | undefined {
  const [typed, head, key] = /\$\{([\w.]+)\[\s*['"]?([\w-]+)['"]?\s*\]?\}/.exec(text) ?? [];
  const written = `\${${head}[${key}]}`;
  return typed === undefined || typed === written ? undefined : `write ${written}`;
}

/** `${n + 1}` */
function calculation(text: string): string | undefined {
  const [, first, rest] = /\$\{\s*([A-Za-z_][\w.]*)(\s+[-+*/%]+\s*[\w.]+)\s*\}/.exec(text) ?? [];
  return first === undefined ? undefined : calculationHint(`\${${first}}${rest}`);
}

/** What to write in place of a calculation. */
export const calculationHint = (calculated: string): string =>
  `an interpolation does not calculate: write \${eval:'${calculated}'}, with the resolver eval of your program, or of the settings (resolvers: {eval: ready} in hydraconf.yaml)`;

/**
 * The error with its place in the text that the interpolation was read from: exact where the interpolation stands there
 * verbatim (a scalar without escapes and folded lines), otherwise the whole scalar.
 */
export function placeSyntaxError(error: unknown, text: string, origin: Origin): unknown {
  if (!(error instanceof ConfigError) || error.code !== "interpolation.syntax") return error;
  return new ConfigError({
    ...error.details,
    origin: narrow(error.details.origin, text, origin) ?? origin,
  });
}

function narrow(inner: Origin | undefined, text: string, outer: Origin): Origin | undefined {
  if (inner?.kind !== "file" || inner.source.text !== text) return undefined;
  if (outer.kind === "file") {
    const base = outer.source.text.indexOf(text, outer.start);
    if (base < 0 || base + text.length > outer.end) return undefined;
    return { ...outer, start: base + inner.start, end: base + inner.end };
  }
  if (outer.kind !== "override") return undefined;
  const base = outer.text.indexOf(text, outer.start ?? 0);
  return base < 0 ? undefined : { ...outer, start: base + inner.start, end: base + inner.end };
}
