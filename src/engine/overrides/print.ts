/** Writes overrides and their values as text that parses to the same. */
import { toBase64 } from "../../foundation/text/bytes.ts";
import { ConfigError } from "../values/errors.ts";
import type { Key } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import type { GlobSweep, Override, OverrideType, OverrideValue, Quote, Sweep } from "./ast.ts";

export interface PrintOptions {
  /** A blank after every comma and colon, as Hydra prints values for people. */
  readonly spaceAfterSeparator?: boolean;
}

const PREFIXES: Readonly<Record<OverrideType, string>> = {
  change: "",
  add: "+",
  force_add: "++",
  delete: "~",
  extend_list: "",
  replace: "",
};

/** The part before the `=`, with its operator and package: `+db@backup`, and `db:` of `db:={a:1}`. */
export function overrideKeyElement({
  type,
  keyOrGroup,
  package: name,
}: Pick<Override, "type" | "keyOrGroup" | "package">): string {
  const key = name === undefined ? keyOrGroup : `${keyOrGroup}@${name}`;
  return PREFIXES[type] + key + (type === "replace" ? ":" : "");
}

/**
 * A value as text that parses to the same value: strings in their quotes or with escapes, numbers and bools as Python
 * prints them. Sweeps throw `override.sweep_not_allowed`, except for a glob, which Hydra prints as the dict of its two
 * fields. The missing value of `~key` is printed as `null`.
 */
export function elementToString(
  value: OverrideValue | undefined,
  options: PrintOptions = {},
): string {
  if (value === undefined) return "null";
  const item = (inner: OverrideValue) => elementToString(inner, options);
  const blank = options.spaceAfterSeparator ? " " : "";
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "string" && value.quote !== undefined
        ? quoted(value.value, value.quote)
        : scalarText(value.value);
    case "list":
      return `[${value.items.map(item).join(`,${blank}`)}]`;
    case "dict": {
      const entries = [...value.entries.values()].map(
        (entry) => `${scalarText(entry.key)}:${blank}${item(entry.value)}`,
      );
      return `{${entries.join(`,${blank}`)}}`;
    }
    case "extension":
      return `{values:[${value.values.map((inner) => elementToString(inner)).join(",")}]}`;
    case "glob":
      return globText(value);
    default:
      throw notAnElement(value);
  }
}

function scalarText(value: Key): string {
  if (value === null) return "null";
  if (typeof value === "string") return escapeUnquoted(value);
  return typeof value === "object" ? escapeUnquoted(toBase64(value)) : pyStr(value);
}

/** Hydra prints the fields of its glob object, each pattern as a string. */
function globText(glob: GlobSweep): string {
  const list = (values: readonly OverrideValue[]) =>
    `[${values.map((value) => patternText(value, glob)).join(",")}]`;
  return `{include:${list(glob.include)},exclude:${list(glob.exclude)}}`;
}

function patternText(value: OverrideValue, glob: GlobSweep): string {
  if (value.kind === "scalar" && value.value !== null && value.quote === undefined)
    return scalarText(value.value);
  throw notAnElement(glob);
}

function notAnElement(sweep: Sweep): ConfigError {
  return new ConfigError({
    code: "override.sweep_not_allowed",
    message: `${sweep.kind === "interval" ? "An" : "A"} ${sweep.kind} is a sweep and cannot be used as a value`,
  });
}

/**
 * Quotes and escapes of the override language. Inside quotes only backslashes before a quote have a meaning: an odd
 * number escapes the quote, and each pair stands for one backslash. All others are literal.
 */

/** The content of a quoted token, without its quotes and escapes. */
export function unquote(token: string): string {
  const quote = token.charAt(0);
  const inner = token.slice(1);
  if (!inner.includes("\\")) return inner.slice(0, -1);
  // The closing quote is included, because backslashes before it are pairs.
  const halved = rewriteQuotes(inner, quote, (count) => "\\".repeat(count >> 1) + quote);
  return halved.slice(0, -1);
}

/** The inverse of `unquote`. */
export function quoted(text: string, quote: Quote): string {
  if (!text.includes("\\") && !text.includes(quote)) return quote + text + quote;
  const escaped = rewriteQuotes(text + quote, quote, (count) => {
    return `${"\\".repeat(2 * count)}\\${quote}`;
  });
  // The last quote is the closing one, which is not escaped.
  return quote + escaped.slice(0, -2) + quote;
}

/** Replaces every quote together with the backslashes before it, given their number. */
function rewriteQuotes(text: string, quote: string, rewrite: (count: number) => string): string {
  let out = "";
  let copied = 0;
  let backslashes = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === quote) {
      out += text.slice(copied, index - backslashes) + rewrite(backslashes);
      copied = index + 1;
    }
    backslashes = char === "\\" ? backslashes + 1 : 0;
  }
  return out + text.slice(copied);
}

const SPECIAL = /[\\()[\]{}:=, \t]/g;

/** A string as an unquoted value: every special character gets a backslash. */
export const escapeUnquoted = (text: string): string => text.replaceAll(SPECIAL, "\\$&");

/** The text of an `escape` token, which consists of pairs of a backslash and a character. */
export const unescapeUnquoted = (token: string): string => token.replaceAll(/\\(.)/gs, "$1");

/** A text as the value of an override: in quotes unless it parses to itself without them. */
export const overrideText = (text: string): string =>
  /^[\w./-]*[\w/-][\w./-]*$/.test(text) &&
  !/^-?\.?\d|^-?(?:nan|inf)$|^(?:true|false|null)$/i.test(text)
    ? text
    : quoted(
        text.replaceAll(
          /(?<!\\)(\\*)\$\{/g,
          (_, backslashes: string) => `${backslashes}${backslashes}\\\${`,
        ),
        "'",
      );
