/** Completion for Hydra's own shell code, with exactly Hydra's answers. */

import type { Dialect } from "../../../engine/values/dialect.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import type { ParsedArguments, Session } from "../../job/session.ts";
import { parseArgv, parseIntermixed } from "../arguments/parse-argv.ts";
import { showsSecret, treeFor } from "./completion-tree.ts";
import { matchFiles } from "./file-candidates.ts";
import { hydraMatches } from "./override.ts";

/**
 * Hydra's answer to `-sc query=SHELL`, for requests of Hydra's own shell code, which passes only the line in
 * `COMP_LINE`. Our shell code passes the words after `--`, or `COMP_WORDBREAKS`, which bash does not export. Secrets
 * are not among the matches.
 *
 * @throws ConfigError for words that cannot be parsed, and `app.usage` for those that argparse would not accept
 */
export function hydraQuery(session: Session, separator: string): string {
  const { composerFor, flags, invocation, parsed } = session;
  // Of the line's flags, only --multirun matters.
  const composer = composerFor(parsed);
  const { dialect } = composer.context;
  const line = stripProgram(invocation.env["COMP_LINE"] ?? "", dialect);
  const divided = divideLine(line, flags, dialect);
  const tree = treeFor(composer, divided.words, divided.isMultirun ? "multirun" : "run");
  const matches = hydraMatches(tree, divided.word, (word) => matchFiles(word, invocation.cwd));
  const secrets = tree.secrets();
  return `${matches.filter((match) => !showsSecret(match, secrets)).join(separator)}\n`;
}

/**
 * Splits a line as Hydra does, at white space regardless of quotes, and removes its flags.
 *
 * @throws ConfigError `app.usage`
 */
export function divideLine(line: string, flags: Session["flags"], { mixesFlags }: Dialect) {
  const parse = mixesFlags ? parseIntermixed : parseArgv;
  const parsed: ParsedArguments = parse(
    line.split(/\s+/).filter((word) => word !== ""),
    flags,
  );
  if (parsed.apart !== undefined && !mixesFlags)
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

/** The rule of dialects that allow any script name, extended to scripts of Node. */
const INTERPRETED_ANY =
  /^\s*(?:[\w\u0080-\uffff/]*python3?\s*[\w\u0080-\uffff/.-]*|(?:\S*\/)?node\s+\S+)\s*(.*)/;

/** Hydra's rule for Python and for programs, extended to scripts of Node. */
const INTERPRETED =
  /^\s*(?:[\w\u0080-\uffff/]*python3?\s*[\w\u0080-\uffff/.]*|(?:\S*\/)?node\s+\S+)\s*(.*)/;
const PROGRAM = /^\s*[\w\u0080-\uffff\-=./]+\s*(.*)/;

/**
 * The arguments in a command line, without the program, or the interpreter and the script.
 *
 * @throws ConfigError `app.flags` if the line has no program
 */
export function stripProgram(line: string, { hyphensInScripts }: Dialect): string {
  const match = (hyphensInScripts ? INTERPRETED_ANY : INTERPRETED).exec(line) ?? PROGRAM.exec(line);
  if (match !== null) return match[1] ?? "";
  throw new ConfigError({ code: "app.flags", message: `Error parsing line '${line}'` });
}
