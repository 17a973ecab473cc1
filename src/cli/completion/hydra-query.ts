import { byCodePoint } from "../../compose/sources/repository.ts";
import type { ParsedArguments, Session } from "../../job/session.ts";
import type { Dialect } from "../../values/dialect.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { parseArgv } from "../arguments/parse-argv.ts";
import { matchFiles } from "./candidate.ts";
import { type CompletionTree, matchGroups, matchKeys, showsSecret, treeFor } from "./tree.ts";

/**
 * The answer to `-sc query=SHELL` as Hydra gives it, for those who ask as Hydra's own shell code does:
 * with the line in `COMP_LINE` and nothing else. Our own code hands on the words behind `--`, or
 * `COMP_WORDBREAKS`, which bash does not export. No secret is among the matches.
 *
 * @throws ConfigError for words that cannot be read, and `app.usage` for those that argparse has no
 * place for
 */
export function hydraQuery(session: Session, separator: string): string {
  const { composerFor, flags, invocation, parsed } = session;
  // Of the flags in the line only --multirun counts.
  const composer = composerFor(parsed);
  const line = stripProgram(invocation.env["COMP_LINE"] ?? "", composer.context.dialect);
  const divided = divideLine(line, flags);
  const tree = treeFor(composer, divided.words, divided.isMultirun ? "multirun" : "run");
  const matches = hydraMatches(tree, divided.word, invocation.cwd);
  const secrets = tree.secrets();
  return `${matches.filter((match) => !showsSecret(match, secrets)).join(separator)}\n`;
}

/**
 * As Hydra divides a line: at white space, whatever the quotes, and without its flags.
 *
 * @throws ConfigError `app.usage`
 */
export function divideLine(line: string, flags: Session["flags"]) {
  const parsed: ParsedArguments = parseArgv(
    line.split(/\s+/).filter((word) => word !== ""),
    flags,
  );
  if (parsed.apart !== undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `unrecognized arguments: ${parsed.apart.join(" ")}`,
    });
  if (parsed.flags.has("version"))
    throw new ConfigError({
      code: "app.usage",
      message: "--version asks for the version, whatever stands beside it",
    });
  const words = [...parsed.overrides, ...(parsed.rest ?? [])];
  const isNew = line.endsWith(" ");
  return {
    parsed,
    words: isNew ? words : words.slice(0, -1),
    word: isNew ? "" : (words.at(-1) ?? ""),
    isMultirun: parsed.flags.has("multirun"),
  };
}

/**
 * What Hydra's own completion offers for an override: files, else groups and options, and keys and
 * values of the config that the words before it compose. Where they do not compose there are no keys.
 *
 * @throws ConfigError `override.syntax` and what `checkWords` throws for the words; of interpolations
 * @see https://hydra.cc/docs/1.3/tutorials/basic/running_your_app/tab_completion/
 */
export function hydraMatches(tree: CompletionTree, word: string, cwd: string): readonly string[] {
  const files = matchFiles(word, cwd);
  if (files !== undefined) return sorted(files);
  const { matches, isOption } = matchGroups(tree.groups(), word);
  return isOption ? sorted(matches) : sorted([...matches, ...keysIfComposed(tree, word)]);
}

function keysIfComposed(tree: CompletionTree, word: string): readonly string[] {
  try {
    tree.checkWords();
    // Nothing needs to be composed for names that no key has: one with a slash or such a beginning.
    if (/^(?:[+~][^.=]*|[^.=]*\/[^.=]*)$/.test(word)) return [];
    return matchKeys(tree.config(), word, tree.context);
  } catch (error) {
    if (isConfigError(error) && /^(compose|override\.sweep)/.test(error.code)) return [];
    throw error;
  }
}

const sorted = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].sort(byCodePoint);

/** Where a script may have any name: the same for scripts of Node. */
const INTERPRETED_ANY =
  /^\s*(?:[\w\u0080-\uffff/]*python3?\s*[\w\u0080-\uffff/.-]*|(?:\S*\/)?node\s+\S+)\s*(.*)/;

/** Hydra's rules for Python and for programs, and the same for scripts of Node. */
const INTERPRETED =
  /^\s*(?:[\w\u0080-\uffff/]*python3?\s*[\w\u0080-\uffff/.]*|(?:\S*\/)?node\s+\S+)\s*(.*)/;
const PROGRAM = /^\s*[\w\u0080-\uffff\-=./]+\s*(.*)/;

/**
 * The arguments in a command line: without the program, or the interpreter and the script.
 * @throws ConfigError `app.flags` where no program stands
 */
export function stripProgram(line: string, { hyphensInScripts }: Dialect): string {
  const match = (hyphensInScripts ? INTERPRETED_ANY : INTERPRETED).exec(line) ?? PROGRAM.exec(line);
  if (match !== null) return match[1] ?? "";
  throw new ConfigError({ code: "app.flags", message: `Error parsing line '${line}'` });
}
