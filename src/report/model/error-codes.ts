/** The codes of errors about reports, with what each means. */
export const REPORT_ERRORS = {
  "profile.gate": "a condition of `--fail-on` is malformed, or cannot be checked",
  "profile.input": "a file cannot be read, or is not what it should be",
} as const;

/** A code of an error about reports. */
export type ReportErrorCode = keyof typeof REPORT_ERRORS;

declare module "../../engine/values/error-details.js" {
  interface ErrorCodes {
    readonly report: ReportErrorCode;
  }
}
