import { agreeing } from "../../../text/plural.ts";
import { ConfigError } from "../../../values/errors.ts";

/**
 * The error of a table of ncu that results cannot be read from.
 *
 * @param columns what it lacks
 */
export const lackingError = (name: string, columns: readonly string[]): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${name} is a table of ncu's results that lacks the required ${agreeing(columns.length, "column", "columns")} ${columns.join(", ")}`,
    hint: "none of them may be missing, in whatever order: ncu --import FILE.ncu-rep --csv --page raw --print-units base prints them all",
  });
