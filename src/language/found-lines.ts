/** Command lines of a project's programs, as its scripts and its documentation have them. */
import { basename, dirname, resolve } from "node:path";
import { HYDRA_FLAGS } from "../app/cli/arguments/hydra-flags.ts";
import { parseArgv } from "../app/cli/arguments/parse-argv.ts";
import { isConfigError } from "../engine/values/errors.ts";
import type { App } from "../python/apps.ts";
import { type CommandWord, commandsIn } from "./command-words.ts";
import { type CommandFile, commandFiles, textOf } from "./project-files.ts";

/** An override in a file, where it stands as a word. */
export interface FoundOverride {
  readonly text: string;
  /** Offsets of the word in the file, quotes included. */
  readonly start: number;
  readonly end: number;
  /** Whether the word itself says the override, so that it can be rewritten in its place. */
  readonly isLiteral: boolean;
}

/** A call of a program with overrides. */
export interface FoundLine {
  readonly app: App;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly overrides: readonly FoundOverride[];
  readonly isMultirun: boolean;
  readonly configName?: string;
  /** As written, relative to the program's file. */
  readonly configPath?: string;
  /** As written, relative to the working directory. */
  readonly configDir?: string;
  /** How many words were left out because only the shell knows their values. */
  readonly leftOut: number;
}

/** A call that cannot be read, and why. */
export interface UnreadLine {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export interface FoundLines {
  readonly lines: readonly FoundLine[];
  readonly unread: readonly UnreadLine[];
}

/**
 * The calls of programs with overrides or flags in the files of a project.
 *
 * @param files absolute paths, of which those with commands are read
 */
export function foundLines(
  root: string,
  files: readonly string[],
  apps: readonly App[],
): FoundLines {
  const programs = apps.filter(({ kind }) => kind !== "compose");
  const lines: FoundLine[] = [];
  const unread: UnreadLine[] = [];
  if (programs.length === 0) return { lines, unread };
  const search = { root, programs, scripts: consoleScripts(files) };
  for (const read of commandFiles(files)) {
    const lineOf = lineCounter(read.text);
    for (const words of commandsIn(read.text, read.kind)) {
      const call = callIn(words, read, search);
      if (call === undefined || call.words.length === 0) continue;
      const place = { file: read.file, line: lineOf(call.words[0]?.start ?? 0) };
      // Prose and drawings of folders name programs, too.
      if (!call.words.some(({ text }) => OVERRIDE.test(text) || text.startsWith("-"))) continue;
      const found = lineFrom(call, place);
      if ("reason" in found) unread.push(found);
      else if (found.overrides.length > 0 || found.configName !== undefined) lines.push(found);
    }
  }
  return { lines, unread };
}

interface Search {
  readonly root: string;
  readonly programs: readonly App[];
  /** Modules by the name of the command that starts them. */
  readonly scripts: ReadonlyMap<string, string>;
}

interface Call {
  readonly app: App;
  /** The words after the program. */
  readonly words: readonly CommandWord[];
}

function callIn(
  words: readonly CommandWord[],
  { file }: CommandFile,
  search: Search,
): Call | undefined {
  for (const [index, { text }] of words.entries()) {
    const module = words[index - 1]?.text === "-m" ? text : undefined;
    const script = isCommand(words, index) ? search.scripts.get(text) : undefined;
    const path = text.endsWith(".py") ? text : modulePath(module ?? script);
    if (path === undefined) continue;
    const app = programAt(path, file, search);
    if (app !== undefined) return { app, words: words.slice(index + 1) };
  }
  return undefined;
}

/** Whether only assignments of variables precede a word. */
const isCommand = (words: readonly CommandWord[], index: number): boolean =>
  words.slice(0, index).every(({ text }) => /^[A-Za-z_]\w*=/.test(text));

const modulePath = (module: string | undefined): string | undefined =>
  module === undefined || !/^[\w.]+$/.test(module)
    ? undefined
    : `${module.replaceAll(".", "/")}.py`;

/** The program of a path as commands write it: relative to the project or the file, or by the end of its path. */
function programAt(path: string, from: string, { programs, root }: Search): App | undefined {
  const places = [resolve(root, path), resolve(dirname(from), path)];
  const exact = programs.find(({ file }) => places.includes(file));
  if (exact !== undefined) return exact;
  const parts = path.split("/").filter((part) => part !== "." && part !== "..");
  const suffix = parts.slice(parts.findLastIndex((part) => part.includes("$")) + 1).join("/");
  const ends = [suffix, suffix.replace(/\.py$/, "/__main__.py")].filter((end) => end !== "");
  const found = programs.filter(({ file }) => ends.some((end) => file.endsWith(`/${end}`)));
  const [first, ...others] = found;
  return others.every(({ file }) => file === first?.file) ? first : undefined;
}

/** `[project.scripts]` of pyproject.toml, `console_scripts` of setup.py and setup.cfg. */
function consoleScripts(files: readonly string[]): ReadonlyMap<string, string> {
  const scripts = new Map<string, string>();
  for (const file of files) {
    if (!/^(pyproject\.toml|setup\.(py|cfg))$/.test(basename(file))) continue;
    for (const [, name = "", module = ""] of (textOf(file) ?? "").matchAll(SCRIPT))
      scripts.set(name, module);
  }
  return scripts;
}

const SCRIPT = /^\s*["']?([A-Za-z][\w-]*)\s*["']?\s*=\s*["']?([A-Za-z_][\w.]*):\w+["']?/gm;

/** `key=value`, `+group@package=option`, `~key`. */
const OVERRIDE = /^[+~]*[\w$][^=\s]*=|^~\w/;

/** What a line of documentation shows in place of words. */
const PLACEHOLDER = /^(\.{2,}|…|<.*>|\[.*\.\.\..*\])$/;

function lineFrom(
  { app, words }: Call,
  place: { readonly file: string; readonly line: number },
): FoundLine | UnreadLine {
  const writtenWords = words.filter(({ text }) => text !== "" && !PLACEHOLDER.test(text));
  const literalWords = writtenWords.filter((word) => word.isKnown);
  const unknown = writtenWords.filter((word) => !word.isKnown);
  // A flag without its value would mean something else.
  if (
    unknown.some(
      ({ text }, index) => text.startsWith("-") || isValueOfFlag(writtenWords, unknown[index]),
    )
  )
    return { ...place, reason: "its flags have values that only the shell knows" };
  try {
    const parsed = parseArgv(
      literalWords.map(({ text }) => text),
      HYDRA_FLAGS,
    );
    const { flags } = parsed;
    const text = (id: string): string | undefined => {
      const value = flags.get(id);
      return typeof value === "string" ? value : undefined;
    };
    const [configName, configPath, configDir] = [
      text("config-name"),
      text("config-path"),
      text("config-dir"),
    ];
    return {
      app,
      ...place,
      overrides: wordsOf(parsed.overrides, literalWords),
      isMultirun: flags.has("multirun"),
      ...(configName !== undefined && { configName }),
      ...(configPath !== undefined && { configPath }),
      ...(configDir !== undefined && { configDir }),
      leftOut: unknown.length + (writtenWords.length < words.length ? 1 : 0),
    };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return { ...place, reason: error.message };
  }
}

/** Whether the word before it is a flag, whose value it may be. */
const isValueOfFlag = (words: readonly CommandWord[], word: CommandWord | undefined): boolean => {
  const previous = word === undefined ? undefined : words[words.indexOf(word) - 1];
  return (
    previous !== undefined &&
    /^--?[a-z-]+$/.test(previous.text) &&
    !/^(-m|--multirun)$/.test(previous.text)
  );
};

/** The words of overrides, which keep their order. */
function wordsOf(
  overrides: readonly string[],
  words: readonly CommandWord[],
): readonly FoundOverride[] {
  let from = 0;
  return overrides.flatMap((text) => {
    const index = words.findIndex((word, place) => place >= from && word.text === text);
    const word = words[index];
    if (word === undefined) return [];
    from = index + 1;
    return [{ text, start: word.start, end: word.end, isLiteral: !word.isExpanded }];
  });
}

function lineCounter(text: string): (offset: number) => number {
  let [position, line] = [0, 1];
  return (offset) => {
    // Calls come in the order of the text.
    if (offset < position) [position, line] = [0, 1];
    for (; position < offset; position++) if (text[position] === "\n") line++;
    return line;
  };
}
