import { parsePythonFloat, parsePythonInt } from "../python-number.ts";
import type { PrimitiveElement } from "./ast.ts";
import type { Token } from "./lexer.ts";
import { interpolationSyntaxError } from "./syntax-error.ts";

/*
 * What a token stands for: literal text with its escapes undone, or a value of its own type.
 */

/** Decides what a run of backslashes means at the end of a text. */
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
 * The value of a token that stands alone.
 * @param text the text that it is from, for errors
 * @throws ConfigError `interpolation.syntax`
 */
export function primitive(text: string, token: Token): PrimitiveElement {
  const value = (known: PrimitiveElement["value"]): PrimitiveElement => ({
    kind: "primitive",
    value: known,
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

/** The text of a token that stands among others in an unquoted value. */
export const primitiveText = (token: Token): string =>
  token.kind === "escaped" ? everySecond(token.text) : token.text;

/** Undoes escapes in a text of backslash pairs: of `\\\\`, or of `\\'`, the second of each pair. */
const everySecond = (text: string): string => text.replace(/\\(.)/gs, "$1");
