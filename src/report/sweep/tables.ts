/**
 * The tables of a sweep: jobs, regions by jobs, scaling. Must not import Node modules: the page's script imports it,
 * too.
 */
import { capitalized, firstFewOf } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { type Field, link, strong, type Table, tableOf } from "../../pages/blocks.ts";
import { formatMs, formatNumber, NOT_MEASURED } from "../../pages/numbers.ts";
import { domainFields } from "../view/region-records.ts";
import { curvesOf, scalingWords } from "./sweep-document.ts";
import type { SweepCalls, SweepJob, SweepRegion, SweepReport, SweepWork } from "./sweep-types.ts";

/** The meaning of the numbers in words. */
export const basisInWords = ({ basis }: Pick<SweepReport, "basis">): string =>
  basis === "total_ms" ? "time of kernels or CPU operations" : "wall time";

const CPU_TIME: Field<SweepJob> = {
  title: "CPU ms",
  format: "ms",
  cell: ({ cpu_ms }) => cpu_ms ?? null,
};

export interface RankedJob {
  readonly job: SweepJob;
  /** Work per second if the work is known, else the time in ms. */
  readonly value: number;
  /** Half of its 95 % interval over repeated runs; null for fewer than three. */
  readonly half: number | null;
}

/** The jobs with a result, the best first. */
export function rankedJobs({
  jobs,
  work,
  best,
}: Pick<SweepReport, "jobs" | "work" | "best">): readonly RankedJob[] {
  const sign = work === undefined ? 1 : -1;
  return jobs
    .flatMap((job): readonly RankedJob[] => {
      const value = (work === undefined ? job.total_ms : job.per_second) ?? null;
      const half = (work === undefined ? job.ci95_half_ms : job.per_second_ci95_half) ?? null;
      return value === null ? [] : [{ job, value, half }];
    })
    .sort(
      (a, b) =>
        sign * (a.value - b.value) || Number(b.job.name === best) - Number(a.job.name === best),
    );
}

/**
 * The best and the last job, in one sentence: the best with its uncertainty, and with the jobs that are not told from it. Single
 * runs have no best one.
 */
export function headlineOf(report: SweepReport): string {
  const { parameters, work, basis } = report;
  const ranked = rankedJobs(report);
  const [first, last] = [ranked[0], ranked.at(-1)];
  if (first === undefined || last === undefined) return "No job has a result.";
  const named = ({ name, values }: SweepJob) =>
    parameters.length === 0
      ? `job ${name}`
      : `job ${name} (${parameters.map(({ key }, index) => `${key}=${values[index] ?? NOT_MEASURED}`).join(", ")})`;
  const [most, least, unit, format] =
    work === undefined
      ? ["took the least time", "the most", "ms", formatMs]
      : [`did the most ${work.unit} per second`, "the fewest", `${work.unit}/s`, formatNumber];
  const spread = (half: number) => format(work === undefined ? half : Number(half.toPrecision(2)));
  const text = ({ value, half }: RankedJob) =>
    `${format(value)}${half === null ? "" : ` ±${spread(half)}`} ${unit}`;
  const basisText = work === undefined ? ` (${basisInWords({ basis })})` : "";
  if (report.best === null) {
    const range =
      last === first
        ? `${named(first.job)}: ${text(first)}`
        : `from ${text(first)}, ${named(first.job)}, to ${text(last)}, ${named(last.job)}`;
    return `${capitalized(range)}${basisText}; single runs do not tell which job is best: repeats=5.`;
  }
  const near = ranked.slice(1).filter((other) => !isTold(first, other));
  const others = last === first ? "" : `; ${named(last.job)} ${least}, ${text(last)}`;
  const same =
    near.length === 0
      ? ""
      : `. Not told from the best: ${firstFewOf(near, MOST_NEAR, ({ job }) => named(job))}`;
  return `${capitalized(named(first.job))} ${most}, ${text(first)}${others}${basisText}${same}.`;
}

const MOST_NEAR = 3;

/** Whether two values differ by more than the interval of their difference. */
const isTold = (a: RankedJob, b: RankedJob): boolean =>
  Math.abs(a.value - b.value) > Math.hypot(a.half ?? 0, b.half ?? 0);

/** The title of a job's column: its values if one or two parameters differ. */
export function jobTitle(
  { name, values }: Pick<SweepJob, "name" | "values">,
  parameters: SweepReport["parameters"],
): string {
  if (parameters.length === 0 || parameters.length > MOST_IN_TITLE) return `job ${name}`;
  const last = parameters.map(({ key }) => key.split(/[./@]/).at(-1) ?? key);
  const isClear = new Set(last).size === last.length;
  return parameters
    .map(({ key }, index) => `${isClear ? last[index] : key}=${values[index] ?? NOT_MEASURED}`)
    .join(" ");
}

const MOST_IN_TITLE = 2;

/** The title of the column of throughputs. */
export const throughputTitle = ({ unit }: SweepWork): string => `${printableLabel(unit, 40)}/s`;

export function jobTable(
  { jobs, parameters, best, basis, work }: SweepReport,
  { lastTitle = "" }: { readonly lastTitle?: string } = {},
): Table {
  const remark = ({ name, problem }: SweepJob) =>
    problem === null ? (name === best ? "best" : "") : printableLabel(problem);
  return tableOf<SweepJob>(
    [
      {
        title: "Job",
        cell: ({ name, page }) => {
          const shown = printableLabel(name);
          if (page !== undefined) return [link(shown, page)];
          return name === best ? [strong(shown)] : shown;
        },
      },
      ...parameters.map(
        ({ key }, index): Field<SweepJob> => ({
          title: printableLabel(key),
          cell: ({ values }) => printableLabel(values[index] ?? NOT_MEASURED),
        }),
      ),
      { title: "ms", format: "ms", cell: ({ total_ms }) => total_ms },
      ...(jobs.some(({ ci95_half_ms }) => ci95_half_ms !== undefined)
        ? [
            {
              title: "95 %",
              format: "half_interval_ms",
              cell: ({ ci95_half_ms }) => ci95_half_ms ?? null,
            } satisfies Field<SweepJob>,
          ]
        : []),
      ...(work !== undefined && basis === "total_ms"
        ? [
            {
              title: "Wall ms",
              format: "ms",
              cell: ({ wall_ms }) => wall_ms ?? null,
            } satisfies Field<SweepJob>,
          ]
        : []),
      ...(jobs.some(({ cpu_ms }) => cpu_ms !== undefined) ? [CPU_TIME] : []),
      ...(work === undefined
        ? []
        : [
            {
              title: throughputTitle(work),
              format: "number",
              cell: ({ per_second }) => per_second ?? null,
            } satisfies Field<SweepJob>,
          ]),
      { title: lastTitle, cell: remark },
    ],
    jobs,
  );
}

/**
 * Times of regions in each job.
 * @param names names of the regions, in their order
 */
export function regionMatrix(
  { jobs, regions, parameters }: Pick<SweepReport, "jobs" | "regions" | "parameters">,
  names: readonly string[],
  titleOf: (job: SweepJob) => string,
): Table {
  const settings = ({ values }: SweepJob) =>
    parameters.map(({ key }, index) => `${key}=${values[index] ?? NOT_MEASURED}`).join(", ");
  return tableOf(
    [
      { title: "Region", cell: (region: number) => names[region] ?? "" },
      ...jobs.map(
        (job, index): Field<number> => ({
          title: titleOf(job),
          hint: settings(job),
          format: "ms",
          cell: (region) => regions[region]?.times_ms[index] ?? null,
        }),
      ),
    ],
    regions.keys(),
  );
}

/** The region with the most time in all jobs among those with several calls; null if there is none. */
export function mostCalled(regions: readonly SweepRegion[]): SweepRegion | null {
  const timeOf = ({ times_ms }: SweepRegion) =>
    times_ms.reduce<number>((sum, ms) => sum + (ms ?? 0), 0);
  return regions
    .filter(({ calls_ms }) => calls_ms !== undefined)
    .reduce<SweepRegion | null>(
      (most, region) => (most === null || timeOf(region) > timeOf(most) ? region : most),
      null,
    );
}

/** The durations of the calls of a region in each job; no table if no job called it twice. */
export function callsTable(
  { jobs, parameters }: Pick<SweepReport, "jobs" | "parameters">,
  { calls_ms = [] }: SweepRegion,
): readonly Table[] {
  const rows = jobs.flatMap((job, index): readonly CallsRow[] => {
    const calls = calls_ms[index] ?? null;
    return calls === null ? [] : [{ ...calls, job: jobTitle(job, parameters) }];
  });
  if (rows.length === 0) return [];
  const ms = (title: string, measure: (row: CallsRow) => number): Field<CallsRow> => ({
    title,
    format: "ms",
    cell: measure,
  });
  return [
    tableOf<CallsRow>(
      [
        { title: "Job", cell: ({ job }) => printableLabel(job) },
        { title: "Calls", format: "count", cell: ({ calls }) => calls },
        ms("Least ms", ({ min }) => min),
        ms("Median ms", ({ median }) => median),
        ms("p95 ms", ({ p95 }) => p95),
        ms("Most ms", ({ max }) => max),
        {
          title: "p95 / median",
          format: "ratio",
          cell: ({ median, p95 }) => (median > 0 ? Number((p95 / median).toFixed(2)) : null),
        },
      ],
      rows,
    ),
  ];
}

interface CallsRow extends SweepCalls {
  readonly job: string;
}

interface ScalingRow {
  readonly key: string;
  /** The values of the other parameters. */
  readonly others: string;
  readonly times: string;
  /** The exponent in words, with its interval. */
  readonly exponent: string;
}

/** For the whole jobs; no table if no parameter is a number with several values. */
export function scalingTable(report: SweepReport): readonly Table[] {
  const rows = report.parameters.flatMap(({ key, numeric }, index) =>
    (numeric ? curvesOf(report, index) : []).flatMap(({ label, points }): readonly ScalingRow[] => {
      if (points.length < 2) return [];
      const times = points.map(({ x, ms }) => `${x}: ${formatMs(ms)}`).join(", ");
      return [{ key, others: label, times, exponent: scalingWords(points) }];
    }),
  );
  if (rows.length === 0) return [];
  return [
    tableOf<ScalingRow>(
      [
        { title: "Parameter", cell: ({ key }) => printableLabel(key) },
        { title: "With", cell: ({ others }) => (others === "" ? "" : printableLabel(others)) },
        { title: "ms", cell: ({ times }) => times },
        { title: "Exponent", cell: ({ exponent }) => exponent },
      ],
      rows,
    ),
  ];
}

interface SweepRecord {
  readonly job: SweepJob;
  /** Null stands for the whole job. */
  readonly region: SweepRegion | null;
  readonly ms: number | null;
  readonly cpuMs: number | null;
  readonly calls: SweepCalls | null;
}

/** Named as in the CSV of a run's regions. */
const CALLS_FIELDS: readonly Field<SweepRecord>[] = [
  { title: "calls", cell: ({ calls }) => calls?.calls ?? null },
  { title: "call_min_ms", cell: ({ calls }) => calls?.min ?? null },
  { title: "call_median_ms", cell: ({ calls }) => calls?.median ?? null },
  { title: "call_p95_ms", cell: ({ calls }) => calls?.p95 ?? null },
  { title: "call_max_ms", cell: ({ calls }) => calls?.max ?? null },
];

/** One row per job, and one per region and job. */
export const sweepRecords = (report: SweepReport): Table =>
  tableOf<SweepRecord>(
    [
      { title: "job", cell: ({ job }) => job.name },
      ...report.parameters.map(
        ({ key }, index): Field<SweepRecord> => ({
          title: key,
          cell: ({ job }) => job.values[index] ?? null,
        }),
      ),
      { title: "region", cell: ({ region }) => region?.path.join(" / ") ?? "(whole job)" },
      { title: "domain", cell: ({ region }) => region?.domain ?? "" },
      { title: "kind", cell: ({ region }) => region?.kind ?? "" },
      { title: report.basis, cell: ({ ms }) => ms },
      ...(report.jobs.some(({ cpu_ms }) => cpu_ms !== undefined)
        ? [{ title: "cpu_ms", cell: ({ cpuMs }: SweepRecord) => cpuMs }]
        : []),
      ...(report.work === undefined
        ? []
        : [
            {
              title: "per_second",
              cell: ({ job, region }: SweepRecord) =>
                region === null ? (job.per_second ?? null) : null,
            },
          ]),
      ...(report.regions.some(({ calls_ms }) => calls_ms !== undefined) ? CALLS_FIELDS : []),
      ...domainFields(report.regions, ({ region }: SweepRecord) => region),
    ],
    timesOf(report),
  );

function* timesOf({ jobs, regions }: SweepReport): Generator<SweepRecord> {
  for (const [index, job] of jobs.entries()) {
    yield { job, region: null, ms: job.total_ms, cpuMs: job.cpu_ms ?? null, calls: null };
    for (const region of regions)
      yield {
        job,
        region,
        ms: region.times_ms[index] ?? null,
        cpuMs: region.cpu_times_ms?.[index] ?? null,
        calls: region.calls_ms?.[index] ?? null,
      };
  }
}
