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
  let offset = source.startsWith("\ufeff") ? 1 : 0;
  let indent = 0;
  let isLineStart = true;
  const push = (kind: PythonToken["kind"], text: string, end: number, prefix?: string): void => {
    const place = { start: offset, end, line: lineOf(offset), indent };
    tokens.push({ kind, text, ...place, ...(prefix !== undefined && { prefix }) });
    offset = end;
    isLineStart = false;
  };
  while (offset < source.length) {
    const char = source[offset] ?? "";
    if (char === "\n") {
      if (open.length === 0 && !isLineStart) push("end of line", "\n", offset);
      offset++;
      isLineStart ||= open.length === 0;
      indent = 0;
    } else if (char === " " || char === "\t" || char === "\r" || char === "\f") {
      if (isLineStart && char !== "\r") indent++;
      offset++;
    } else if (char === "#") {
      const end = source.indexOf("\n", offset);
      offset = end < 0 ? source.length : end;
    } else if (char === "\\" && /^\\\r?\n/.test(source.slice(offset, offset + 3))) {
      offset = source.indexOf("\n", offset) + 1;
    } else {
      const string = matchAt(STRING, source, offset);
      if (string !== null) {
        const [opening, prefix = "", quote = ""] = string;
        const end = endOfString(source, offset + opening.length, { prefix, quote });
        if (end === undefined) return problemAt(lineOf(offset), "a string is never closed");
        const body = source.slice(offset + opening.length, end - quote.length);
        push("string", /r/i.test(prefix) ? body : unescaped(body), end, prefix.toLowerCase());
        continue;
      }
      const word = matchAt(NAME, source, offset)?.[0];
      if (word !== undefined) {
        push("name", word, offset + word.length);
        continue;
      }
      const number = /[\d.]/.test(char) ? matchAt(NUMBER, source, offset)?.[0] : undefined;
      if (number !== undefined && number !== ".") {
        push("number", number, offset + number.length);
        continue;
      }
      const operator = matchAt(OPERATOR, source, offset)?.[0] ?? char;
      push("operator", operator, offset + operator.length);
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

function matchAt(pattern: RegExp, source: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
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
  for (let offset = from; offset < source.length; offset++) {
    const char = source[offset];
    if (char === "\\") offset += escapeLength(source, offset) - 1;
    else if (char === "\n" && quote.length === 1) return undefined;
    else if (source.startsWith(quote, offset)) return offset + quote.length;
  }
  return undefined;
}

/** A backslash and what it escapes, which may be the end of a line. */
const escapeLength = (source: string, offset: number): number =>
  source.startsWith("\r\n", offset + 1) ? 3 : 2;

/** The end of an f-string, whose expressions may have strings with the same quotes (from Python 3.12 on). */
function endOfFormatted(source: string, from: number, quote: string): number | undefined {
  let offset = from;
  while (offset < source.length) {
    const char = source[offset];
    if (char === "\\") offset += escapeLength(source, offset);
    else if (char === "\n" && quote.length === 1) return undefined;
    else if (source.startsWith(quote, offset)) return offset + quote.length;
    else if (source.startsWith("{{", offset)) offset += 2;
    else if (char === "{") {
      const end = endOfPlaceholder(source, offset + 1);
      if (end === undefined) return undefined;
      offset = end;
    } else offset++;
  }
  return undefined;
}

/** The index after the brace that closes a placeholder. */
function endOfPlaceholder(source: string, from: number): number | undefined {
  let depth = 0;
  let isFormat = false;
  let offset = from;
  while (offset < source.length) {
    const char = source[offset] ?? "";
    const string = isFormat ? null : matchAt(STRING, source, offset);
    if (string !== null) {
      const [opening, prefix = "", quote = ""] = string;
      const end = endOfString(source, offset + opening.length, { prefix, quote });
      if (end === undefined) return undefined;
      offset = end;
    } else if (isFormat && char === "{") {
      const end = endOfPlaceholder(source, offset + 1);
      if (end === undefined) return undefined;
      offset = end;
    } else {
      if (char === "}" && depth === 0) return offset + 1;
      if ("([{".includes(char)) depth++;
      else if (")]}".includes(char)) depth--;
      else if (char === ":" && depth === 0) isFormat = true;
      offset++;
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

function lineCounter(source: string): (offset: number) => number {
  let line = 1;
  let counted = 0;
  return (offset) => {
    for (; counted < offset; counted++) if (source[counted] === "\n") line++;
    return line;
  };
}

export type Tokens = readonly PythonToken[];

/** Splits at an operator outside brackets. */
export function splitAt(tokens: Tokens, operator: string): readonly Tokens[] {
  const parts: Tokens[] = [];
  let depth = 0;
  let start = 0;
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth++;
    else if (")]}".includes(text)) depth--;
    else if (depth === 0 && text === operator) {
      parts.push(tokens.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(tokens.slice(start));
  return parts.filter((part, index) => part.length > 0 || index < parts.length - 1);
}

/** The index of the bracket that closes the one at `from`. */
export function closing(tokens: Tokens, from: number): number | undefined {
  let depth = 0;
  for (let index = from; index < tokens.length; index++) {
    const { kind, text } = tokens[index] as PythonToken;
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth++;
    if (")]}".includes(text) && --depth === 0) return index;
  }
  return undefined;
}
