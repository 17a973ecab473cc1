/** The forms in which a secret may stand in a text, such as percent-encoded or in JSON. */
import { toBase64 } from "../../foundation/text/bytes.ts";
import { quoted } from "../overrides/print.ts";

/**
 * A form in which a secret may appear in a text: as it is, or as programs encode text within text: percent-encoding
 * (also of HTML forms), backslash escapes (JSON, YAML, Python, shells, overrides), doubled quotes (YAML, CSV), quotes
 * within shell words, HTML's entities, two of these one after the other, and base64 of the secret or of a longer text
 * around it.
 */
export interface SecretForm {
  /** The text to search for. */
  readonly core: string;
  /**
   * The possible base64 digits in front of the core, which hold bits of the secret and of the text before it; "" if no
   * digit does.
   */
  readonly prefixes: string;
  /** The same for the digit after the core. */
  readonly suffixes: string;
  /** Finds where an encoded core may begin; absent for a form that is not encoded further. */
  readonly starts?: RegExp;
}

/** Adds a span of the text to mask, from `start` up to `end`. */
export type AddSpan = (start: number, end: number) => void;

export function formsOf(secret: string): readonly SecretForm[] {
  // Programs most often base64-encode a JSON document that holds the secret.
  const inJson = JSON.stringify(secret).slice(1, -1);
  const encoded = inJson === secret ? [secret] : [secret, inJson];
  return [
    { core: secret, prefixes: "", suffixes: "", starts: startsOf(secret) },
    // The meaning of backslashes and quotes in a row can depend on the text before them: search for these forms
    // literally.
    ...[...quotedForms(secret)].map((core) => ({ core, prefixes: "", suffixes: "" })),
    ...encoded.flatMap((text) => [0, 1, 2].flatMap((lead) => base64Forms(text, lead))),
  ];
}

/** How programs write a text within another one. */
const ENCODERS: readonly ((text: string) => readonly string[])[] = [
  (text) => [JSON.stringify(text).slice(1, -1)],
  (text) => [quoted(text, "'").slice(1, -1)],
  (text) => [quoted(text, '"').slice(1, -1)],
  (text) => [text.replaceAll("'", "''")],
  (text) => [text.replaceAll('"', '""')],
  (text) => SHELL_QUOTES.map((quote) => text.replaceAll("'", quote)),
  (text) => [text.replaceAll(/[\\"$`]/g, "\\$&")],
  // As `printf %q` of bash.
  (text) => [text.replaceAll(/[^\w%+:./@=^\u0080-\uffff-]/g, "\\$&")],
  (text) => QUOTE_ENTITIES.map((quote) => inHtml(text, quote)),
  // Markdown's tables.
  (text) => [text.replaceAll(/[\\|]/g, "\\$&")],
  percentForms,
];

const QUOTE_ENTITIES = ["'", "&#39;", "&#x27;", "&apos;"] as const;

const inHtml = (text: string, quote: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", quote);

/** Encoded once and twice: a shell's word in JSON, JSON in a shell's word. */
function quotedForms(secret: string): ReadonlySet<string> {
  const once = ENCODERS.flatMap((encode) => encode(secret));
  const twice = [...new Set(once)].flatMap((text) => ENCODERS.flatMap((encode) => encode(text)));
  const forms = new Set([...once, ...twice]);
  forms.delete(secret);
  return forms;
}

function percentForms(secret: string): readonly string[] {
  if (/\p{Cs}/u.test(secret)) return []; // half of a surrogate pair, which no program encodes
  const forms = [encodeURIComponent(secret), asFormField(secret)];
  const lower = (text: string): string => text.replaceAll(/%../g, (hex) => hex.toLowerCase());
  return [...forms, ...forms.map(lower)];
}

/** As `URLSearchParams`, which not every place where the engine runs has. */
const asFormField = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/[!'()~]/g, (character) => `%${hexOf(character.charCodeAt(0))}`)
    .replaceAll("%20", "+");

const hexOf = (byte: number): string => byte.toString(16).padStart(2, "0").toUpperCase();

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Whether a secret is in a text in one of the forms. */
export function holdsForm(text: string, forms: readonly SecretForm[]): boolean {
  let holds = false;
  const found = (): void => {
    holds = true;
  };
  return forms.some((form) => {
    findForm(text, form, found);
    return holds;
  });
}

export function findForm(text: string, form: SecretForm, add: AddSpan): void {
  if (form.core === "") return;
  for (let index = text.indexOf(form.core); index >= 0; ) {
    const end = withEdges(text, form, index, index + form.core.length, add);
    index = text.indexOf(form.core, end ?? index + 1);
  }
  if (form.starts !== undefined && mayBeEncoded(text, form.core))
    findEncoded(text, form, form.starts, add);
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const urlSafe = (digits: string): string => digits.replaceAll("+", "-").replaceAll("/", "_");

/** The forms in base64 and base64url if the secret begins `lead` bytes after the start of a group of three. */
function base64Forms(secret: string, lead: number): readonly SecretForm[] {
  const bytes = utf8(secret);
  const digits = toBase64(new Uint8Array([...Array<number>(lead).fill(0), ...bytes]));
  const [firstBit, endBit] = [lead * 8, (lead + bytes.length) * 8];
  // The digits all of whose six bits belong to the secret. The digits at the edges hold only some of its bits.
  const [from, to] = [Math.ceil(firstBit / 6), Math.floor(endBit / 6)];
  const lowBits = from * 6 - firstBit;
  const highBits = endBit - to * 6;
  const prefixes = lowBits === 0 ? "" : alike(digits[from - 1], (value) => value % 2 ** lowBits);
  const suffixes = highBits === 0 ? "" : alike(digits[to], (value) => value >> (6 - highBits));
  const core = digits.slice(from, to);
  const inUrls = urlSafe(core);
  const plain = { core: inUrls, prefixes, suffixes };
  // Both alphabets share letters and digits.
  return inUrls === core ? [plain] : [plain, { core, prefixes, suffixes, starts: startsOf(core) }];
}

/** Matches runs of backslashes and quotes as a whole, from their beginnings. */
function startsOf(core: string): RegExp {
  const first = String.fromCodePoint(core.codePointAt(0) ?? 0);
  const byte = hexOf(utf8(first)[0] ?? 0);
  const hex = [...byte].map((digit) => `[${digit.toLowerCase()}${digit}]`).join("");
  const isPlain = /[A-Za-z0-9]/.test(first);
  const itself =
    first === "\\"
      ? []
      : [first === "'" ? "(?<!')'" : `\\u{${(first.codePointAt(0) ?? 0).toString(16)}}`];
  const escaped = isPlain ? "(?<!\\\\)\\\\(?=\\\\*[uUx])" : "(?<!\\\\)\\\\";
  const backslashes = runLength(core, 0, "\\");
  const exactly = backslashes === 0 ? [] : [`(?<=\\\\)\\\\{${backslashes}}(?!\\\\)`];
  const spaces = first === " " ? ["\\+", "\\n"] : [];
  return new RegExp(
    [...itself, ...spaces, ...exactly, `%(?=(?:25)*(?:${hex}|5[cC]))`, escaped].join("|"),
    "gu",
  );
}

function alike(digit = "", bits: (value: number) => number): string {
  const wanted = bits(DIGITS.indexOf(digit));
  const same = [...DIGITS].filter((_, value) => bits(value) === wanted).join("");
  return same + urlSafe(same).replaceAll(/[^-_]/g, "");
}

/**
 * Adds a match with the base64 digits at its edges. Returns its end; undefined if those digits cannot belong to the
 * secret.
 */
function withEdges(
  text: string,
  { suffixes, prefixes }: SecretForm,
  coreStart: number,
  coreEnd: number,
  add: AddSpan,
): number | undefined {
  let [start, end] = [coreStart, coreEnd];
  if (prefixes !== "") {
    const [written = "", hex] = /(?:%(?:25)*([2][bBfFdD])|.)$/su.exec(
      text.slice(Math.max(0, start - 9), start),
    ) ?? [""];
    if (!holds(prefixes, written, hex)) return undefined;
    start -= written.length;
  }
  if (suffixes !== "") {
    const [written = "", hex] = /^(?:%(?:25)*([2][bBfFdD])|\\*\/|.)/su.exec(
      text.slice(end, end + 9),
    ) ?? [""];
    if (!holds(suffixes, written.replaceAll("\\", ""), hex)) return undefined;
    end += written.length;
  }
  if (prefixes !== "" || suffixes !== "")
    end += /^(?:=|%(?:25)*3[dD])*/.exec(text.slice(end, end + 20))?.[0].length ?? 0;
  add(start, end);
  return end;
}

const holds = (digits: string, written: string, hex: string | undefined): boolean => {
  const digit = hex === undefined ? written : String.fromCharCode(Number.parseInt(hex, 16));
  return digit !== "" && digits.includes(digit);
};

/** A quick test: most texts hold no encoded form. */
const mayBeEncoded = (text: string, core: string): boolean =>
  text.includes("\\") ||
  text.includes("%") ||
  (core.includes("'") && text.includes("'")) ||
  (core.includes(" ") && text.includes("+")) ||
  (/[ \n]/.test(core) && text.includes("\n"));

function findEncoded(text: string, form: SecretForm, starts: RegExp, add: AddSpan): void {
  let runEnd = 0;
  starts.lastIndex = 0;
  for (let found = starts.exec(text); found !== null; found = starts.exec(text)) {
    const { index } = found;
    if (index < runEnd && /[\\%\n]/.test(found[0])) continue;
    const core = encodedEnd(text, index, form.core);
    const end = core === undefined ? undefined : withEdges(text, form, index, core, add);
    starts.lastIndex = end ?? index + found[0].length;
    if (end === undefined) runEnd = Math.max(runEnd, endOfRun(text, index, form.core));
  }
}

/**
 * The position before which no further start in this run needs a try: if the secret does not begin at the first
 * backslash or line break of the run, a start at another one fails too, and each try would read the whole rest again.
 * Exceptions: the last backslashes of the run, as many as the secret begins with, and backslashes of a numeric escape.
 */
function endOfRun(text: string, start: number, core: string): number {
  if (text[start] === "\n" && core.startsWith("\n")) return start + runLength(text, start, "\n");
  const run = matchAt(BACKSLASHES, text, start) ?? "";
  const backslashes = runLength(core, 0, "\\");
  if (backslashes === 0) return start + run.length;
  const last = [...run.matchAll(BACKSLASH)].at(-backslashes)?.index ?? 0;
  let numbered = run.length;
  while (run[numbered - 1] === "\\") numbered -= 1;
  return start + Math.min(last, numbered);
}

/** Where the encoded secret that begins at `start` ends; undefined if none begins there. */
function encodedEnd(text: string, start: number, core: string): number | undefined {
  let offset = start;
  for (let index = 0; index < core.length; ) {
    if (index > 0 && text[offset] === "\\" && !core.startsWith("\\\n", index)) {
      const pattern = core[index] === "\\" ? CONTINUATION_AND_ESCAPE : CONTINUATION;
      offset += matchAt(pattern, text, offset)?.length ?? 0;
    }
    const backslashes = runLength(core, index, "\\");
    const slashes = backslashRun(text, offset, backslashes);
    if (slashes === undefined) return undefined;
    offset = slashes.end;
    index += backslashes;
    const point = core.codePointAt(index);
    if (point === undefined) return offset;
    const character = String.fromCodePoint(point);
    if (character === "'") {
      const end = slashes.isEscape ? quoteEnd(text, offset) : quotesEnd(text, offset, core, index);
      if (end === undefined) return undefined;
      offset = end.offset;
      index += end.quotes;
      continue;
    }
    if (character === "\n" && text[offset] === "\n" && !slashes.isEscape) {
      const broken = breaksEnd(text, offset, core, index);
      if (broken === undefined) return undefined;
      ({ offset, index } = broken);
      continue;
    }
    const code = slashes.isEscape ? escapeAt(text, offset, core, index) : undefined;
    if (code !== undefined) {
      offset = code.end;
      index += code.units;
      continue;
    }
    if (slashes.isEscape && backslashes === 0 && /^[A-Za-z0-9]$/.test(character)) return undefined;
    if (character === "%" && text[offset] === "%") {
      const [written, wanted] = [matchAt(PERCENTS, text, offset), matchAt(PERCENTS, core, index)];
      if (written === undefined || wanted === undefined || written.length < wanted.length)
        return undefined;
      offset += written.length;
      index += wanted.length;
      continue;
    }
    const end = characterEnd(text, offset, character);
    if (end === undefined) return undefined;
    offset = end;
    index += character.length;
  }
  return offset;
}

/** YAML continues a long double-quoted line on the next one, where a leading space is escaped. */
const CONTINUATION = /\\\n *(?:\\(?= ))?/y;
/** A continuation before a backslash of the secret, which is itself escaped. */
const CONTINUATION_AND_ESCAPE = /\\\n *(?=\\\\)/y;

/** YAML doubles line breaks and indents what follows them. */
function breaksEnd(
  text: string,
  start: number,
  core: string,
  from: number,
): { readonly offset: number; readonly index: number } | undefined {
  const wanted = runLength(core, from, "\n");
  const breaks = runLength(text, start, "\n");
  const indented = runLength(core, from + wanted, " ");
  const spaces = runLength(text, start + breaks, " ");
  if (breaks < wanted || spaces < indented) return undefined;
  return { offset: start + breaks + spaces, index: from + wanted + indented };
}

function runLength(text: string, start: number, unit: string): number {
  let end = start;
  while (text[end] === unit) end += 1;
  return end - start;
}

interface Slashes {
  readonly end: number;
  /** The text has more backslashes than the secret: an escape follows. */
  readonly isEscape: boolean;
}

const BACKSLASH = /\\|%(?:25)*5[cC]/g;
const BACKSLASHES = /(?:\\|%(?:25)*5[cC])*/y;
/** A backslash as a numeric escape. */
const NUMBERED_BACKSLASH = /\\+(?:u005[cC]|x5[cC]|u\{5[cC]\})/y;

/** Nested escapes double backslashes, so a long run can stand for a single one. */
function backslashRun(text: string, start: number, wanted: number): Slashes | undefined {
  const unit = text[start];
  if (unit !== "\\" && unit !== "%")
    return wanted === 0 ? { end: start, isEscape: false } : undefined;
  let [offset, missing] = [start, wanted];
  for (; missing > 0; missing -= 1) {
    const numbered = matchAt(NUMBERED_BACKSLASH, text, offset);
    if (numbered === undefined) break;
    offset += numbered.length;
  }
  const run = matchAt(BACKSLASHES, text, offset) ?? "";
  const count = run.replaceAll(BACKSLASH, "\\").length;
  if (count < missing) return undefined;
  return { end: offset + run.length, isEscape: count > missing };
}

function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}

const SHELL_QUOTES = [`'\\''`, `'"'"'`] as const;

interface Quotes {
  readonly offset: number;
  readonly quotes: number;
}

function quoteEnd(text: string, offset: number): Quotes | undefined {
  const end = characterEnd(text, offset, "'");
  return end === undefined ? undefined : { offset: end, quotes: 1 };
}

/** YAML doubles quotes; a shell word is closed and reopened around each quote. */
function quotesEnd(text: string, offset: number, core: string, index: number): Quotes | undefined {
  const wanted = runLength(core, index, "'");
  const ofShell = SHELL_QUOTES.find(
    (quote) => text.startsWith(quote, offset) && !core.startsWith(quote, index),
  );
  if (ofShell !== undefined) return { offset: offset + ofShell.length, quotes: 1 };
  const run = runLength(text, offset, "'");
  if (run >= wanted) return { offset: offset + run, quotes: wanted };
  return run > 0 ? undefined : quoteEnd(text, offset);
}

const NUMBERED = /u\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})/y;

const NAMED: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
  a: "\x07",
  e: "\x1b",
  "0": "\0",
  N: "\x85",
  _: "\xa0",
  L: "\u2028",
  P: "\u2029",
};

/** The part of an escape after its backslashes, if it encodes the secret's next code unit or code point. */
function escapeAt(
  text: string,
  offset: number,
  core: string,
  index: number,
): { readonly end: number; readonly units: number } | undefined {
  const name = text[offset];
  if (name !== undefined && NAMED[name] === core[index]) return { end: offset + 1, units: 1 };
  if (name !== "u" && name !== "x" && name !== "U") return undefined;
  const numbered = matchAt(NUMBERED, text, offset);
  if (numbered === undefined) return undefined;
  const value = Number.parseInt(numbered.replaceAll(/[uxU{}]/g, ""), 16);
  const end = offset + numbered.length;
  if (value === core.charCodeAt(index)) return { end, units: 1 };
  return value === core.codePointAt(index) ? { end, units: 2 } : undefined;
}

/** A character as it is or percent-encoded, once or several times. */
function characterEnd(text: string, offset: number, character: string): number | undefined {
  if (text.startsWith(character, offset)) return offset + character.length;
  if (character === " ") {
    if (text[offset] === "+") return offset + 1;
    // YAML folds long lines.
    if (text[offset] === "\n") return offset + 1 + runLength(text, offset + 1, " ");
  }
  if (text[offset] !== "%") return undefined;
  let end = offset;
  for (const byte of utf8(character)) {
    const [written = "", hex = ""] = percentAt(text, end) ?? [];
    if (Number.parseInt(hex, 16) !== byte) return undefined;
    end += written.length;
  }
  return end;
}

/** A percent sign, however often it was encoded. */
const PERCENTS = /%(?:25)*/y;

const PERCENT = /%(?:25)*([0-9a-fA-F]{2})/y;

/** In a run of `%25`, the last one encodes the character itself. */
function percentAt(text: string, offset: number): RegExpExecArray | null {
  PERCENT.lastIndex = offset;
  return PERCENT.exec(text);
}
