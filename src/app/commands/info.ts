import { type Command, EXIT_OK } from "./command.ts";

/** `--info TOPIC`: how the configuration is composed. */
export const infoCommand: Command = {
  isAsked: ({ flags }) => flags.has("info"),
  execute: async (session) => {
    const { openLook, TOPICS } = await import("../info/topics.ts");
    const { invocation, overrides, parsed } = session;
    const topic = TOPICS.find(({ name }) => name === parsed.flags.get("info"));
    const look = openLook(() => session.composer, overrides);
    for (const { text } of topic?.show(look) ?? []) invocation.console.stdout(`${text}\n`);
    return EXIT_OK;
  },
};
