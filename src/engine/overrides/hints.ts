/** Hints for overrides that are not valid: what was probably meant. */
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { ErrorDetails } from "../values/error-details.ts";
import type { Quote, Span } from "./ast.ts";
import { quoted } from "./print.ts";

/** The details of an error that say what to do. */
export type Advice = Pick<ErrorDetails, "proposals"> & { readonly hint: string };

/** A hint without an override to type: undefined, to replace those of a more general error. */
export const saying = (hint: string): Advice => ({ hint, proposals: undefined });

/** An override to type instead, behind the reason. */
export const corrected = (reason: string, override: string): Advice => ({
  hint: `${reason}: ${shown(override)}`,
  proposals: [override],
});

/** An override to type instead. */
export const use = (override: string): Advice => ({
  hint: `use ${shown(override)}`,
  proposals: [override],
});

/** An override that a hint proposes, with what it is for: `+a=1`, "to add the key". */
export interface Proposed {
  readonly override: string;
  readonly purpose?: string;
}

/** Several overrides, of which one is typed instead. */
export const useAnyOf = (proposed: readonly Proposed[], lead = "use"): Advice => ({
  hint: `${lead} ${proposed.map(({ override, purpose = "" }) => `${override} ${purpose}`.trimEnd()).join(", or ")}`,
  proposals: proposed.map(({ override }) => override),
});

/** The override that chooses an option of a group. */
export const chooseBy = (override: string): Advice =>
  useAnyOf([{ override }], "to choose an option, use");

/**
 * The hint for a value that unquoted text cannot contain. A value that is all text is shown in quotes as a whole; in a
 * list, dict, sweep or call only the wrong part needs quotes, which `withValueHint` shows if it finds it.
 */
export function quoteHint(override: string): Advice {
  const equal = override.indexOf("=");
  const value = override.slice(equal + 1).trim();
  const { 1: mark, 2: escapes } = /^(['"]).*?(\\+)\1$/s.exec(value) ?? [];
  if (mark !== undefined && escapes !== undefined && escapes.length % 2 === 1)
    return corrected(
      "double the last backslash, which keeps the quote from closing",
      `${override.slice(0, equal + 1)}${value.slice(0, -1)}${escapes}${mark}`,
    );
  const apostrophes = withOtherQuotes(value);
  if (apostrophes !== undefined)
    return corrected(
      "a text with quotes in it stands in the other ones",
      override.slice(0, equal + 1) + apostrophes,
    );
  if (/^(['"]).*\1/s.test(value)) return saying("remove everything after the closing quote");
  if (/^['"]/.test(value)) return saying("close the quote");
  if (equal < 0 || /^[[{]|,|^[\w-]+\s*\(/.test(value)) return PART_IN_QUOTES;
  return inQuotes(QUOTE_VALUE, override, { start: equal + 1, end: override.length });
}

/** `'it's'` in quotes that it does not contain; undefined for a value that is no text with its own quotes inside words. */
function withOtherQuotes(value: string): string | undefined {
  const { 1: mark = "", 2: inner = "" } = /^(['"])(.+)\1$/s.exec(value) ?? [];
  const other = mark === "'" ? '"' : "'";
  const isInWords = inner.includes(mark) && !inner.replace(/(?<=\w)['"](?=\w)/g, "").includes(mark);
  return isInWords ? quoted(inner, other) : undefined;
}

export const QUOTE_VALUE = "quote the value";
export const PART_IN_QUOTES = saying("put this part of the value in quotes");

/** The hint for text that was parsed as a call. */
export const textHint = (override: string, call: Span): Advice =>
  inQuotes("as text it needs quotes", override, call);

/** A suggested override, also quoted for a shell if the shell would interpret some of it. */
export function shown(override: string): string {
  const typed = shellQuote(override);
  return typed === override ? override : `${override} (in a shell: ${typed})`;
}

/** The hint for a blank that cut off the rest of a list, a dict or a call. */
export const splitHint = (override: string, closing: string): Advice =>
  splitExample(`${override} …${closing}`);

/** The same with the whole override. */
export const splitExample = (override: string): Advice =>
  saying(
    `a shell splits an override at its blanks: put all of it in quotes, like ${shellQuote(override)}`,
  );

/** An override with a part of it in quotes, as the grammar needs it and as a shell needs it. */
function inQuotes(reason: string, override: string, { start, end }: Span): Advice {
  const value = override.slice(start, end).trim();
  const written = (mark: Quote) =>
    `${override.slice(0, start)}${quoted(value, mark)}${override.slice(end)}`;
  // A shell removes quotes, so a user who has just typed some needs the shell form.
  const proposal = written(value.includes("'") ? '"' : "'");
  return {
    hint: `${reason}: ${proposal} (in a shell: ${shellQuote(written('"'))})`,
    proposals: [proposal],
  };
}

/** The hint for an argument without `=`: a config file, or half an override. */
export function wordHint(text: string): Advice | undefined {
  if (text.includes("=")) return assignmentHint(text);
  const [, key, value] = /^([~+]*[A-Za-z_][\w./@-]*):\s*([\w.-]+)$/.exec(text) ?? [];
  if (key !== undefined) return use(`${key}=${value}`);
  const [, directory, name] = /^(?:(.*)\/)?([^/]+)\.ya?ml$/.exec(text) ?? [];
  if (name === undefined) {
    const [, group, option] = /^([+~]*[A-Za-z_][\w/-]*)\/([\w.-]+)$/.exec(text) ?? [];
    return group === undefined ? saying(NO_EQUALS) : corrected(NO_EQUALS, `${group}=${option}`);
  }
  const place = directory === undefined ? "" : `--config-path ${directory} `;
  return saying(`to choose a config, use ${place}--config-name ${name}`);
}

export const NO_EQUALS = "write KEY=VALUE or GROUP=OPTION, without spaces around the '='";

/** The hint for `key: value` and `key:value`, which are YAML. */
export function keyHint(text: string): Advice {
  const [indexed = ""] = /^[~+]*[\w.]+(?:\[\d+\](?:\.\w+)*)+(?=[=:]|$)/.exec(text) ?? [];
  if (indexed.startsWith("~"))
    return saying("a list item cannot be deleted: assign the list without it");
  const key = indexed.replace(/\[(\d+)\]/g, ".$1");
  const dotted = key + text.slice(indexed.length);
  const yaml = /^([~+]*[A-Za-z_][\w./@-]*):\s*([\w.-]+)$/.exec(dotted);
  if (yaml !== null && !text.includes("=")) return use(`${yaml[1]}=${yaml[2]}`);
  if (indexed !== "")
    return text.includes("=")
      ? corrected("write list items with a dot", dotted)
      : saying(`write KEY=VALUE, and list items with a dot: ${key}=VALUE`);
  const [, signs = "", stray = "", value = ""] = /^([~+]*)([\w.-]+)(=.*)?$/s.exec(text) ?? [];
  const clean = stray.replace(/\.{2,}/g, ".").replace(/^\.|\.$/g, "");
  if (/\.-\d/.test(stray))
    return saying("items of a list are counted from 0, and an index has no sign");
  if (clean !== stray && clean !== "") return use(`${signs}${clean}${value}`);
  const assigned = assignmentHint(text);
  return assigned ?? saying("a key consists of ASCII letters, digits, '_', '-', '$', '.' and '/'");
}

/** The hint for `a,b=1` and `a->b=1`, where a dot is meant, and for `a+=1`. */
function assignmentHint(text: string): Advice | undefined {
  const [, first = "", between, rest, assigned] =
    /^([~+]*[A-Za-z_][\w.-]*?)(\s*(?:->|::|[,:;>\\])\s*|\s+)([A-Za-z_][\w.-]*)(=.*)$/s.exec(text) ??
    [];
  if (between !== undefined) return use(`${first}.${rest}${assigned}`);
  const [, increased, by] = /^([A-Za-z_][\w./@-]*)\s*[-+*/|]=\s*(.*)$/s.exec(text) ?? [];
  return increased === undefined
    ? undefined
    : corrected("an override assigns a value", `${increased}=${by}`);
}

/** Why a character is not allowed in a key. */
export function keyProblem(char: string): string {
  if (char === ".") return "a '.' must separate two names";
  if (/[0-9]/.test(char))
    return "a key cannot be a number, and no name in it can start with this digit";
  return `${nameCharacter(char)} is not allowed in a key`;
}

export function nameCharacter(char: string): string {
  if (char === "\n" || char === "\r") return "a line break";
  return char === " " || char === "\t" ? "a blank" : `'${char}'`;
}
