/** The errors of profiling tools. */
import { CodedError, type ErrorDetails } from "../../engine/values/errors.ts";

/** An error of a tool as data: `renderError` formats it like a `ConfigError`. */
export interface ToolErrorDetails extends ErrorDetails<string> {
  /** Name of the tool, e.g. `ncu`; `native build` for the compilers of the native part. */
  readonly tool: string;
}

/**
 * An error of a profiling tool: it is not installed, it failed, or its output cannot be read. Its codes are
 * `nsys.not_found`, `nsys.failed`, `nsys.invalid`, `recording.invalid`, `recording.not_found`, `profile.collector`,
 * `profile.ncu`, `profile.tool` and `profile.native_build`, and those of tools beyond the built-in ones.
 */
export class ToolError extends CodedError {
  override readonly name = "ToolError";
  readonly tool: string;

  /** Public, so that other tools can show their errors in the same form. */
  constructor({ tool, ...details }: ToolErrorDetails) {
    super(details);
    this.tool = tool;
  }
}
