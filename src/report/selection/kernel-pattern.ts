import { matchesGlob, parseGlob } from "../../text/glob.ts";
import { ConfigError } from "../../values/errors.ts";

/**
 * How users name kernels: `regex:EXPR` matches anywhere in a name, like ncu's own expressions;
 * a text with `*` or `?` is a glob for the whole name; any other text is the whole name.
 */
export interface KernelPattern {
  /** As written. */
  readonly text: string;
  readonly matches: (name: string) => boolean;
}

/** What an expression starts with. */
export const REGEX = "regex:";

/**
 * @param key the config key of the pattern, for messages
 * @throws ConfigError `profile.input` for an invalid expression
 */
export function parseKernelPattern(text: string, key: string): KernelPattern {
  if (text.startsWith(REGEX)) {
    const expression = regularExpression(text.slice(REGEX.length), text, key);
    return { text, matches: (name) => expression.test(name) };
  }
  if (!/[*?]/.test(text)) return { text, matches: (name) => name === text };
  const tokens = parseGlob(text);
  return { text, matches: (name) => matchesGlob(tokens, name) };
}

function regularExpression(source: string, text: string, key: string): RegExp {
  try {
    return new RegExp(source);
  } catch (cause) {
    throw new ConfigError({
      code: "profile.input",
      key,
      message: `${key}: '${text}' is not a regular expression: ${cause instanceof Error ? cause.message.replace(/^Invalid regular expression: /, "") : String(cause)}`,
      hint: "escape literal characters: regex:gemm\\(float\\); without regex:, * and ? are wildcards",
      cause,
    });
  }
}
