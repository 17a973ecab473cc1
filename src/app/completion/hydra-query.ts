import { ConfigError } from "../../values/errors.ts";
import type { Session } from "../commands/command.ts";
import { type ParsedArguments, parseArgv } from "../flags/parse-argv.ts";
import { hydraMatches } from "./hydra-matches.ts";
import { stripProgram } from "./program-name.ts";
import { showsSecret } from "./secret.ts";
import { treeFor } from "./tree.ts";

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
  const divided = divideLine(stripProgram(invocation.env["COMP_LINE"] ?? ""), flags);
  // Of the flags in the line only --multirun counts.
  const composer = composerFor(parsed);
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
