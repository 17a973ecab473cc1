import { fileProblem } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";

/** The error of something that was named and cannot be read, or is not what it should be. */
export const inputError = (name: string, why: string, hint?: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${name}: ${why}`,
    hint,
  });

/** The error of something that the system does not let us read. */
export const unreadableError = (name: string, cause: unknown): ConfigError =>
  new ConfigError({ code: "profile.input", message: `${name}: ${fileProblem(cause)}`, cause });

/** The error of a run's own file that reports are made from. */
export const goneError = (path: string): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${path} no longer exists: its reports cannot be rebuilt`,
  });
