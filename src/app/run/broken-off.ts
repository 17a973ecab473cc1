import { shellQuote } from "../../shell-quote.ts";
import { ConfigError } from "../../values/errors.ts";
import { isRefusalOfSystem } from "../errors/report-error.ts";
import { isRecorded } from "../sweep/record/sweep-record.ts";

/**
 * What ended a sweep, with how to go on where it is a disk that is full, or a directory that may not be written any more: nothing
 * that is done is lost. Any other error is as it was.
 */
export function brokenOff(error: unknown, directory: string, program: string): unknown {
  if (!isRefusalOfSystem(error)) return error;
  return new ConfigError({
    code: "app.system",
    message: error.message,
    hint: isRecorded(directory)
      ? `what is done is recorded; once this is mended, ${program} --resume ${shellQuote(directory)} runs the rest`
      : "no job has started; mend this, or choose another directory with hydra.sweep.dir=DIR",
    cause: error,
  });
}
