import type { NCUProfileRegion, NCUProfileRegionReport } from "./document.ts";
import { reportKernelWords } from "./kernels/kernel-words.ts";
import { totalMs, wholeMs } from "./measured-time.ts";
import { startsAt } from "./region-path.ts";

/** What the shares of a report refer to: kernel time if there is any, else wall time. */
export interface ShareBase {
  /** Which time of a region its share is made from. */
  readonly basis: "total" | "wall";
  readonly of: (region: NCUProfileRegion) => number | null;
  readonly whole: number | null;
  /** What 100 % is, as a phrase; null if nothing was timed, so that there are no shares. */
  readonly label: string | null;
}

export function shareBase(report: NCUProfileRegionReport): ShareBase {
  const words = reportKernelWords(report);
  const total_ms = wholeMs(report);
  if (total_ms !== null && total_ms > 0)
    return {
      basis: "total",
      of: totalMs,
      whole: total_ms,
      label: `total ${words?.time ?? "time"}`,
    };
  return { basis: "wall", of: ({ wall_ms }) => wall_ms, ...wholeWall(report) };
}

function wholeWall(report: NCUProfileRegionReport): Pick<ShareBase, "whole" | "label"> {
  const { wall_ms } = report.totals;
  if (wall_ms !== null)
    return {
      whole: wall_ms,
      label: `wall time covered by outermost ranges${overlaps(report) ? " (ranges at the same time add up to more)" : ""}`,
    };
  const [top, ...others] = report.regions;
  if (top === undefined || top.wall_ms === null) return { whole: null, label: null };
  return others.every((other) => startsAt(other, top))
    ? { whole: top.wall_ms, label: "the wall time of the region" }
    : { whole: null, label: null };
}

/** Whether outermost ranges of several threads, or start/end ranges, were open at the same time. */
function overlaps({ regions, totals }: NCUProfileRegionReport): boolean {
  const roots = regions.filter(({ depth }) => depth === 0);
  const sum = roots.reduce((total, { wall_ms }) => total + (wall_ms ?? 0), 0);
  return sum > (totals.wall_ms ?? 0) * 1.001;
}
