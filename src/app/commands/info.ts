import { ConfigError } from "../../values/errors.ts";
import { TOPICS } from "../info/topics.ts";
import { type Command, EXIT_OK } from "./command.ts";

/** `--info TOPIC`: how the configuration is composed. */
export const infoCommand: Command = {
  isAsked: ({ flags }) => flags.has("info"),
  execute: ({ composer, invocation, overrides, parsed }) => {
    const name = parsed.flags.get("info");
    const topic = TOPICS.find((candidate) => candidate.name === name);
    if (topic === undefined)
      throw new ConfigError({
        code: "app.unsupported",
        message: `--info ${name}: lists Python's plugins, of which there are none here`,
        available: TOPICS.map((candidate) => candidate.name),
      });
    invocation.console.stdout(topic.show(composer, overrides));
    return EXIT_OK;
  },
};
