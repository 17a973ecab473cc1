/** The codes of errors of the profiler, with what each means. */
export const PROFILER_ERRORS = {
  "profile.chip": "NVIDIA's library does not know the chip",
  "profile.device": "there is no such device",
  "profile.label_rule": "a rule for labels is malformed",
  "profile.metric": "no chip has the metric",
  "profile.ncu_option": "an option of ncu that it does not have, or that cannot be used here",
  "profile.nsys_option": "an option of nsys that it does not have, or that cannot be used here",
  "profile.program": "there is no program to profile, or it cannot be started",
  "profile.stopped": "a signal ended the command",
  "profile.unsupported": "settings that cannot be used together or on this machine",
} as const;

/** The codes of `ToolError` for the tools that ship with us; others may have more. */
export const TOOL_ERRORS = {
  "nsys.not_found": "nsys is not installed",
  "nsys.failed": "nsys failed",
  "nsys.invalid": "an export of nsys cannot be read",
  "recording.invalid": "a recording is damaged",
  "recording.not_found": "there are no recordings",
  "profile.collector": "a collector failed",
  "profile.metric_library":
    "NVIDIA's library of metrics cannot be used, or its answer cannot be true",
  "profile.metric_library_version": "NVIDIA's library of metrics is too old",
  "profile.ncu": "ncu is not installed, or failed",
  "profile.tool": "a tool failed",
  "profile.native_build": "the native part could not be built",
} as const;

/** A code of an error of the profiler. */
export type ProfilerErrorCode = keyof typeof PROFILER_ERRORS;

declare module "../../engine/values/error-details.js" {
  interface ErrorCodes {
    readonly profiler: ProfilerErrorCode;
  }
}
