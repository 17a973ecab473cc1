import { parseInterpolation } from "./parser.ts";

/**
 * Refuses a text whose interpolations have broken syntax, as OmegaConf does where a value enters a
 * config. Before its grammar it tries a pattern, which takes some texts that the grammar refuses
 * (`${:x}`, line breaks within the braces): they may stand in a config, and fail once they are
 * resolved. Most interpolations are such, and are not parsed before that.
 * @param parse what refuses a text by the grammar
 * @throws ConfigError `interpolation.syntax`
 */
export function checkSyntax(text: string, parse: () => unknown = () => parseInterpolation(text)) {
  if (!LOOKS_COMMON.test(text)) parse();
}

/** What Python's `\s` matches among the ASCII characters. */
const BLANKS = "[ \\t-\\r]*";
const REFERENCE = "\\.*(?:[$\\w]+|\\[[$\\w]+\\])(?:\\.[$\\w]+|\\[[$\\w]+\\])*";
const NAME = "[A-Za-z_][\\w-]*(?:\\.[A-Za-z_][\\w-]*)*";
const ARGUMENT = "[\\w/+.$%*@?|-]+";
const CALL = `(?:${NAME}${BLANKS})?:${BLANKS}${ARGUMENT}(?:${BLANKS},${BLANKS}${ARGUMENT})*`;
const LITERAL = "(?:[^$]|\\$(?!\\{))*";
const LOOKS_COMMON = new RegExp(
  `^${LITERAL}(?:\\$\\{${BLANKS}(?:${REFERENCE}|${CALL})${BLANKS}\\}${LITERAL})+$`,
);
