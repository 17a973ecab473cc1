import { CodedError, type ErrorDetails } from "../../values/errors.ts";

/** What went wrong in a tool, as data: `renderError` makes a text of it, as of a `ConfigError`. */
export interface ToolErrorDetails extends ErrorDetails<string> {
  /** Name of the tool, e.g. `ncu`; `native build` for the compilers of the native part. */
  readonly tool: string;
}

/**
 * An error of a tool that profiles: it is not installed, it failed, or what it wrote cannot be read. Its codes are
 * `nsys.not_found`, `nsys.failed`, `nsys.invalid`, `recording.invalid`, `recording.not_found`, `profile.collector`,
 * `profile.ncu`, `profile.tool` and `profile.native_build`, and those of tools beyond the built-in ones.
 */
export class ToolError extends CodedError {
  override readonly name = "ToolError";
  readonly tool: string;

  /** For tools that want their errors shown like ours. */
  constructor({ tool, ...details }: ToolErrorDetails) {
    super(details);
    this.tool = tool;
  }
}
