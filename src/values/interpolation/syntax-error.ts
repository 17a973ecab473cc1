import { ConfigError } from "../errors.ts";

/** A text that is not a valid interpolation; `at` is the offset in it of what was not expected. */
export function interpolationSyntaxError(text: string, at: number, why: string): ConfigError {
  const found = at < text.length ? `'${text.slice(at, at + 12)}'` : "the end";
  return new ConfigError({
    code: "interpolation.syntax",
    message: `Invalid interpolation '${text}': ${why} at ${found} (offset ${at})`,
  });
}
