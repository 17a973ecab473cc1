import type { NCUProfileRegion, NCUProfileRegionReport } from "./document.ts";
import { reportKernelWords } from "./kernel-words.ts";
import { wholeMs } from "./measured-time.ts";

/** The whole that shares refer to: kernel time where there is any, else wall time. */
export interface ShareBase {
  readonly of: (region: NCUProfileRegion) => number | null;
  readonly whole: number | null;
  /** What 100 % is, as a phrase; null where nothing was timed: there are no shares then. */
  readonly label: string | null;
}

export function shareBase(report: NCUProfileRegionReport): ShareBase {
  const words = reportKernelWords(report);
  const { wall_ms } = report.totals;
  const total_ms = wholeMs(report);
  if (total_ms !== null)
    return {
      of: (region) => region.total_ms,
      whole: total_ms,
      label: `total ${words?.time ?? "time"}`,
    };
  if (wall_ms === null) return { of: (region) => region.wall_ms, whole: null, label: null };
  return {
    of: (region) => region.wall_ms,
    whole: wall_ms,
    label: `wall time covered by outermost ranges${overlaps(report) ? " (ranges at the same time add up to more)" : ""}`,
  };
}

/** Whether outermost ranges of several threads, or start/end ranges, were open at the same time. */
function overlaps({ regions, totals }: NCUProfileRegionReport): boolean {
  const roots = regions.filter(({ depth }) => depth === 0);
  const sum = roots.reduce((total, { wall_ms }) => total + (wall_ms ?? 0), 0);
  return sum > (totals.wall_ms ?? 0) * 1.001;
}
