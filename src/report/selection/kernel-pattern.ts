import { matchesGlob, parseGlob } from "../../text/glob.ts";
import { ConfigError } from "../../values/errors.ts";

/**
 * How kernels are named by users: `regex:EXPR` matches anywhere in a name, as ncu's own expressions
 * do; a text with `*` or `?` is a glob over the whole name; any other is the whole name.
 */
export interface KernelPattern {
  /** As written. */
  readonly text: string;
  readonly matches: (name: string) => boolean;
}

/** What an expression starts with. */
export const REGEX = "regex:";

/**
 * @param key the config key that the pattern stands at, for messages
 * @throws ConfigError `profile.input` for an expression that is none
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
      message: `${key}: '${text}' is no regular expression: ${cause instanceof Error ? cause.message.replace(/^Invalid regular expression: /, "") : String(cause)}`,
      hint: "escape what is meant literally: regex:gemm\\(float\\); without regex:, * and ? are wildcards",
      cause,
    });
  }
}
