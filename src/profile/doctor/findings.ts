/** What `deep-profile doctor` reports, as data: also what `--json` prints. */
export interface Findings {
  /** Of this package. */
  readonly version: string;
  readonly checks: readonly Check[];
  readonly collectors: readonly Verdict[];
}

/** Something that is installed, or set, or not. */
export interface Check {
  readonly name: string;
  /** `missing` is no failure: hardly anybody needs everything. */
  readonly state: "ok" | "warning" | "missing";
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** What stands in the way of a check that would be ok otherwise. */
export type Problem = Required<Pick<Check, "detail" | "hint">>;

/** Whether a way to profile works on this machine. */
export interface Verdict {
  readonly name: "recorder" | "recorder with kernels" | "nsys" | "ncu";
  readonly works: "yes" | "partly" | "no";
  readonly detail: string;
}
