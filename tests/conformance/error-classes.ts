import type { ErrorCode } from "../../src/engine/values/errors.ts";

/**
 * Which of our codes may stand where Hydra raises an exception class. This is the one table that
 * says what "the class corresponds" means; suites do not decide it for themselves.
 */
const CODES_OF_CLASS: Readonly<Record<string, readonly ErrorCode[]>> = {
  // PyYAML. Where its scanner and where its parser gives up is a matter of its own construction.
  ReaderError: ["yaml.syntax"],
  ScannerError: ["yaml.syntax"],
  ParserError: ["yaml.syntax"],
  ComposerError: ["yaml.syntax", "compose.invalid_config"],
  ConstructorError: [
    "yaml.unsupported_tag",
    "yaml.invalid_value",
    "yaml.duplicate_key",
    "yaml.syntax",
  ],
  // Half a pair of surrogates, which libyaml is not given.
  UnicodeEncodeError: ["yaml.syntax", "yaml.invalid_value"],
  // A path of the other kind of system.
  NotImplementedError: ["yaml.unsupported_tag"],

  // OmegaConf
  KeyValidationError: ["key.invalid_type"],
  UnsupportedValueType: ["yaml.unsupported_tag", "yaml.invalid_value", "value.wrong_type"],
  // Also of what a sweep has no text for.
  ValidationError: ["value.wrong_type", "override.function"],
  ReadonlyConfigError: ["value.readonly"],
  MissingMandatoryValue: ["value.missing"],
  ConfigAttributeError: ["value.struct", "key.not_found", "key.invalid_type"],
  ConfigKeyError: ["value.struct", "key.not_found", "key.invalid_type", "interpolation.not_found"],
  ConfigIndexError: ["key.not_found"],
  ConfigTypeError: ["merge.incompatible", "value.wrong_type", "key.invalid_type"],
  GrammarParseError: ["interpolation.syntax"],
  InterpolationKeyError: ["interpolation.not_found"],
  InterpolationToMissingValueError: ["interpolation.to_missing"],
  InterpolationResolutionError: ["resolver.failed", "interpolation.cycle", "value.wrong_type"],
  UnsupportedInterpolationType: ["resolver.unknown"],
  // The corpus' own name for `select` having found nothing.
  NoSuchKey: ["key.not_found"],

  // Hydra
  OverrideParseException: ["override.syntax", "override.function"],
  HydraException: [
    "override.syntax",
    "override.function",
    "override.sweep_not_allowed",
    "compose.missing_config",
    "compose.override_failed",
  ],
  ConfigLoadError: ["compose.invalid_config"],
  MissingConfigException: ["compose.missing_config", "compose.missing_option"],
  ConfigCompositionException: [
    "compose.missing_config",
    "compose.missing_option",
    "compose.invalid_defaults",
    "compose.override_failed",
    "compose.unused_override",
    "compose.ambiguous_override",
    "compose.invalid_config",
    "override.sweep_not_allowed",
    "key.invalid_type",
    "merge.incompatible",
  ],

  // Python's own classes that Hydra raises on purpose
  OSError: ["compose.invalid_config", "compose.missing_config"],
  // Of completion: argparse's refusal, and a line without a program.
  // Words that argparse has no place for may be refused for what they are.
  SystemExit: ["app.usage", "override.syntax"],
  RuntimeError: ["app.flags"],
  // A range up to nan, and one up to infinity.
  InvalidOperation: ["override.function"],
  OverflowError: ["override.function"],
  ValueError: [
    "override.wrong_value",
    "key.invalid_type",
    "yaml.invalid_value",
    "value.wrong_type",
    "merge.incompatible",
    "override.syntax",
    "override.function",
    "compose.invalid_defaults",
    "compose.override_failed",
    "compose.invalid_config",
    "compose.unsupported",
    "app.usage",
    "app.unsupported",
  ],
};

/** Classes that escape from Python's internals: any coded error is a right answer there. */
const ACCIDENTS: ReadonlySet<string> = new Set([
  "TypeError",
  "AttributeError",
  "KeyError",
  "IndexError",
  "RecursionError",
  "AssertionError",
]);

export const isAccident = (exceptionClass: string): boolean => ACCIDENTS.has(exceptionClass);

/** Whether our code is the counterpart of Hydra's class. An unknown class is a gap in the table. */
export function codeFitsClass(code: ErrorCode, exceptionClass: string): boolean {
  const codes = CODES_OF_CLASS[exceptionClass];
  if (codes === undefined)
    throw new Error(`tests/conformance/error-classes.ts has no entry for ${exceptionClass}`);
  return codes.includes(code);
}
