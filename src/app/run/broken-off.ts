import { shellQuote } from "../../text/shell-words.ts";
import { ConfigError } from "../../values/errors.ts";
import { isRefusalOfSystem } from "../errors/report-error.ts";
import { isRecorded } from "../sweep/record/sweep-record.ts";

/**
 * Adds to an error of the system that ended a sweep, such as a full disk or a directory that became read-only, how to resume the
 * sweep: finished jobs are not lost. Other errors are returned unchanged.
 */
export function brokenOff(error: unknown, directory: string, program: string): unknown {
  if (!isRefusalOfSystem(error)) return error;
  const shown = shellQuote(directory);
  return new ConfigError({
    code: "app.system",
    message: error.message,
    hint: isRecorded(directory)
      ? `finished jobs are recorded; fix this, then run the rest with ${program} --resume ${shown}, and failed jobs with --retry-failed ${shown}`
      : "no job has started; fix this, or choose another directory with hydra.sweep.dir=DIR",
    cause: error,
  });
}
