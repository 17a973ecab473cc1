import type { Session } from "../commands/command.ts";
import { type ParsedArguments, parseArgv } from "../flags/parse-argv.ts";
import { hydraMatches } from "./hydra-matches.ts";
import { stripProgram } from "./program-name.ts";
import { treeFor } from "./tree.ts";

/**
 * The answer to `-sc query=bash` as Hydra gives it, for those who ask as Hydra's own shell code does:
 * with the line in `COMP_LINE` and nothing else. Our own code hands on `COMP_WORDBREAKS`, too, which
 * bash does not export. All matches stand in one line; no secret is among them.
 *
 * @throws ConfigError for words that cannot be read
 */
export function hydraQuery(session: Session): string {
  const { composerFor, flags, invocation, parsed } = session;
  const divided = divideLine(stripProgram(invocation.env["COMP_LINE"] ?? ""), flags);
  const composer = composerFor({
    ...divided.parsed,
    flags: new Map([...parsed.flags, ...divided.parsed.flags]),
  });
  const tree = treeFor(composer, divided.words, divided.isMultirun ? "multirun" : "run");
  const matches = hydraMatches(tree, divided.word, invocation.cwd);
  const secrets = tree.secrets();
  const shown = matches.filter((match) => {
    const value = match.slice(match.indexOf("=") + 1);
    return !secrets.some((secret) => value.includes(secret));
  });
  return `${shown.join(" ")}\n`;
}

/** As Hydra divides a line: at white space, whatever the quotes, and without its flags. */
export function divideLine(line: string, flags: Session["flags"]) {
  const parsed: ParsedArguments = parseArgv(
    line.split(/\s+/).filter((word) => word !== ""),
    flags,
  );
  const words = [...parsed.overrides, ...(parsed.rest ?? [])];
  const isNew = line === "" || line.endsWith(" ") || words.length === 0;
  return {
    parsed,
    words: isNew ? words : words.slice(0, -1),
    word: isNew ? "" : (words.at(-1) ?? ""),
    isMultirun: parsed.flags.has("multirun"),
  };
}
