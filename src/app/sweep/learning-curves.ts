/** The learning curves of a sweep's jobs: what they reported while they ran, as a file beside the tables. */
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { getOrCreate, once } from "../../foundation/system/get-or-create.ts";
import { count, fits, listOf, type Shape, text } from "../../foundation/system/shape.ts";
import { METRICS_FILE, metricsIn, pointOf } from "../job/metrics.ts";
import type { SweepRow } from "../job/options.ts";
import { asideOf } from "../job/run-directory.ts";
import { sweepFolder } from "../record/layout.ts";
import { thinnedCurve } from "./page/build-page-data.ts";
import type { JobCurves, LearningCurve } from "./page/curve-types.ts";

/** A line for each job that reported metrics; absent if none did. */
const CURVES_FILE = "sweep-curves.jsonl";

/** Longer files take long to read. */
const MOST_BYTES = 2_000_000;

/** The points of a curve that are kept, and of all curves of a sweep together. */
const MOST_POINTS = 1_000;
const LEAST_POINTS = 20;
const MOST_POINTS_OF_SWEEP = 2_000_000;

type Reporting = Pick<SweepRow, "attempts" | "continues" | "number" | "output_dir">;

/**
 * Reads the curves in the metrics of the jobs of a sweep: of each number in their objects, against their `step` or, without one, their
 * line. Nothing for a file that cannot be read. What goes on from a checkpoint continues the curves of the job's earlier attempts, and
 * of the job of the same trial with a smaller budget: what they reported before its first step stays.
 */
export function reportedCurves(
  rows: readonly Reporting[],
): (row: Reporting) => readonly LearningCurve[] {
  const jobs = once(() => new Map(rows.map((row) => [row.number, row])));
  return (row) => {
    let points: ReturnType<typeof pointsIn> = [];
    for (const place of placesBefore(row, jobs)) {
      const first = points.reduce(
        (least, { step }) => Math.min(least, step),
        Number.POSITIVE_INFINITY,
      );
      points = [...pointsIn(place).filter(({ step }) => step < first), ...points];
    }
    return curvesOf(points);
  };
}

/** The directories with the metrics of a job's trial, the last first. */
function placesBefore(
  last: Reporting,
  jobs: () => ReadonlyMap<number, Reporting>,
): readonly string[] {
  // A record that was changed may lead back to where it began.
  const chain = new Set([last]);
  for (const { continues } of chain) {
    const earlier = continues === null ? undefined : jobs().get(continues);
    if (earlier !== undefined) chain.add(earlier);
  }
  return [...chain].flatMap(({ attempts, output_dir }) => [
    output_dir,
    ...Array.from({ length: Math.max(0, attempts - 1) }, (_, index) =>
      asideOf(output_dir, attempts - 1 - index),
    ),
  ]);
}

function curvesOf(points: ReturnType<typeof pointsIn>): readonly LearningCurve[] {
  const curves = new Map<string, { readonly steps: number[]; readonly values: number[] }>();
  for (const { finite, step } of points)
    for (const [metric, value] of finite()) {
      const { steps, values } = getOrCreate(curves, metric, () => ({ steps: [], values: [] }));
      steps.push(step);
      values.push(value);
    }
  return [...curves].map(([metric, curve]) => ({ metric, ...curve }));
}

/** The points in the metrics in a directory. A program may be writing the last line. */
const pointsIn = (directory: string): readonly ReturnType<typeof pointOf>[] =>
  linesIn(join(directory, METRICS_FILE))
    .map(metricsIn)
    .filter((metrics) => metrics !== undefined)
    .map((metrics, index) => pointOf(metrics, index + 1));

/**
 * Writes the curves of all jobs into a directory.
 *
 * @returns the name of the file; nothing if no job has reported metrics: then an earlier file is removed
 */
export function writeCurves(into: string, rows: readonly SweepRow[]): readonly string[] {
  const curvesIn = reportedCurves(rows);
  const jobs = rows.flatMap((row) => {
    const curves = curvesIn(row).map((curve) => thinnedCurve(curve, MOST_POINTS));
    return curves.length === 0 ? [] : [{ job: row.number, curves }];
  });
  const file = join(into, CURVES_FILE);
  if (jobs.length === 0) {
    rmSync(file, { force: true });
    return [];
  }
  const all = jobs.reduce((sum, { curves }) => sum + curves.length, 0);
  const most = Math.max(LEAST_POINTS, Math.floor(MOST_POINTS_OF_SWEEP / all));
  const lines = jobs.map(
    ({ curves, job }): JobCurves => ({
      contract: "hydraconf.sweep-curves/1.0",
      job,
      curves: curves.map((curve) => thinnedCurve(curve, most)),
    }),
  );
  writeFileAtomicSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return [CURVES_FILE];
}

const LINE: Shape<JobCurves> = {
  // A minor version only adds.
  contract: (value) => text(value) && /^hydraconf\.sweep-curves\/1\.\d+$/.test(String(value)),
  job: count,
  curves: listOf(
    (value) =>
      fits<LearningCurve>(value, {
        metric: text,
        steps: listOf(Number.isFinite),
        values: listOf(Number.isFinite),
      }) && value.steps.length === value.values.length,
  ),
};

/**
 * Reads the curves beside the tables of a sweep.
 *
 * @returns those of a job; undefined if there are none, or if the job has reported metrics since: it has run again
 */
export function writtenCurves(
  directory: string,
): (job: Pick<SweepRow, "number" | "output_dir">) => readonly LearningCurve[] | undefined {
  for (const place of [directory, sweepFolder(directory)]) {
    const file = join(place, CURVES_FILE);
    const written = timeOf(file);
    const lines = valuesIn(textOf(file) ?? "");
    // Where somebody has changed it, what the jobs wrote is still there.
    if (written === undefined || !lines.every((line) => fits<JobCurves>(line, LINE))) continue;
    const curves = new Map(lines.map((line) => [line.job, line.curves]));
    return ({ number, output_dir }) => {
      const reported = timeOf(join(output_dir, METRICS_FILE));
      return reported !== undefined && reported > written ? undefined : curves.get(number);
    };
  }
  return () => undefined;
}

/** When a file was written last, in milliseconds; undefined if it cannot be examined. */
function timeOf(file: string): number | undefined {
  try {
    return statSync(file).mtimeMs;
  } catch {
    return undefined;
  }
}

/** The values of JSON lines; undefined in place of a line that is none. */
const valuesIn = (lines: string): readonly unknown[] =>
  lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      try {
        return JSON.parse(line);
      } catch {
        return undefined;
      }
    });

function linesIn(file: string): readonly string[] {
  try {
    return statSync(file).size > MOST_BYTES ? [] : readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** Undefined for a file that cannot be read. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
