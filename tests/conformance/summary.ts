import type { FileResult } from "./replay.ts";

/** The verdict on a whole run. */
export interface Summary {
  readonly ok: boolean;
  readonly cases: number;
  readonly passed: number;
  readonly failed: number;
  readonly accepted: number;
  /** Why the run failed beside its failed cases. */
  readonly problems: readonly string[];
}

/**
 * @param selective whether `--only` chose the files: files without a suite then do not fail the
 * run, unless nothing at all was replayed.
 */
export function summarize(files: readonly FileResult[], selective: boolean): Summary {
  const replayed = files.filter(({ suite }) => suite !== null);
  const sum = (count: (file: FileResult) => number) =>
    replayed.reduce((total, file) => total + count(file), 0);
  const problems = files.flatMap(({ path, problems: own }) =>
    own.map((text) => `${path}: ${text}`),
  );
  const cases = sum((file) => file.cases);
  if (cases === 0) problems.push("no case was replayed");
  if (!selective)
    for (const { path } of files.filter(({ suite }) => suite === null))
      problems.push(`${path}: no suite yet`);
  const failed = sum((file) => file.failures.length);
  return {
    ok: failed === 0 && problems.length === 0,
    cases,
    passed: sum((file) => file.passed.length),
    failed,
    accepted: sum((file) => file.accepted.length),
    problems,
  };
}

/** What `--json` writes. */
export function toJson(corpus: string, files: readonly FileResult[], summary: Summary): object {
  return {
    corpus,
    ...summary,
    files: files.map(({ passed, failures, accepted, milliseconds, ...file }) => ({
      ...file,
      passed: passed.length,
      milliseconds: Math.round(milliseconds),
      failures: failures.map(({ case: { id }, outcome }) => ({
        id,
        why: outcome.why,
        expected: outcome.expected,
        actual: outcome.actual,
      })),
      accepted: accepted.map(({ case: { id }, reason, outcome }) => ({
        id,
        reason,
        why: outcome.why,
      })),
    })),
  };
}
