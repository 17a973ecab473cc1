/** What the GPU did while named regions were open, in plain words. */
import type { NCUProfileRegionReport, RegionGpuActivity } from "../document.ts";
import { markdownList } from "../markdown/markdown.ts";
import { formatDuration, formatShare } from "../numbers.ts";
import { treeRows } from "../tree-rows.ts";

/** Parts of the time in regions that add up to it, in milliseconds. */
interface Spent {
  readonly ms: number;
  readonly does: string;
  /** What to conclude if it is more than half. */
  readonly meaning: string;
}

/**
 * As Markdown paragraphs; null if no region has the times. Inner regions are left out: their time is part
 * of the outer region's.
 */
export function gpuSummary(report: NCUProfileRegionReport): string | null {
  const known = treeRows(report.regions).flatMap(({ region, level }) =>
    level > 0 || region.gpu_activity === undefined || region.wall_ms === null
      ? []
      : [{ region, wallMs: region.wall_ms, activity: region.gpu_activity }],
  );
  const wallMs = known.reduce((sum, each) => sum + each.wallMs, 0);
  if (wallMs === 0) return null;
  const sum = (name: keyof RegionGpuActivity): number =>
    known.reduce((total, { activity }) => total + activity[name], 0);
  const launchedMs = known.reduce((total, { region }) => total + (region.total_ms ?? 0), 0);
  const spent: readonly Spent[] = [
    {
      ms: sum("kernel_ms"),
      does: "ran kernels",
      meaning: "Most of this time is kernels: they decide how fast the program is.",
    },
    {
      ms: sum("busy_ms") - sum("kernel_ms"),
      does: "only copied or set memory",
      meaning: "Most of this time is copies without a kernel running at the same time.",
    },
    {
      ms: Math.max(0, wallMs - sum("busy_ms")),
      does: "was idle",
      meaning:
        sum("kernel_ms") * 2 < launchedMs
          ? "Most kernels ran after the regions that launched them had closed: synchronize with the GPU at the end of regions to see them there."
          : "Most of this time the GPU waited for the host: for launches, for data, or for other work of the CPU.",
    },
  ];
  const parts = spent.filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms);
  // Regions that were open at the same time each count, so the shares are averages over them.
  const isMore = wallMs > (report.totals.wall_ms ?? wallMs) * 1.01;
  return [
    `In the outermost regions (${formatDuration(wallMs)}${isMore ? ", added up over processes and threads" : ""}) the GPU`,
    markdownList(
      parts.map(({ ms, does }) => `${does}: ${formatShare(ms, wallMs)} % (${formatDuration(ms)})`),
    ),
    ...parts.filter(({ ms }) => ms * 2 > wallMs).map(({ meaning }) => meaning),
  ].join("\n\n");
}
