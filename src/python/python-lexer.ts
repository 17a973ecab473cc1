/** Tokens of a Python source, sufficient for reading its declarations without running it. */

export interface PythonToken {
  readonly kind: "name" | "string" | "number" | "operator" | "end of line";
  /** As written; for a string its value. */
  readonly text: string;
  /** Marks f-strings, whose text has placeholders, and bytes. */
  readonly prefix?: string;
  /** The offset in the source. */
  readonly start: number;
  /** The offset behind it. */
  readonly end: number;
  /** From 1. */
  readonly line: number;
  /** Spaces before the first token of a line. */
  readonly indent: number;
}

const NAME = /[\p{ID_Start}_][\p{ID_Continue}]*/uy;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?)/y;
const STRING = /([rRbBuUfFtT]{0,2})("""|'''|"|')/y;
const OPERATOR = /\*\*=?|\/\/=?|->|:=|[=!<>]=|[+\-*/%&|^@]=|./suy;

/** Where a source is no Python, and why. */
export interface SyntaxProblem {
  /** From 1. */
  readonly line: number;
  /** `'(' is never closed` */
  readonly message: string;
}

/** The tokens of a source, up to its first problem. */
export interface PythonTokens {
  readonly tokens: readonly PythonToken[];
  readonly problem?: SyntaxProblem;
}

/**
 * Splits a Python source into tokens. Lines inside brackets and after a backslash are joined; comments are dropped. At
 * a string that does not end and at brackets that do not match the tokens end.
 */
export function pythonTokens(source: string): PythonTokens {
  const tokens: PythonToken[] = [];
  const open: PythonToken[] = [];
  const problemAt = (line: number, message: string) => ({ tokens, problem: { line, message } });
  const lineOf = lineCounter(source);
  // A byte order mark is no part of the source.
  let at = source.startsWith("\ufeff") ? 1 : 0;
  let indent = 0;
  let isLineStart = true;
  const push = (kind: PythonToken["kind"], text: string, end: number, prefix?: string): void => {
    const place = { start: at, end, line: lineOf(at), indent };
    tokens.push({ kind, text, ...place, ...(prefix !== undefined && { prefix }) });
    at = end;
    isLineStart = false;
  };
  while (at < source.length) {
    const char = source[at] ?? "";
    if (char === "\n") {
      if (open.length === 0 && !isLineStart) push("end of line", "\n", at);
      at++;
      isLineStart ||= open.length === 0;
      indent = 0;
    } else if (char === " " || char === "\t" || char === "\r" || char === "\f") {
      if (isLineStart && char !== "\r") indent++;
      at++;
    } else if (char === "#") {
      const end = source.indexOf("\n", at);
      at = end < 0 ? source.length : end;
    } else if (char === "\\" && /^\\\r?\n/.test(source.slice(at, at + 3))) {
      at = source.indexOf("\n", at) + 1;
    } else {
      const string = matchAt(STRING, source, at);
      if (string !== null) {
        const [opening, prefix = "", quote = ""] = string;
        const end = endOfString(source, at + opening.length, { prefix, quote });
        if (end === undefined) return problemAt(lineOf(at), "a string is never closed");
        const body = source.slice(at + opening.length, end - quote.length);
        push("string", /r/i.test(prefix) ? body : unescaped(body), end, prefix.toLowerCase());
        continue;
      }
      const word = matchAt(NAME, source, at)?.[0];
      if (word !== undefined) {
        push("name", word, at + word.length);
        continue;
      }
      const number = /[\d.]/.test(char) ? matchAt(NUMBER, source, at)?.[0] : undefined;
      if (number !== undefined && number !== ".") {
        push("number", number, at + number.length);
        continue;
      }
      const operator = matchAt(OPERATOR, source, at)?.[0] ?? char;
      push("operator", operator, at + operator.length);
      const bracket = tokens.at(-1);
      if (bracket !== undefined && "([{".includes(operator)) open.push(bracket);
      if (bracket !== undefined && ")]}".includes(operator)) {
        const opening = open.pop();
        if (opening === undefined) return problemAt(bracket.line, `'${operator}' closes nothing`);
        if (CLOSING[opening.text] !== operator)
          return problemAt(
            bracket.line,
            `'${operator}' does not close '${opening.text}' of line ${opening.line}`,
          );
      }
    }
  }
  const [unclosed] = open;
  return unclosed === undefined
    ? { tokens }
    : problemAt(unclosed.line, `'${unclosed.text}' is never closed`);
}

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

interface Opening {
  readonly prefix: string;
  readonly quote: string;
}

/** Undefined if it is unterminated; only triple-quoted strings span lines. */
const endOfString = (source: string, from: number, opening: Opening): number | undefined =>
  (/[ft]/i.test(opening.prefix) ? endOfFormatted(source, from, opening.quote) : undefined) ??
  endOfText(source, from, opening.quote);

function endOfText(source: string, from: number, quote: string): number | undefined {
  for (let at = from; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at += escapeLength(source, at) - 1;
    else if (char === "\n" && quote.length === 1) return undefined;
    else if (source.startsWith(quote, at)) return at + quote.length;
  }
  return undefined;
}

/** A backslash and what it escapes, which may be the end of a line. */
const escapeLength = (source: string, at: number): number =>
  source.startsWith("\r\n", at + 1) ? 3 : 2;

/** The end of an f-string, whose expressions may have strings with the same quotes (from Python 3.12 on). */
function endOfFormatted(source: string, from: number, quote: string): number | undefined {
  let at = from;
  while (at < source.length) {
    const char = source[at];
    if (char === "\\") at += escapeLength(source, at);
    else if (char === "\n" && quote.length === 1) return undefined;
    else if (source.startsWith(quote, at)) return at + quote.length;
    else if (source.startsWith("{{", at)) at += 2;
    else if (char === "{") {
      const end = endOfPlaceholder(source, at + 1);
      if (end === undefined) return undefined;
      at = end;
    } else at++;
  }
  return undefined;
}

/** The index after the brace that closes a placeholder. */
function endOfPlaceholder(source: string, from: number): number | undefined {
  let depth = 0;
  let isFormat = false;
  let at = from;
  while (at < source.length) {
    const char = source[at] ?? "";
    const string = isFormat ? null : matchAt(STRING, source, at);
    if (string !== null) {
      const [opening, prefix = "", quote = ""] = string;
      const end = endOfString(source, at + opening.length, { prefix, quote });
      if (end === undefined) return undefined;
      at = end;
    } else if (isFormat && char === "{") {
      const end = endOfPlaceholder(source, at + 1);
      if (end === undefined) return undefined;
      at = end;
    } else {
      if (char === "}" && depth === 0) return at + 1;
      if ("([{".includes(char)) depth++;
      else if (")]}".includes(char)) depth--;
      else if (char === ":" && depth === 0) isFormat = true;
      at++;
    }
  }
  return undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "0": "\0" };

const unescaped = (body: string): string =>
  body.replace(
    /\\(?:\r?\n|x([\da-fA-F]{2})|u([\da-fA-F]{4})|(.))/gsu,
    (all, byte?: string, unit?: string, char?: string) => {
      const code = byte ?? unit;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      if (char === undefined) return "";
      return ESCAPES[char] ?? (`\\'"`.includes(char) ? char : all);
    },
  );

function lineCounter(source: string): (at: number) => number {
  let line = 1;
  let counted = 0;
  return (at) => {
    for (; counted < at; counted++) if (source[counted] === "\n") line++;
    return line;
  };
}

export type Tokens = readonly PythonToken[];

/** Splits at an operator outside brackets. */
export function splitAt(tokens: Tokens, operator: string): readonly Tokens[] {
  const parts: Tokens[] = [];
  let depth = 0;
  let start = 0;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth++;
    else if (")]}".includes(text)) depth--;
    else if (depth === 0 && text === operator) {
      parts.push(tokens.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(tokens.slice(start));
  return parts.filter((part, at) => part.length > 0 || at < parts.length - 1);
}

/** The index of the bracket that closes the one at `from`. */
export function closing(tokens: Tokens, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as PythonToken;
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth++;
    if (")]}".includes(text) && --depth === 0) return at;
  }
  return undefined;
}
