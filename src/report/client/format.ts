/** Numbers as the page writes them: those of the Markdown reports, and what charts need besides. */
export { formatMs, formatNumber, formatShare, NOT_MEASURED } from "../numbers.ts";

export const formatCount = (count: number): string => count.toLocaleString("en-US");

const PREFIXES = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** With a decimal prefix: `12.3 TFLOP/s`. */
export function formatRate(value: number, unit: string): string {
  const [size, prefix] = PREFIXES.find(([least]) => value >= least) ?? [1, ""];
  return `${(value / size).toPrecision(3)} ${prefix}${unit}`;
}
