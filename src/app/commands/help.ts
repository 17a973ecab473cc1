import { helpText } from "../help.ts";
import { type Command, EXIT_OK, type Session } from "./command.ts";

/** `--help`: the program's groups and config. */
export const helpCommand: Command = {
  isAsked: ({ flags }) => flags.has("help"),
  execute: (session) => printHelp(session, "app"),
};

/** `--hydra-help`: the flags and Hydra's own groups. */
export const hydraHelpCommand: Command = {
  isAsked: ({ flags }) => flags.has("hydra-help"),
  execute: (session) => printHelp(session, "hydra"),
};

function printHelp(session: Session, about: "app" | "hydra"): number {
  const { composer, flags, invocation, overrides, parsed } = session;
  // Hydra's own help needs no primary config, and must work where there is a broken one.
  const composition = composer.compose(overrides, about === "hydra" ? { configName: null } : {});
  const request = {
    composition,
    repository: composer.repository,
    about,
    flags,
    resolve: parsed.flags.has("resolve"),
  };
  invocation.console.stdout(helpText(request, composer.context));
  return EXIT_OK;
}
