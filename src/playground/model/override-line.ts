/** The line of overrides: its words, what menus change in it, and the command line that it stands for. */
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { ProgramLine } from "../tree-document.ts";
import { type LineWord, lineWord, lineWords } from "./line-words.ts";
import type { ShownPlace } from "./problems.ts";

/** The words of a line as overrides. */
export const overridesIn = (line: string): readonly string[] =>
  lineWords(line).map(({ text }) => text);

/** The word at the cursor as far as it is typed, and the words before it. */
export interface TypedWord {
  readonly text: string;
  /** Where the word begins in the line. */
  readonly start: number;
  readonly preceding: readonly string[];
}

export function wordAt(line: string, cursor: number): TypedWord {
  const words = lineWords(line.slice(0, cursor));
  const last = words.at(-1);
  // After white space a new word begins, unless quotes are still open.
  const isOpen = last !== undefined && last.end === cursor;
  const preceding = (isOpen ? words.slice(0, -1) : words).map(({ text }) => text);
  return isOpen
    ? { text: last.text, start: last.start, preceding }
    : { text: "", start: cursor, preceding };
}

/** The part of the line that a place of an error is; undefined for other places. */
export function markedPart(
  line: string,
  place: ShownPlace | undefined,
): readonly [start: number, end: number] | undefined {
  if (place?.kind !== "override") return undefined;
  const words = lineWords(line);
  const indexed = words[place.index];
  const word =
    indexed?.text === place.override ? indexed : words.find(({ text }) => text === place.override);
  if (word === undefined) return undefined;
  if (place.span === undefined) return [word.start, word.end];
  const [from, to] = place.span;
  const start = word.offsets[from] ?? word.start;
  const end = word.offsets[to] ?? word.end;
  return end > start ? [start, end] : [word.start, word.end];
}

/** Whether a word chooses the option of a group: `db=x`, `+db=x`, `~db`. */
const choosesOption = (word: string, key: string): boolean => {
  const name = word.replace(/^(?:\+\+|[+~])/, "");
  return name === key || name.startsWith(`${key}=`);
};

/** The line without the words that choose an option of a group. */
export function withoutChoice(line: string, key: string): string {
  return joined(
    lineWords(line).filter(({ text }) => !choosesOption(text, key)),
    line,
  );
}

/**
 * The line with another option of a group, in place of the word that chose one before.
 *
 * @param override that chooses it; undefined if the line needs none
 */
export function withChoice(line: string, key: string, override: string | undefined): string {
  const words = lineWords(line);
  const index = words.findIndex(({ text }) => choosesOption(text, key));
  const kept = (part: readonly LineWord[]) =>
    part
      .filter(({ text }) => !choosesOption(text, key))
      .map(({ end, start }) => line.slice(start, end));
  const place = index < 0 ? words.length : index;
  return [
    ...kept(words.slice(0, place)),
    ...(override === undefined ? [] : [lineWord(override)]),
    ...kept(words.slice(place)),
  ].join(" ");
}

const joined = (words: readonly LineWord[], line: string): string =>
  words.map(({ end, start }) => line.slice(start, end)).join(" ");

/**
 * The command line for a shell, whose words are those of the line.
 * @param isSweep whether it makes several jobs
 */
export function commandLine(
  { configName, words }: ProgramLine,
  call: { readonly configName: string; readonly overrides: readonly string[] },
  isSweep: boolean,
): string {
  const name = call.configName === configName ? [] : ["--config-name", call.configName];
  const mode = isSweep ? ["--multirun"] : [];
  return [...words, ...name, ...mode, ...call.overrides].map(shellQuote).join(" ");
}
