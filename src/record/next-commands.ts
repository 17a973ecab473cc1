import { shellQuote } from "../text/shell-words.ts";

/** What `hydraconf sweep` does with a sweep that is there, in a line each. */
export const SWEEP_ACTIONS = {
  status: "shows the state of its jobs",
  wait: "waits for its end; returns the sweep's exit code",
  cancel: "ends its running jobs; --resume continues later",
  collect: "writes its results as a table: JSON, CSV, Markdown",
} as const;

export type SweepAction = keyof typeof SWEEP_ACTIONS;

/** @param hydraconf what starts that command, as the user would type it */
export const nextCommand = (
  action: SweepAction,
  directory: string,
  hydraconf = "hydraconf",
): string => `${hydraconf} sweep ${action} ${shellQuote(directory)}`;

/** The commands to go on with, a line each. */
export function nextCommands(
  directory: string,
  actions: readonly SweepAction[] = ["status", "wait", "cancel", "collect"],
  hydraconf = "hydraconf",
): string {
  const commands = actions.map((action) => nextCommand(action, directory, hydraconf));
  const width = Math.max(...commands.map(({ length }) => length));
  return actions
    .map(
      (action, index) => `  ${(commands[index] ?? "").padEnd(width)}   ${SWEEP_ACTIONS[action]}\n`,
    )
    .join("");
}
