import type { Command } from "./command.ts";

/** `--dry-run`: what would run, where, with which config; makes nothing. */
export const dryRunCommand: Command = {
  isAsked: ({ flags }) => flags.has("dry-run"),
  execute: async (session) => (await import("../run/dry-run.ts")).dryRun(session),
};
