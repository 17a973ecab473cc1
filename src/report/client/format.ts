/** Numbers as the page writes them: those of the Markdown reports, and what charts need besides. */
export { plural } from "../../text/plural.ts";
export { formatMeanMs, formatMs, formatNumber, formatShare, NOT_MEASURED } from "../numbers.ts";

export const formatCount = (count: number): string => count.toLocaleString("en-US");

const PREFIXES = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** With a decimal prefix: `12.3 TFLOP/s`. */
export function formatRate(value: number, unit: string): string {
  // Round first: 999.9 G becomes 1.00 T.
  const rounded = Number(value.toPrecision(3));
  const [size, prefix] = PREFIXES.find(([least]) => rounded >= least) ?? [1, ""];
  return `${(rounded / size).toPrecision(3)} ${prefix}${unit}`;
}
