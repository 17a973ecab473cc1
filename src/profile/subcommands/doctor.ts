import { type CommandLine, NO_POSITIONALS } from "../../command-line/command-line.ts";
import { subcommand } from "./subcommand.ts";

export const COMMAND: CommandLine = {
  name: "deep-profile doctor",
  takes: NO_POSITIONALS,
  about: `Shows in ten lines what is installed, what is allowed, and which ways to profile will work on this
machine, with the remedy if something is missing. It changes nothing.`,
  options: {
    verbose: { short: "v", help: "one line per finding, with its remedy below" },
    json: { help: "print the findings as JSON" },
  },
  epilogue: "Exit code: 0 some way to profile works, 1 none does, 2 wrong usage.",
};

/** `deep-profile doctor`. */
export const runDoctor = subcommand(COMMAND, async (command, io) =>
  (await import("./show-doctor.ts")).showDoctor(command, io),
);
