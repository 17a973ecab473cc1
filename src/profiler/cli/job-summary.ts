/** The result of a job of `deep-profile`: a summary of its region report. */
import { join } from "node:path";
import { amount, fits, orNull, type Shape, text } from "../../foundation/system/shape.ts";
import type { NCUProfileRegion } from "../../report/model/document.ts";
import { pathWords } from "../../report/model/region-path.ts";
import type { ProfileSection } from "../run/run.ts";

/** The keys are those in the record of a sweep and in `sweep.json`; times are milliseconds. */
export interface JobResult {
  /** `recorder`, `nsys` or `ncu`: the first collector with a report. */
  readonly collector: string;
  /** Time of the kernels or CPU operations of the whole run; null if none were recorded. */
  readonly total_ms: number | null;
  readonly wall_ms: number | null;
  /** The absolute path of the page. */
  readonly report: string;
  /** By path, as `prefill / layer1`; limited to the regions with the most time. */
  readonly regions: Readonly<Record<string, RegionResult>>;
}

export type RegionResult = Pick<NCUProfileRegion, "total_ms" | "wall_ms" | "invocations">;

/** Each region takes three columns of a table. */
const MOST_REGIONS = 200;

/** Null if no collector has a report. */
export function jobResult(
  sections: readonly Pick<ProfileSection, "bundle">[],
  runDirectory: string,
): JobResult | null {
  const report = sections.flatMap(({ bundle }) => bundle.reports.slice(0, 1))[0];
  if (report === undefined) return null;
  const time = ({ total_ms, wall_ms }: RegionResult) => total_ms ?? wall_ms ?? 0;
  const most = new Set(report.regions.toSorted((a, b) => time(b) - time(a)).slice(0, MOST_REGIONS));
  return {
    collector: report.collector.name,
    total_ms: report.totals.total_ms,
    wall_ms: report.totals.wall_ms,
    report: join(runDirectory, "report.md"),
    regions: byPath(report.regions.filter((region) => most.has(region))),
  };
}

type NameOf = (region: NCUProfileRegion) => string;

/** From short to long, adding what may distinguish regions of one path. */
const NAMES: readonly [NameOf, ...NameOf[]] = [
  ({ path }) => path.join(" / "),
  ({ path, domain, kind }) =>
    `${path.join(" / ")} (${domain === "" ? kind : `${domain}, ${kind}`})`,
  (region) => `${pathWords(region)} (${region.kind})`,
];

/** Keyed by the shortest name that no other region has. */
function byPath(regions: readonly NCUProfileRegion[]): Record<string, RegionResult> {
  const uses = new Map<string, number>();
  for (const name of regions.flatMap((region) => NAMES.map((nameOf) => nameOf(region))))
    uses.set(name, (uses.get(name) ?? 0) + 1);
  const nameOf = (region: NCUProfileRegion): string => {
    const names = NAMES.map((nameOf) => nameOf(region));
    return names.find((name) => uses.get(name) === 1) ?? names.at(-1) ?? "";
  };
  return Object.fromEntries(
    regions.map((region) => {
      const { invocations, total_ms, wall_ms } = region;
      return [nameOf(region), { total_ms, wall_ms, invocations }] as const;
    }),
  );
}

/** The part of a result that the table of a sweep's jobs uses. */
export type JobSummary = Omit<JobResult, "regions">;

const SUMMARY: Shape<JobSummary> = {
  collector: text,
  total_ms: orNull(amount),
  wall_ms: orNull(amount),
  report: text,
};

/** Whether a recorded result has this form: other programs and versions record other results. */
export const isJobSummary = (value: unknown): value is JobSummary => fits(value, SUMMARY);
