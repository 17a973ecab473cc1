import { explain } from "../../compose/index.ts";
import { ConfigError } from "../../values/errors.ts";
import { nearestKey } from "../../values/key-path.ts";
import { renderExplanation } from "../show/explain-text.ts";
import { explanationJson } from "../show/value-json.ts";
import { type Command, EXIT_OK } from "./command.ts";

/** `--explain KEY`: where a value comes from. */
export const explainCommand: Command = {
  isAsked: ({ flags }) => flags.has("explain"),
  execute: ({ composer, invocation, overrides, parsed }) => {
    const key = String(parsed.flags.get("explain"));
    const composition = composer.compose(overrides);
    const explanation = explain(composition, key);
    if (explanation === undefined)
      throw new ConfigError({
        code: "key.not_found",
        message: `Key '${key}' not found in config`,
        key,
        ...nearestKey(composition.root, key),
      });
    const isJson = parsed.flags.has("json");
    invocation.console.stdout(
      isJson ? explanationJson(explanation) : `${renderExplanation(explanation)}\n`,
    );
    return EXIT_OK;
  },
};
