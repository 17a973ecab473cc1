/** The hint for a value with a syntax error: how to quote it, for us and for a shell. */
import { shellCommand } from "../../foundation/text/shell-words.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { withInterpolationClosed } from "../values/interpolation/interpolation-lexer.ts";
import type { Span } from "./ast.ts";
import { foreignCall } from "./foreign-calls.ts";
import { FUNCTIONS } from "./functions/function-table.ts";
import {
  type Advice,
  corrected,
  PART_IN_QUOTES,
  QUOTE_VALUE,
  saying,
  splitHint,
  textHint,
  use,
} from "./hints.ts";
import { readToken, type TokenKind } from "./lexer.ts";
import { overrideText, quoted } from "./print.ts";

/**
 * Adds a hint to the syntax error of a value; an existing hint is kept.
 * @param isOverride whether a text is a valid override: only such a text is suggested
 */
export function withValueHint(
  error: unknown,
  override: string,
  isOverride: (text: string) => boolean,
): unknown {
  if (!isConfigError(error)) return error;
  const { code, hint, nearest, origin, proposals } = error.details;
  if (/^override\.(?:syntax|function)$/.test(code) && origin?.kind === "override") {
    const sweep = columnsHint(override, isOverride) ?? sweepMeant(override, isOverride);
    if (sweep !== undefined) return new ConfigError({ ...error.details, ...sweep });
  }
  if (code === "override.function" && origin?.kind === "override") {
    const call = { start: origin.start ?? 0, end: origin.end ?? override.length };
    const start = override.indexOf("=") + 1;
    const isOpen = hint === undefined && nearest === undefined;
    const written =
      foreignHint({ override, start, isOverride }) ??
      (isOpen ? argumentsHint(override, call, isOverride) : undefined) ??
      (hint === undefined && nearest !== undefined
        ? renamed(override, call, nearest, isOverride)
        : undefined);
    return written === undefined ? error : new ConfigError({ ...error.details, ...written });
  }
  const equal = override.indexOf("=");
  const isInValue = origin?.kind === "override" && equal >= 0 && (origin.start ?? 0) > equal;
  if (code !== "override.syntax" || !isInValue) return error;
  const told = hint === undefined ? undefined : { hint, proposals };
  const written = writtenHint(told, { override, start: equal + 1, isOverride });
  return written === told ? error : new ConfigError({ ...error.details, ...written });
}

interface WrongValue {
  readonly override: string;
  /** The offset of the value. */
  readonly start: number;
  readonly isOverride: (text: string) => boolean;
}

/** The hint with what to write, where the parser has none, or one that leaves that open or is refused next. */
function writtenHint(told: Advice | undefined, wrong: WrongValue): Advice | undefined {
  const { override, start, isOverride } = wrong;
  const isOpen = told === undefined || told.hint === PART_IN_QUOTES.hint;
  if (!isOpen && !told.hint.startsWith(QUOTE_VALUE)) return told;
  const foreign = foreignHint(wrong);
  if (foreign !== undefined) return foreign;
  if (!isOpen) return interpolationHint(wrong) ?? told;
  if (told === undefined)
    return callHint(override, start, isOverride) ?? valueHint(override, start, isOverride);
  return (
    callHint(override, start, isOverride) ??
    interpolationHint(wrong) ??
    partsHint(override, start, isOverride) ??
    told
  );
}

/** For what is written as in Python, JSON, a template or a shell: several overrides in one argument, a tuple, a dict with `=`, `{a.b}`. */
function foreignHint({ override, start, isOverride }: WrongValue): Advice | undefined {
  const several = override.trim().split(NEXT_OVERRIDE);
  if (several.length > 1 && several.every(isOverride))
    return saying(`each override is an argument of its own: ${shellCommand(several)}`);
  const [head, value] = [override.slice(0, start), override.slice(start).trim()];
  const changing = FOREIGN.filter(({ rewritten }) => rewritten(value) !== value);
  for (const { lead, rewritten } of changing)
    if (isOverride(head + rewritten(value))) return corrected(lead, head + rewritten(value));
  // Several of them, as in `{betas=(0.9,0.99)}`.
  const text = head + changing.reduce((rest, { rewritten }) => rewritten(rest), value);
  return changing[0] !== undefined && isOverride(text)
    ? corrected(changing[0].lead, text)
    : undefined;
}

// Blanks are only tried from the first of a row on: the time would grow with the square of their number.
const NEXT_OVERRIDE =
  /(?:(?:(?<!\s)\s+)?[,;&]\s*|(?<!\s)\s+)(?=[~+]*[A-Za-z_][\w./@-]*:?=|~[A-Za-z_][\w./@-]*(?:\s|$))/;

const BEHIND_LAST = "no comma stands behind the last value";

/** Values of other languages; what a rewriting does not know it leaves as it is. */
const FOREIGN: readonly {
  readonly lead: string;
  readonly rewritten: (value: string) => string;
}[] = [
  {
    lead: "an interpolation is written ${KEY}",
    rewritten: (value) =>
      value.replace(TEMPLATE, (...[, double, single, call]: readonly (string | undefined)[]) => {
        return `\${${double ?? single ?? call}}`;
      }),
  },
  {
    lead: "in a dict, a colon stands between key and value",
    rewritten: (value) =>
      value
        .replace(/^dict\s*\((.*)\)$/s, "{$1}")
        .replace(/([{,]\s*)(["']?)([A-Za-z_][\w.-]*)\2\s*=\s*/g, "$1$3:"),
  },
  { lead: "a list stands in brackets", rewritten: asList },
  {
    lead: BEHIND_LAST,
    rewritten: (value) => (/["']/.test(value) ? value : value.replace(/,[ \t]*(?=[\])}])/g, "")),
  },
  {
    lead: "quotes are straight",
    // As escapes: the first bundle is ASCII, which is quick to read.
    rewritten: (value) => value.replace(/[\u201c-\u201f]/g, '"').replace(/[\u2018-\u201b]/g, "'"),
  },
];

/** `{a.b}`, `{{ a.b }}`, `${{a.b}}` and `$(a.b)`. */
const TEMPLATE =
  /\$?\{\{\s*([A-Za-z_][\w.]*)\s*\}\}|(?<!\$)\{([A-Za-z_][\w.]*)\}|\$\(([A-Za-z_]\w*\.[\w.]+)\)/g;

/** A tuple, set, call of `list` or array of a shell as a list, and the tuples in a list or dict. */
function asList(value: string): string {
  if (/^[[{].*\(/s.test(value) && !/["']|\w\s*\(/.test(value))
    return value.replaceAll("(", "[").replaceAll(")", "]");
  const [, name, opening, inner] = /^(list|tuple|set)?\s*([({])(.*)[)}]$/s.exec(value) ?? [];
  if (inner === undefined || (opening === "{" && inner.includes(":"))) return value;
  const items = inner.replace(/^\s*\[(.*)\]\s*$/s, "$1");
  const isArray = /^\s*-?[\d.]+(?:\s+-?[\d.]+)+\s*$/.test(items);
  // One text in parentheses is a text.
  if (name === undefined && opening === "(" && !isArray && !items.includes(",")) return value;
  const separated = isArray ? items.trim().replace(/\s+/g, ",") : items.replace(/,\s*$/, "");
  return `[${separated.replaceAll("(", "[").replaceAll(")", "]")}]`;
}

/** For a value that is no text either, because an interpolation in it is wrong: with that closed, or kept as text. */
function interpolationHint({ override, start, isOverride }: WrongValue): Advice | undefined {
  const [head, value] = [override.slice(0, start), override.slice(start)];
  if (!value.includes("${") || isOverride(head + inQuotes(value))) return undefined;
  const closed = [withInterpolationClosed(value), value.replace(OPEN_REFERENCE, "$&}")];
  const isOpen = closed.some((candidate) => candidate !== value);
  const bracketed = isOpen ? value.replace(/(?<![\])}\s])[\])}\s]*$/, "}$&") : value;
  const likely = [...closed, bracketed]
    .filter((candidate) => candidate !== value)
    .map((candidate) => head + candidate);
  const found = [
    ...likely,
    ...likely.map((candidate) => candidate + endOf(candidate, start).closing),
    ...(isCallOfOurs(value) ? [] : closed.map((candidate) => head + inQuotes(candidate))),
  ].find(isOverride);
  if (found !== undefined) return corrected("close the interpolation", found);
  // Nobody means a call of ours as text.
  if (isCallOfOurs(value)) return undefined;
  const text = head + overrideText(value.trim());
  return isOverride(text) ? corrected("as text it needs quotes and a backslash", text) : undefined;
}

/** A reference that another character than its brace ends. */
const OPEN_REFERENCE = /\$\{(?:[\w.-]|\[[\w.-]*\])+(?![\w.[\]:${}-])|\$\{[\w.-]+(?=\])/g;

const inQuotes = (value: string): string => quoted(value.trim(), value.includes("'") ? '"' : "'");

/** The likeliest intention behind the value that fits the grammar. */
function valueHint(
  override: string,
  start: number,
  isOverride: (text: string) => boolean,
): Advice | undefined {
  const value = override.slice(start);
  const single = `${override.slice(0, start)}${value.replace(/^[=\s]+/, "")}`;
  if (/^\s*=/.test(value) && isOverride(single)) return corrected("write one '='", single);
  const head = override.slice(0, start);
  const bare = value.replace(QUOTED_KEY, "$1$3");
  if (bare !== value && isOverride(head + bare)) return corrected(BARE_KEYS, head + bare);
  if (/[{,]\s*(["'])[^"']*\1\s*:/.test(value)) return saying(BARE_KEYS);
  const { closing, last } = endOf(override, start);
  const ended = override.replace(/,\s*$/, "");
  if (closing === "" && last === "comma" && ended.slice(start).includes(",") && isOverride(ended))
    return corrected(BEHIND_LAST, ended);
  if (closing !== "") {
    // A comma would be part of the key of an interpolation that is open.
    const isInKey = /\$\{[\w.]+,\s*$/.test(value);
    const closed = (isInKey ? override.replace(/,\s*$/, "") : override) + closing;
    if (isOverride(closed)) return corrected("close what is open", closed);
    if (last === "comma" || last === "colon") return splitHint(override, closing);
  }
  const interpolation = interpolationHint({ override, start, isOverride });
  return (
    interpolation ??
    (isCallOfOurs(value) ? undefined : textHint(override, { start, end: override.length }))
  );
}

/** For a call with other brackets: `range[1,3]`, `range(1,3]`. */
function callHint(
  override: string,
  start: number,
  isOverride: (text: string) => boolean,
): Advice | undefined {
  const [, name = "", inner = ""] =
    /^\s*(\w+)\s*[[({<](.*)[\])}>]\s*$/s.exec(override.slice(start)) ?? [];
  const written = `${override.slice(0, start)}${name}(${inner})`;
  return FUNCTIONS.has(name) && isOverride(written)
    ? corrected("arguments stand in parentheses", written)
    : undefined;
}

const isCallOfOurs = (value: string): boolean =>
  FUNCTIONS.has(/^\s*(\w+)\(/.exec(value)?.[1] ?? "");

/** For a zip without a name of its own, or with values of a column that are no call: `zip(lr=1,2,seed=[3,4])`. */
function columnsHint(override: string, isOverride: (text: string) => boolean): Advice | undefined {
  const [, name = "", inner] =
    /^(?:([~+]*[A-Za-z_][\w.]*)=)?\s*zip\s*\((.*)\)\s*$/s.exec(override) ?? [];
  if (inner === undefined) return undefined;
  const columns: string[] = [];
  for (const part of splitParts(inner)) {
    const last = columns.length - 1;
    if (/^[^[{('"]*=/.test(part)) columns.push(part.trim());
    else if (last >= 0) columns[last] += `,${part.trim()}`;
    else return undefined;
  }
  const called = columns.map((column) =>
    column.replace(/^([^=]*=)(?:[[(](.*)[\])]|([^()]*))$/s, "$1choice($2$3)"),
  );
  const written = `${name || "+pair"}=zip(${called.join(",")})`;
  const reason = name === "" ? "a zip has a name" : "the values of each key stand in a call";
  return written !== override && isOverride(written) ? corrected(reason, written) : undefined;
}

/** For a call of another library: `np.linspace(0,1,5)`. */
function sweepMeant(override: string, isOverride: (text: string) => boolean): Advice | undefined {
  const start = override.indexOf("=") + 1;
  const call = foreignCall(override.slice(start));
  const written = `${override.slice(0, start)}${call}`;
  return call !== undefined && start > 0 && isOverride(written) ? use(written) : undefined;
}

/** A call by another name. */
function renamed(
  override: string,
  { start, end }: Span,
  name: string,
  isOverride: (text: string) => boolean,
): Advice | undefined {
  const call = override.slice(start, end).replace(/^\w+/, () => name);
  const written = override.slice(0, start) + call + override.slice(end);
  return isOverride(written) ? use(written) : undefined;
}

/** For a call whose arguments are separated as a slice, a span of numbers or a list has them: `range(1:3)`. */
function argumentsHint(
  override: string,
  { start, end }: Span,
  isOverride: (text: string) => boolean,
): Advice | undefined {
  const [, opening, inner = "", closing] =
    /^(\w+\s*\()(.*)(\)\s*)$/s.exec(override.slice(start, end)) ?? [];
  if (opening === undefined) return undefined;
  const bare = inner.replace(/^\s*\[(.*)\]\s*$/s, "$1");
  const commas = bare.replace(
    /(?:(?<!\s)\s+)?(?:[,;:]|\.\.+|(?<=\d)-)\s*|(?<=\d)\s+(?=[-.\d])/g,
    ",",
  );
  const written = override.slice(0, start) + opening + commas + closing + override.slice(end);
  return written !== override && isOverride(written)
    ? corrected("arguments are separated by commas", written)
    : undefined;
}

/** For a list, dict, sweep or call of which a part is wrong: with commas, or with that part in quotes. */
function partsHint(
  override: string,
  start: number,
  isOverride: (text: string) => boolean,
): Advice | undefined {
  const [head, value] = [override.slice(0, start), override.slice(start)];
  if (isCallOfOurs(value)) {
    const commas = `${head}${value.replaceAll(";", ",")}`;
    return value.includes(";") && isOverride(commas)
      ? corrected("arguments are separated by commas", commas)
      : undefined;
  }
  const opening = [...OPENING].find(([close]) => value.endsWith(close))?.[1];
  if (opening !== undefined && !value.includes(opening) && isOverride(head + opening + value))
    return corrected("open what is closed", head + opening + value);
  const isItem = (text: string): boolean => isOverride(`key=[${text}]`);
  const parts = `${head}${withQuotedParts(value, isItem)}`;
  return isOverride(parts) ? corrected("quote the parts that are text", parts) : undefined;
}

const OPENING: ReadonlyMap<string, string> = new Map([
  ["]", "["],
  ["}", "{"],
]);

const BARE_KEYS = "keys of dicts cannot be quoted";

/** A key of a dict in quotes that is a text without them, too. */
const QUOTED_KEY = /([{,]\s*)(["'])(?!(?:true|false|null|nan|inf)\2)([A-Za-z_][\w.-]*)\2(?=\s*:)/gi;

/** A list, dict or sweep with those of its parts in quotes that the grammar does not take as they are. */
function withQuotedParts(value: string, isItem: (text: string) => boolean): string {
  const [, opening = "", inner = value, closing = ""] =
    /^\s*([[{])(.*)([\]}])\s*$/s.exec(value) ?? [];
  return `${opening}${splitParts(inner)
    .map((part) => {
      if (/^\s*\[.*\]\s*$/s.test(part)) return isItem(part) ? part : withQuotedParts(part, isItem);
      const [, key = "", text = part] = opening === "{" ? (/^([^:]*:)(.*)$/s.exec(part) ?? []) : [];
      if (text.trim() === "" || isItem(text)) return part;
      if (/^\s*[[{].*[\]}]\s*$/s.test(text)) return `${key}${withQuotedParts(text, isItem)}`;
      const bare = text.trim();
      return `${key}${quoted(bare, bare.includes("'") ? '"' : "'")}`;
    })
    .join(",")}${closing}`;
}

/** The parts between commas outside brackets and quotes. */
function splitParts(text: string): readonly string[] {
  const parts: string[] = [];
  let [start, depth, quote] = [0, 0, ""];
  for (const [index, char] of [...text.matchAll(/./gs)].map(
    (match) => [match.index, match[0]] as const,
  )) {
    if (quote !== "") {
      if (char === quote && text[index - 1] !== "\\") quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if ("([{".includes(char)) depth++;
    else if (")]}".includes(char)) depth--;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}

const CLOSING: Partial<Readonly<Record<TokenKind, string>>> = {
  bracket_open: "]",
  brace_open: "}",
  parenthesis_open: ")",
};

const CLOSES: ReadonlySet<TokenKind> = new Set([
  "bracket_close",
  "brace_close",
  "parenthesis_close",
] as const);

interface ValueEnd {
  /** The text that closes all open brackets. */
  readonly closing: string;
  readonly last: TokenKind | undefined;
}

function endOf(text: string, start: number): ValueEnd {
  const open: string[] = [];
  let last: TokenKind | undefined;
  for (const kind of kindsFrom(text, start)) {
    last = kind;
    const closing = CLOSING[kind];
    if (closing !== undefined) open.push(closing);
    else if (CLOSES.has(kind)) open.pop();
  }
  return { closing: open.reverse().join(""), last };
}

/** The token kinds of a value, up to the first invalid token. */
function* kindsFrom(text: string, start: number): Generator<TokenKind> {
  try {
    for (let offset = start; offset < text.length; ) {
      const { end, kind } = readToken({ text, index: 0 }, offset, "value");
      yield kind;
      offset = end;
    }
  } catch (error) {
    if (!isConfigError(error)) throw error;
  }
}
