/** How busy GPUs were while ranges were open, as shown in reports. */
import type { NCUProfileRegion } from "../document.ts";
import { formatShare } from "../numbers.ts";

type Region = Pick<NCUProfileRegion, "gpu_activity" | "wall_ms">;

/** Percent of the wall time; null if unknown. */
export const busyShare = ({ gpu_activity, wall_ms }: Region): number | null =>
  gpu_activity === undefined || wall_ms === null || wall_ms === 0
    ? null
    : (gpu_activity.busy_ms / wall_ms) * 100;

export const busyText = (region: Region): string => formatShare(busyShare(region), 100);

export const haveActivity = (regions: readonly Region[]): boolean =>
  regions.some(({ gpu_activity }) => gpu_activity !== undefined);
