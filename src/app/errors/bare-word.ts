import { shellQuote } from "../../text/shell-words.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import type { Flag } from "../flags/flag.ts";

/**
 * Adds to the error about an argument without `=` what was meant by it: a flag without its dashes (`help`, `cfg job`), or
 * an override that was typed as two words (`lr 0.3`, `lr = 0.3`). Other errors are returned unchanged.
 */
export function withWhatWasMeant(
  error: unknown,
  argv: readonly string[],
  flags: readonly Flag[],
): unknown {
  if (!isConfigError(error) || error.code !== "override.syntax") return error;
  const { hint, origin } = error.details;
  if (origin?.kind !== "override" || !/^[A-Za-z_][\w.-]*$/.test(origin.text)) return error;
  const word = origin.text;
  const isFlag = flags.some(({ names }) => names.includes(`--${word}`));
  const meant = isFlag ? `; the flag is --${word}` : asOverride(word, argv);
  return meant === undefined
    ? error
    : new ConfigError({ ...error.details, hint: `${hint ?? ""}${meant}` });
}

/** The key with the word behind it, which may be `0.3`, `= 0.3` or `=0.3`. */
function asOverride(word: string, argv: readonly string[]): string | undefined {
  const [next = "", last = ""] = argv.slice(argv.indexOf(word) + 1);
  const value = next === "=" ? last : next.replace(/^=/, "");
  if (value === "" || /^-(?![\d.])|=/.test(value)) return undefined;
  return `: ${shellQuote(`${word}=${value}`)}`;
}
