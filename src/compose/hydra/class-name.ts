import type { ErrorCode } from "../../values/errors.ts";

/**
 * The OmegaConf exception that stands for a code. Hydra prints the class in the first line of a
 * composition error, and that line is what people search for.
 */
const CLASS_NAMES: Partial<Record<ErrorCode, string>> = {
  "key.invalid_type": "KeyValidationError",
  "key.not_found": "ConfigKeyError",
  "value.missing": "MissingMandatoryValue",
  "value.wrong_type": "ValidationError",
  "value.readonly": "ReadonlyConfigError",
  "value.struct": "ConfigKeyError",
  "merge.incompatible": "ConfigTypeError",
  "interpolation.syntax": "GrammarParseError",
  "interpolation.not_found": "InterpolationKeyError",
  "interpolation.cycle": "InterpolationResolutionError",
  "interpolation.to_missing": "InterpolationToMissingValueError",
  "resolver.unknown": "UnsupportedInterpolationType",
  "resolver.failed": "InterpolationResolutionError",
};

export const hydraClassName = (code: ErrorCode): string => CLASS_NAMES[code] ?? "ConfigError";
