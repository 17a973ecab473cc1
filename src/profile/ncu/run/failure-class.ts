/** One way in which ncu fails: how its words tell it, and what helps. */
export interface FailureClass {
  readonly id:
    | "permission"
    | "lock"
    | "injection"
    | "connection"
    | "no_driver"
    | "driver_too_old"
    | "library"
    | "unsupported_gpu"
    | "gpu_mode"
    | "busy"
    | "clocks"
    | "unsupported_api"
    | "several_contexts"
    | "empty_range"
    | "capture_failed"
    | "memory"
    | "replay_mismatch"
    | "report_exists"
    | "disk"
    | "metrics"
    | "options"
    | "target"
    | "launch_failed"
    | "unknown"
    | "result_failed"
    | "application"
    | "no_match";
  /** Looked for in each of ncu's own lines. */
  readonly pattern: RegExp;
  /** What also has to stand in that line or one below it. */
  readonly further?: RegExp;
  /** @param further what that found */
  readonly message: (match: RegExpExecArray, further: RegExpExecArray | null) => string;
  readonly remedy: string;
  /** Whether every further run of ncu would fail alike, where ncu calls it an error. */
  readonly hopeless: boolean;
}
