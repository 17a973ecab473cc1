import { ConfigError } from "../../values/errors.ts";
import { readSchema } from "../read-schema.ts";
import { type Command, EXIT_OK } from "./command.ts";

/** `--schema`: the JSON Schema that the program's config must fit. */
export const schemaCommand: Command = {
  isAsked: ({ flags }) => flags.has("schema"),
  execute: ({ invocation, options }) => {
    if (options.schema === undefined)
      throw new ConfigError({
        code: "app.unsupported",
        message: `--schema: ${options.name} declares no schema of its config`,
      });
    invocation.console.stdout(`${JSON.stringify(readSchema(options.schema), null, 2)}\n`);
    return EXIT_OK;
  },
};
