import type { CompositionWarning } from "../../compose/index.ts";
import { warn } from "../warn.ts";
import { type Command, EXIT_OK } from "./command.ts";

/** `--info TOPIC`: how the configuration is composed. */
export const infoCommand: Command = {
  isAsked: ({ flags }) => flags.has("info"),
  execute: async ({ composer, invocation, overrides, parsed }) => {
    const { openLook, TOPICS } = await import("../info/topics.ts");
    const look = openLook(composer, overrides);
    let warned: readonly CompositionWarning[] = [];
    const taken = () => {
      const composition = look.taken();
      if (warned !== composition.warnings) warn(composition.warnings, invocation);
      warned = composition.warnings;
      return composition;
    };
    const topic = TOPICS.find(({ name }) => name === parsed.flags.get("info"));
    for (const part of topic?.show({ ...look, taken }) ?? []) invocation.console.stdout(part);
    return EXIT_OK;
  },
};
