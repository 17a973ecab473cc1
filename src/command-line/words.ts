import { splitAtEquals } from "../text/shell-words.ts";
import type { CommandOption } from "./command-line.ts";

/** What a part of a command line is. */
export type Word =
  | { readonly kind: "positional"; readonly text: string; readonly isVerbatim: boolean }
  | {
      readonly kind: "option";
      readonly name: string;
      /** As it was typed, for errors: `-o`, `--output`. */
      readonly typed: string;
      /** Undefined where none was given. */
      readonly value?: string;
    }
  | { readonly kind: "unknown"; readonly typed: string };

type Options = ReadonlyMap<string, CommandOption>;

/**
 * Takes a command line apart: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-nm` for two switches, short
 * options of two letters. `node:util` does not know the latter, and takes an option for the value of the one before.
 */
export function wordsOf(args: readonly string[], options: Options): readonly Word[] {
  const dashes = args.indexOf("--");
  const own = dashes < 0 ? args : args.slice(0, dashes);
  const verbatim = dashes < 0 ? [] : args.slice(dashes + 1);
  const words: Word[] = [];
  for (let index = 0; index < own.length; index++) {
    const found = readWord(own[index] ?? "", options);
    const last = found.at(-1);
    const next = own[index + 1];
    const isOpen =
      last?.kind === "option" && last.value === undefined && takesValue(last.name, options);
    // A forgotten value must not swallow the option behind it.
    if (isOpen && next !== undefined && !isOption(next, options)) {
      words.push(...found.slice(0, -1), { ...last, value: next });
      index++;
    } else words.push(...found);
  }
  return [...words, ...verbatim.map((text) => positional(text, true))];
}

const positional = (text: string, isVerbatim: boolean): Word => ({
  kind: "positional",
  text,
  isVerbatim,
});

const takesValue = (name: string, options: Options): boolean =>
  options.get(name)?.value !== undefined;

/** Whether a word is an option that there is. Of others nobody knows: `-[0-9]+` may be a pattern. */
const isOption = (word: string, options: Options): boolean =>
  readWord(word, options).every(
    (part) =>
      part.kind === "option" && (takesValue(part.name, options) || part.value === undefined),
  );

function readWord(word: string, options: Options): readonly Word[] {
  if (!word.startsWith("-") || word === "-") return [positional(word, false)];
  const [typed, value] = splitAtEquals(word);
  const name = word.startsWith("--") ? typed.slice(2) : nameOf(typed.slice(1), options);
  if (name !== undefined && options.has(name))
    return [{ kind: "option", name, typed, ...(value !== undefined && { value }) }];
  const isLong = word.startsWith("--") || options.has(typed.slice(1));
  return isLong ? [{ kind: "unknown", typed }] : readLetters(word, options);
}

const nameOf = (short: string, options: Options): string | undefined =>
  [...options].find(([, option]) => option.short === short)?.[0];

/** `-qo DIR`, `-oDIR`: letters of switches, then one of an option with a value. */
function readLetters(word: string, options: Options): readonly Word[] {
  const words: Word[] = [];
  for (let at = 1; at < word.length; at++) {
    const typed = `-${word[at]}`;
    const name = nameOf(word[at] ?? "", options);
    // The whole word: `-verbos` is no row of letters.
    if (name === undefined) return [{ kind: "unknown", typed: word }];
    const rest = word.slice(at + 1).replace(/^=/, "");
    if (takesValue(name, options))
      return [...words, { kind: "option", name, typed, ...(rest !== "" && { value: rest }) }];
    words.push({ kind: "option", name, typed });
  }
  return words;
}
