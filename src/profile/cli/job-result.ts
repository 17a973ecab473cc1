/** What `deep-profile` returns as the result of a job: its region report in short. */
import { join } from "node:path";
import type { NCUProfileRegion } from "../../report/model/document.ts";
import { pathWords } from "../../report/model/region-path.ts";
import { amount, fits, orNull, type Shape, text } from "../../system/shape.ts";
import type { ProfileSection } from "../run/run.ts";

/** Keys are those of the record of a sweep and of `sweep.json`; times are milliseconds. */
export interface JobResult {
  /** `recorder`, `nsys` or `ncu`: the first that brought a report. */
  readonly collector: string;
  /** Kernels or CPU operations of the whole run; null where none were recorded. */
  readonly total_ms: number | null;
  readonly wall_ms: number | null;
  /** The absolute path of the page to read. */
  readonly report: string;
  /** By path, as `prefill / layer1`; those that took the most time where there are very many. */
  readonly regions: Readonly<Record<string, RegionResult>>;
}

export type RegionResult = Pick<NCUProfileRegion, "total_ms" | "wall_ms" | "invocations">;

/** Each is three columns of a table. */
const MOST_REGIONS = 200;

/** Null where no collector brought a report. */
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

/** From short to long: what else makes regions of one path different. */
const NAMES: readonly [NameOf, ...NameOf[]] = [
  ({ path }) => path.join(" / "),
  ({ path, domain, kind }) =>
    `${path.join(" / ")} (${domain === "" ? kind : `${domain}, ${kind}`})`,
  (region) => `${pathWords(region)} (${region.kind})`,
];

/** By the shortest name that no other region has. */
function byPath(regions: readonly NCUProfileRegion[]): Record<string, RegionResult> {
  const uses = new Map<string, number>();
  for (const name of regions.flatMap((region) => NAMES.map((nameOf) => nameOf(region))))
    uses.set(name, (uses.get(name) ?? 0) + 1);
  const nameOf = (region: NCUProfileRegion): string => {
    const names = NAMES.map((of) => of(region));
    return names.find((name) => uses.get(name) === 1) ?? names.at(-1) ?? "";
  };
  return Object.fromEntries(
    regions.map((region) => {
      const { invocations, total_ms, wall_ms } = region;
      return [nameOf(region), { total_ms, wall_ms, invocations }] as const;
    }),
  );
}

/** What the table of a sweep's jobs reads of a result. */
export type JobSummary = Omit<JobResult, "regions">;

const SUMMARY: Shape<JobSummary> = {
  collector: text,
  total_ms: orNull(amount),
  wall_ms: orNull(amount),
  report: text,
};

/** Whether a recorded result is one of ours: other programs, and other versions, record others. */
export const isJobSummary = (value: unknown): value is JobSummary => fits(value, SUMMARY);
