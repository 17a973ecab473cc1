import { ConfigError } from "../../../values/errors.ts";

/** The error of a file that cannot be read as an export. */
export const invalid = (
  path: string,
  why: string,
  { cause, hint = HOW_TO_EXPORT }: { readonly cause?: unknown; readonly hint?: string } = {},
): ConfigError =>
  new ConfigError({
    code: "nsys.invalid",
    message: `${path} is not a readable nsys export: ${why}`,
    hint,
    ...(cause !== undefined && { cause }),
  });

const HOW_TO_EXPORT =
  "make one with: nsys export --type sqlite --force-overwrite=true REPORT.nsys-rep";
