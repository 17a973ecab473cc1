/** The override language for programs. */
import {
  type EvaluationOptions,
  type Override,
  parseOverride as readOverride,
  parseOverrides as readOverrides,
} from "./engine/overrides/index.ts";
import { checkOptions, fn, type OptionChecks, optional } from "./engine/values/check-options.ts";
import { type DialectName, dialectOption, withDialect } from "./engine/values/dialect.ts";

/** How overrides are parsed and their functions evaluated. */
export interface ParseOptions extends Pick<EvaluationOptions, "random"> {
  /** The version of Hydra whose override language is used. Default: 1.3. */
  readonly dialect?: DialectName;
}

const PARSE_OPTIONS: OptionChecks<ParseOptions> = { random: optional(fn), dialect: dialectOption };

/**
 * Parses one override and evaluates its functions.
 * @param index its position in the list of overrides, kept in the origin
 * @throws ConfigError `override.syntax` or `override.function`, with the span in its origin
 */
export function parseOverride(text: string, options: ParseOptions = {}, index = 0): Override {
  checkOptions("parseOverride", options, PARSE_OPTIONS);
  return readOverride(text, withDialect(options), index);
}

/** Parses a list of overrides; throws for the first invalid one. */
export function parseOverrides(
  texts: readonly string[],
  options: ParseOptions = {},
): readonly Override[] {
  checkOptions("parseOverrides", options, PARSE_OPTIONS);
  return readOverrides(texts, withDialect(options));
}
