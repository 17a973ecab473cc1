import type { SubcommandLine } from "../subcommand.ts";
import { type Candidate, candidate, matching } from "./candidate.ts";
import { pathsAt } from "./flags.ts";

/** How a word of a subcommand's line may go on: its actions, options, their choices, and files. */
export function completeSubcommand(
  line: SubcommandLine | undefined,
  { word, isFirst }: { readonly word: string; readonly isFirst: boolean },
  cwd: string,
): readonly Candidate[] {
  if (isFirst && line?.actions !== undefined && !word.startsWith("-"))
    return matching(
      word,
      Object.entries(line.actions).map(([name, help]) => candidate(name, help)),
    );
  if (!word.startsWith("-")) return pathsAt(word, cwd);
  const [name = "", value] = word.split("=", 2);
  const option = line?.options[name.slice(2)];
  if (value !== undefined)
    return matching(
      word,
      (option?.choices ?? []).map((choice) => candidate(`${name}=${choice}`)),
    );
  const options = Object.entries({ ...line?.options, help: { help: "print its help" } });
  return matching(
    word,
    options.map(([long, { help }]) => candidate(`--${long}`, help)),
  );
}
