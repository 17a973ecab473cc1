/** The shells that complete command lines: the code that each loads, and the format of candidates. */

import { shellQuote } from "../../../foundation/text/shell-words.ts";
import type { Candidate } from "./candidate.ts";
import BASH_FUNCTIONS from "./sources/bash-completion.bash";
import FISH_FUNCTIONS from "./sources/fish-completion.fish";
import ZSH_FUNCTIONS from "./sources/zsh-completion.zsh";

/*
 * Works from bash 3.2 on, which has no mapfile and no compopt. The blank after a complete word is part of the answer,
 * because bash itself would append one to `db=`, too.
 */
const bash: Shell = {
  name: "bash",
  hydraSeparator: " ",
  describes: false,
  install: ({ isPackaged, name, script }: InstalledProgram) =>
    [
      BASH_FUNCTIONS,
      `__hydraconf_install __hydraconf_program ${shellQuote(name)}\n`,
      isPackaged === true ? `__hydraconf_wrap_npx ${shellQuote(name)}\n` : "",
      script === undefined
        ? ""
        : `__hydraconf_scripts+=(${shellQuote(script)})\n__hydraconf_install __hydraconf_node node\n`,
    ].join(""),
  uninstall: ({ isPackaged, name, script }) =>
    [
      `complete -r ${shellQuote(name)} 2>/dev/null\n`,
      isPackaged === true ? "complete -r npx 2>/dev/null\nunset __hydraconf_packaged\n" : "",
      script === undefined ? "" : "complete -r node 2>/dev/null\nunset __hydraconf_scripts\n",
      "true\n",
    ].join(""),
  print: (candidates, line) => candidates.map((each) => `${typed(each, line)}\n`).join(""),
};

/** The text that replaces the part of the word that bash completes. */
function typed({ text, isOpen }: Candidate, { kept, quote }: ShellLine): string {
  const piece = quoteForBash(text.slice(kept), quote);
  // bash closes an open quote itself.
  return isOpen || quote !== "" ? piece : `${piece} `;
}

/** One line each: `-` for a complete word or `+` for one that goes on, the word, a tab, its description. */
const markedLines = (candidates: readonly Candidate[]): string =>
  candidates
    .map(({ text, description, isOpen }) => `${isOpen ? "+" : "-"}${text}\t${description ?? ""}\n`)
    .join("");

/** One line each: the word, and after a tab its description. */
const describedLines = (candidates: readonly Candidate[]): string =>
  candidates
    .map(({ text, description }) =>
      description === undefined ? `${text}\n` : `${text}\t${description}\n`,
    )
    .join("");

/*
 * zsh quotes inserted words and matches them with the typed text itself, so it gets unquoted words.
 */
const zsh: Shell = {
  name: "zsh",
  hydraSeparator: " ",
  describes: true,
  install: ({ isPackaged, name, script }: InstalledProgram) =>
    [
      ZSH_FUNCTIONS,
      `compdef __hydraconf_program ${shellQuote(name)}\n`,
      isPackaged === true
        ? `typeset -ga __hydraconf_packaged\n__hydraconf_packaged+=(${shellQuote(name)})\ncompdef __hydraconf_npx npx\n`
        : "",
      script === undefined
        ? ""
        : `typeset -ga __hydraconf_scripts\n__hydraconf_scripts+=(${shellQuote(script)})\ncompdef __hydraconf_node node\n`,
    ].join(""),
  uninstall: ({ isPackaged, name, script }) =>
    [
      `compdef -d ${shellQuote(name)}\n`,
      isPackaged === true ? "compdef -d npx\nunset __hydraconf_packaged\n" : "",
      script === undefined ? "" : "compdef -d node\nunset __hydraconf_scripts\n",
    ].join(""),
  print: markedLines,
};

/*
 * fish itself appends no blank to words that end with `=`, `/`, `.`, `,` or `@`, as desired.
 */
const fish: Shell = {
  name: "fish",
  hydraSeparator: "\n",
  describes: true,
  install: ({ isPackaged, name, script }: InstalledProgram) =>
    [
      FISH_FUNCTIONS,
      `complete -c ${quoted(name)} -f -k -a '(__hydraconf_program)'\n`,
      isPackaged === true
        ? `complete -c npx -f -k -n ${quoted(`__hydraconf_is_packaged ${quoted(name)}`)} -a ${quoted(`(__hydraconf_complete 2 (__hydraconf_packaged ${quoted(name)}))`)}\n`
        : "",
      script === undefined
        ? ""
        : `complete -c node -f -k -n ${quoted(`__hydraconf_is_script ${quoted(script)}`)} -a ${quoted(`(__hydraconf_complete 2 node ${quoted(script)})`)}\n`,
    ].join(""),
  uninstall: ({ isPackaged, name, script }) =>
    `complete -c ${quoted(name)} -e\n${isPackaged === true ? "complete -c npx -e\n" : ""}${script === undefined ? "" : "complete -c node -e\n"}`,
  print: describedLines,
};

/** The functions that the installed code calls, for completing other programs. */
export const SHELL_FUNCTIONS = {
  bash: BASH_FUNCTIONS,
  zsh: ZSH_FUNCTIONS,
  fish: FISH_FUNCTIONS,
} as const;

/** In single quotes, fish has two escapes. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

export const SHELLS: readonly Shell[] = [bash, zsh, fish];

/** The program that completion is installed for. */
export interface InstalledProgram {
  /** The name of the command: `deep-profile`, `train.mjs`. */
  readonly name: string;
  /** Whether it is a command of a package that npm has installed in a project, which is also run as `npx NAME`. */
  readonly isPackaged?: boolean;
  /** The path of a script that is also run as `node SCRIPT`. */
  readonly script?: string;
}

/** One shell: the code that installs completion in it, and the format of its answers. */
export interface Shell {
  readonly name: string;
  install(program: InstalledProgram): string;
  uninstall(program: InstalledProgram): string;
  /** Whether it shows descriptions. */
  readonly describes: boolean;
  /** The separator of answers to requests of Hydra's own shell code. */
  readonly hydraSeparator: string;
  /** The answers in the format of the installed code; ends with a line break unless empty. */
  print(candidates: readonly Candidate[], line: ShellLine): string;
}

/** A shell's command line up to the cursor, as the program would receive it. */
export interface ShellLine {
  /** The words before the one under the cursor, unquoted; the program is the first. */
  readonly words: readonly string[];
  /** The typed part of the word under the cursor, unquoted; empty after a space. */
  readonly word: string;
  /** Number of characters of `word` that the shell keeps when it inserts a completion. */
  readonly kept: number;
  /** The quote that is open at the cursor. */
  readonly quote: "" | "'" | '"';
}

/**
 * Parses a line of bash. bash completes only a part of a word: the text before a character of `COMP_WORDBREAKS`, and
 * before an open quote, is kept.
 */
export function readShellLine(line: string, wordBreaks: string): ShellLine {
  const words: string[] = [];
  let word: string | undefined;
  let kept = 0;
  let quote: ShellLine["quote"] = "";
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index);
    if (quote === "" && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      [word, kept] = [undefined, 0];
    } else if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) {
      quote = char;
      word ??= "";
      kept = word.length;
    } else if (char === "\\" && isEscape(line.charAt(index + 1), quote)) {
      word = (word ?? "") + line.charAt(++index);
    } else {
      word = (word ?? "") + char;
      if (quote === "" && wordBreaks.includes(char)) kept = word.length;
    }
  }
  return { words, word: word ?? "", kept, quote };
}

const isEscape = (next: string, quote: ShellLine["quote"]): boolean =>
  quote === "" ? next !== "" : quote === '"' && next !== "" && '$`"\\'.includes(next);

/** Quotes a text for bash, within the open quote if there is one. */
export function quoteForBash(text: string, quote: ShellLine["quote"]): string {
  switch (quote) {
    case "":
      return text.replace(/[\s'"\\$`;&|<>()*?[\]{}#!]/g, "\\$&");
    case '"':
      return text.replace(/["\\$`]/g, "\\$&");
    case "'":
      return text.replaceAll("'", "'\\''");
  }
}
