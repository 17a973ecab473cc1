import { explainText } from "../explain-text.ts";
import { type Command, EXIT_OK } from "./command.ts";

/** `--explain KEY`: where a value comes from. */
export const explainCommand: Command = {
  isAsked: ({ flags }) => flags.has("explain"),
  execute: ({ composer, invocation, overrides, parsed }) => {
    const key = String(parsed.flags.get("explain"));
    invocation.console.stdout(explainText(composer.compose(overrides), key));
    return EXIT_OK;
  },
};
