/** The public function that shows an error to people. */
import { isError } from "../../foundation/system/builtin-types.ts";
import { checkOptions, optional, trueOrFalse, wrongArgument } from "./check-options.ts";
import { errorText } from "./error-text.ts";
import { type CodedError, isCodedError, isConfigError } from "./errors.ts";
import { lineColumn } from "./origin.ts";

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

/** The JSON document of an error for programs, with a line break at its end. */
export const errorJson = (error: unknown): string =>
  `${JSON.stringify({ version: 1, error: errorData(error) }, null, 2)}\n`;

function errorData(error: unknown) {
  if (!isCodedError(error) && !isConfigError(error))
    return { code: null, message: isError(error) ? error.message : String(error) };
  const { available, code, hint, key, message, nearest, origin, proposals } = error.details;
  const place =
    origin?.kind === "file"
      ? { file: origin.source.name, ...lineColumn(origin) }
      : origin?.kind === "override"
        ? { override: origin.text }
        : undefined;
  // Absent details are not written.
  return { code, message, key, place, available, nearest, hint, proposals };
}
