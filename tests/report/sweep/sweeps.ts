/** Sweeps for tests: jobs with the reports of small recordings. */

import {
  buildSweepReport,
  type JobInput,
  jobReport,
} from "../../../src/report/sweep/build-sweep-report.ts";
import type { SweepWork } from "../../../src/report/sweep/sweep-types.ts";
import { bundleOf, repeated } from "../bundles.ts";

/** A job whose region `work` takes so many milliseconds, in each of five runs, once it is not null. */
export function jobOf(
  name: string,
  overrides: readonly string[],
  ms: number | null,
  label = "work",
  runs = 5,
): JobInput {
  if (ms === null) return { name, overrides, result: { report: null, problem: "it failed" } };
  const end = 1e6 * ms + 2000;
  const [report] = bundleOf([
    {
      ranges: [
        { name: label, start: 0, end },
        { name: "inner", start: 10, end: 20 },
      ],
      kernels: [{ name: "gemm", launch: 15, ns: 1e6 * ms }],
    },
  ]).reports;
  if (report === undefined) throw new Error("a bundle has a report");
  return {
    name,
    overrides,
    result: { report: jobReport(runs === 1 ? report : repeated(report, 0.001, runs)) },
  };
}

export const sweepOf = (jobs: readonly JobInput[], work?: SweepWork) =>
  buildSweepReport(jobs, {
    collector: "recorder",
    generatedAt: new Date("2026-01-31T12:00:00.000Z"),
    ...(work !== undefined && { work }),
  });

/** Time is proportional to the batch, and squared in the other parameter. */
export const grid = sweepOf(
  [1, 2].flatMap((size) =>
    [1, 2, 4].map((batch, at) =>
      jobOf(
        String((size - 1) * 3 + at),
        ["model=tiny", `infer.batch_size=${batch}`, `+size=${size}`],
        batch * size ** 2,
      ),
    ),
  ),
);
