import { type Command, EXIT_OK } from "./command.ts";

/** `--shell-completion`: installs completion in a shell, and answers the shell then. */
export const completionCommand: Command = {
  isAsked: ({ flags }) => flags.has("shell-completion"),
  execute: async (session) => {
    const { runCompletion } = await import("../completion/run.ts");
    await runCompletion(session);
    return EXIT_OK;
  },
};
