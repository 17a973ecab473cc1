/** A change as text, the same in every form of a comparison; shared with the page's script. */
import { NOT_MEASURED } from "../numbers.ts";
import type { Change } from "./change.ts";

export function formatPercent(relative: number | null): string {
  if (relative === null) return NOT_MEASURED;
  const percent = relative * 100;
  if (!Number.isFinite(percent)) return NOT_MEASURED;
  const digits = Math.abs(percent) >= 1000 ? 0 : 1;
  return `${percent > 0 ? "+" : ""}${percent.toFixed(digits)}`;
}

/** A difference in ms with its sign and uncertainty. */
export function formatDelta({ delta, uncertainty }: Pick<Change, "delta" | "uncertainty">): string {
  if (delta === null) return NOT_MEASURED;
  const sign = delta > 0 ? "+" : "";
  const spread = uncertainty === null || uncertainty === 0 ? "" : ` ±${uncertainty.toFixed(3)}`;
  return `${sign}${delta.toFixed(3)}${spread}`;
}
