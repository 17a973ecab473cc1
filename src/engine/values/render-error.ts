/** The public function that shows an error to people. */
import { checkOptions, optional, trueOrFalse, wrongArgument } from "./check-options.ts";
import { errorText } from "./error-text.ts";
import { type CodedError, isCodedError } from "./errors.ts";

/** How an error is shown. */
export interface RenderOptions {
  /** Colour only when the caller knows that its output is a terminal. */
  readonly color?: boolean;
}

/**
 * The text of an error for people: the message, the place with an excerpt and carets, the nearest name, what is
 * available, and a hint.
 *
 * @throws ConfigError `value.wrong_type` for what is no error of ours, and unknown options
 */
export function renderError(error: CodedError, options: RenderOptions = {}): string {
  if (!isCodedError(error)) throw wrongArgument("renderError", "the error", "a ConfigError", error);
  checkOptions<RenderOptions>("renderError", options, { color: optional(trueOrFalse) });
  return errorText(error.details, options.color === true);
}
