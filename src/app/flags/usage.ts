import type { Flag } from "./flag.ts";
import { flagLabel, flagValueName } from "./flag.ts";

const COLUMNS = 80;

/** The usage text of a program, wrapped and ordered as argparse does. Ends with a line break. */
export function usageText(
  program: string,
  flags: readonly Flag[],
  positionals = "[overrides ...]",
): string {
  const lead = `usage: ${program} `;
  const optional = wrap(flags.map(usagePart), COLUMNS - 2 - lead.length);
  const lines = [...optional, positionals];
  return `${lead}${lines.join(`\n${" ".repeat(lead.length)}`)}\n`;
}

/** One flag per line with its help, for `--help`. */
export function flagsHelp(flags: readonly Flag[]): string {
  const lines = flags
    .map((flag) => {
      const choices = flag.choices === undefined ? "" : ` [${flag.choices.join("|")}]`;
      const refused = flag.refusal === undefined ? "" : " (not in this version)";
      return `${flagLabel(flag).replace("/", ",")} : ${flag.help}${choices}${refused}`;
    })
    .join("\n");
  return `${lines}\nOverrides : Any key=value arguments to override config values (use dots for nested=overrides)`;
}

function usagePart(flag: Flag): string {
  const [name] = flag.names;
  switch (flag.takes) {
    case "nothing":
      return `[${name}]`;
    case "value":
      return `[${name} ${flagValueName(flag)}]`;
    case "optional-value":
      return `[${name} [${flagValueName(flag)}]]`;
    case "overrides":
      return `[${name} MORE [MORE ...]]`;
  }
}

/** Greedy filling; a part that is wider than the line stands alone. */
function wrap(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + part.length <= width)
      lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(part);
  }
  return lines;
}
