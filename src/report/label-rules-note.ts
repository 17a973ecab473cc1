/** The note that a report's labels are not the program's own: written and parsed here. */
import { grouped, plural } from "../text/plural.ts";

const RULES = " (rules: ";

/**
 * @param words of the rules, in order: two reports with equal words have the same rules
 */
export const unifiedNote = (labels: number, unified: number, words: readonly string[]): string =>
  `labels unified by ${plural(words.length, "rule")}: ${plural(labels, "label")} became ${grouped(String(unified))}${RULES}${words.join(", ")})`;

const IS_UNIFIED = /^labels unified by /;

/** The rules of a report; null where the labels are the program's own. */
export function rulesInNotes(notes: readonly string[]): string | null {
  const note = notes.find((one) => IS_UNIFIED.test(one));
  return note === undefined ? null : note.slice(note.indexOf(RULES) + RULES.length, -1);
}

export const isUnifiedNote = (note: string): boolean => IS_UNIFIED.test(note);
