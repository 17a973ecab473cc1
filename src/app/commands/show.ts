import type { ParsedArguments } from "../flags/parse-argv.ts";
import { type ConfigView, showConfig, showOrigins, showOriginsJson } from "../show-config.ts";
import { warn } from "../warn.ts";
import { type Command, EXIT_OK } from "./command.ts";

/** `--cfg job|hydra|all`, and what a program that only shows does without it. */
export const showCommand: Command = {
  isAsked: ({ flags }, { whenBare }) => flags.has("cfg") || whenBare === "show",
  execute: ({ composer, invocation, overrides, parsed }) => {
    const { root, warnings } = composer.compose(overrides);
    warn(warnings, invocation);
    const part = parsed.flags.get("package");
    const request = {
      root,
      // The flag's choices are the views.
      view: (parsed.flags.get("cfg") ?? "job") as ConfigView,
      resolve: parsed.flags.has("resolve"),
      ...(typeof part === "string" ? { package: part } : {}),
    };
    invocation.console.stdout(writerFor(parsed)(request, composer.context));
    return EXIT_OK;
  },
};

function writerFor({ flags }: ParsedArguments): typeof showConfig {
  if (!flags.has("origins")) return showConfig;
  return flags.has("json") ? showOriginsJson : showOrigins;
}
