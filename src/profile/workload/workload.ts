/**
 * A program to profile, ready to start: an argument vector (never a shell line), where and with
 * what it runs, and what its standard output is.
 */
export interface Workload {
  /** Short name for progress and reports, e.g. `shallow_resnet` or the program's base name. */
  readonly label: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Added to the environment that this process has. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * `forward`: a user's program, its output belongs on the terminal. `document`: the built-in
   * workload prints one JSON document, which is kept as a file.
   */
  readonly stdout: "forward" | "document";
  /** `cpu` or `cuda:N` where it is known before the run. */
  readonly device: string | null;
  /** Files that it reads: recorded with their hashes in `inputs.yaml`. */
  readonly inputFiles: readonly string[];
}

/** What the builder of a workload needs beside the config. */
export interface WorkloadContext {
  /** Where the user stands: relative paths are relative to it. */
  readonly cwd: string;
  /** `cpu` or `cuda:N`. */
  readonly device: string;
  /** Path of the built-in executable; empty when the workload does not need it. */
  readonly shallowResnet: string;
}
