import { type CommandLine, type CommandOption, optionsOf } from "./command-line.ts";

/** The text of `COMMAND --help`. */
export function commandHelp(line: CommandLine): string {
  const options = [...optionsOf(line)];
  const dashes = Math.max(...options.map(([, { short = "" }]) => short.length));
  const rows = options.map(([name, option]) => ({
    label: labelOf(name, option, dashes),
    help: option.repeatable === true ? `${option.help} (repeatable)` : option.help,
  }));
  const width = Math.min(MAX_LABEL, Math.max(...rows.map(({ label }) => label.length)));
  const indent = " ".repeat(width + 4);
  const lines = rows.map(({ label, help }) => {
    const text = help.replaceAll("\n", `\n${indent}`);
    return label.length > width
      ? `  ${label}\n${indent}${text}`
      : `  ${label.padEnd(width)}  ${text}`;
  });
  return `${[
    `Usage: ${line.name} [options] ${line.takes.shown}`.trimEnd(),
    line.about,
    `Options:\n${lines.join("\n")}`,
    ...(line.epilogue === undefined ? [] : [line.epilogue]),
  ].join("\n\n")}\n`;
}

const MAX_LABEL = 34;

/** `-o, --output DIR`; long names stand below each other. */
function labelOf(name: string, { short, value, choices }: CommandOption, letters: number): string {
  const shown = choices?.join("|") ?? value;
  const alias = (short === undefined ? "" : `-${short}, `).padEnd(letters + 3);
  return `${alias}--${name}${shown === undefined ? "" : ` ${shown}`}`;
}
