/** How busy GPUs were while ranges were open, as shown in reports. */
import type { NCUProfileRegion } from "../document.ts";
import { BUSY_HEADING } from "../gpu-words.ts";
import { escapeMarkdown, markdownIndent, markdownTablePieces } from "../markdown/markdown.ts";
import { formatMs, formatShare, NOT_MEASURED } from "../numbers.ts";
import { treeRows } from "../tree-rows.ts";

type Region = Pick<NCUProfileRegion, "gpu_activity" | "wall_ms">;

/** Percent of the wall time; null if unknown. */
export const busyShare = ({ gpu_activity, wall_ms }: Region): number | null =>
  gpu_activity === undefined || wall_ms === null || wall_ms === 0
    ? null
    : (gpu_activity.busy_ms / wall_ms) * 100;

export const busyText = (region: Region): string => formatShare(busyShare(region), 100);

export const haveActivity = (regions: readonly Region[]): boolean =>
  regions.some(({ gpu_activity }) => gpu_activity !== undefined);

/** What ran when, region by region; null if unknown for all. */
export function gpuActivityTable(regions: readonly NCUProfileRegion[]): Iterable<string> | null {
  if (!haveActivity(regions)) return null;
  const timed = regions.filter(({ gpu_activity }) => gpu_activity !== undefined);
  return markdownTablePieces(
    [
      { heading: "Region" },
      { heading: "Wall ms", align: "right" },
      { heading: BUSY_HEADING, align: "right" },
      { heading: "Idle ms", align: "right" },
      { heading: "Kernels ms", align: "right" },
      { heading: "Copies ms", align: "right" },
      { heading: "Both ms", align: "right" },
    ],
    treeRows(timed, { among: regions }).map(({ region, level, label }) => [
      `${markdownIndent(level)}${escapeMarkdown(label)}`,
      formatMs(region.wall_ms),
      busyText(region),
      idleText(region),
      formatMs(region.gpu_activity?.kernel_ms ?? null),
      formatMs(region.gpu_activity?.copy_ms ?? null),
      formatMs(region.gpu_activity?.overlap_ms ?? null),
    ]),
  );
}

const idleText = ({ gpu_activity, wall_ms }: Region): string =>
  gpu_activity === undefined || wall_ms === null
    ? NOT_MEASURED
    : formatMs(Math.max(0, wall_ms - gpu_activity.busy_ms));
