import type { Command } from "./command.ts";

/** What a program is for: its task, once or as a sweep. Loaded when something runs. */
export const runCommand: Command = {
  isAsked: () => true,
  execute: async (session) => (await import("../run/run-task.ts")).runTask(session),
};
