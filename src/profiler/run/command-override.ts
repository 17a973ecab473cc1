/** `-- PROG ARG...` as overrides of the config. */
import { quoted } from "../../engine/overrides/index.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { MISSING } from "../../engine/values/node.ts";

/**
 * Converts `-- PROG ARG...` to overrides, so that the saved config describes the whole run and can repeat it. Every
 * argument is kept as typed: it is quoted for the override language, and `${` is escaped, because a config would read
 * it as an interpolation. Only `${args.KEY}` stays an interpolation, unless a backslash precedes it, so that the jobs
 * of a sweep can have different arguments.
 *
 * @throws ConfigError `app.usage` without a program; `profile.unsupported` for `???`, the only text that a config
 * cannot contain, because it marks a missing value
 */
export function commandOverrides(argv: readonly string[]): readonly string[] {
  if (argv.length === 0)
    throw new ConfigError({
      code: "app.usage",
      message: "no program follows '--'",
      hint: "deep-profile [overrides] -- PROG ARG...",
    });
  if (argv.includes(MISSING))
    throw new ConfigError({
      code: "profile.unsupported",
      key: "workload.command",
      message: `the argument '${MISSING}' cannot be passed on: in a config it marks a missing value`,
      hint: "put the command line into a script and profile the script",
    });
  const list = argv.map((argument) => quoted(withArguments(argument), "'"));
  return ["workload=command", `workload.command=[${list.join(",")}]`];
}

/** Keys of the config for arguments of the workload's program; overrides add them without a `+`. */
export const ARGUMENT_KEYS = "args";

const REFERENCE = /(?<!\\)(?:\\\\)*\$\{args\.[\w.-]+\}/g;

function withArguments(argument: string): string {
  const texts = argument.split(REFERENCE);
  const references = argument.match(REFERENCE) ?? [];
  return texts
    .map((text, index) => `${escapeInterpolation(text)}${references[index] ?? ""}`)
    .join("");
}

/** A path as one value of the override language. */
export const overrideText = (text: string): string => quoted(escapeInterpolation(text), "'");

/** Backslashes are escapes only before `${`. */
const escapeInterpolation = (text: string): string =>
  text.replaceAll(
    /(?<!\\)(\\*)\$\{/g,
    (_, backslashes: string) => `${backslashes}${backslashes}\\\${`,
  );
