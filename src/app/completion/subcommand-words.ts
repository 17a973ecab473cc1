import type { SubcommandLine } from "../subcommand.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { pathsAt } from "./flags.ts";

/**
 * How a word of a subcommand's line may go on: its actions, options, their choices, and files.
 *
 * @param before what stands between the subcommand and the word
 */
export function completeSubcommand(
  line: SubcommandLine | undefined,
  { word, before }: { readonly word: string; readonly before: readonly string[] },
  cwd: string,
): readonly Candidate[] {
  const optionOf = (text = "") =>
    text.startsWith("--") ? line?.options[text.slice(2)] : undefined;
  const takesNext = (text = "") => optionOf(text)?.value !== undefined;
  if (!word.startsWith("-")) {
    const last = before.at(-1);
    const isFirst = before.every((text, at) => text.startsWith("-") || takesNext(before[at - 1]));
    const actions = isFirst ? line?.actions : undefined;
    const offered = takesNext(last)
      ? optionOf(last)?.choices?.map((choice) => candidate(choice))
      : actions && Object.entries(actions).map(([name, help]) => candidate(name, help));
    return offered === undefined ? pathsAt(word, cwd) : matching(word, offered);
  }
  const [name = "", value] = word.split("=", 2);
  if (value !== undefined)
    return matching(
      word,
      (optionOf(name)?.choices ?? []).map((choice) => candidate(`${name}=${choice}`)),
    );
  const options = Object.entries({ ...line?.options, help: { help: "print its help" } });
  return matching(
    word,
    options.map(([long, { help }]) => candidate(`--${long}`, help)),
  );
}
