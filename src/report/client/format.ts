/** Numbers as the page writes them: those of the Markdown reports, and what charts need besides. */
import { NOT_MEASURED } from "../numbers.ts";

export { formatMs, formatShare, NOT_MEASURED } from "../numbers.ts";

export const formatCount = (count: number): string => count.toLocaleString("en-US");

/** A number of any size, short: at most five digits that count. */
export function formatNumber(value: number | null): string {
  if (value === null) return NOT_MEASURED;
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return formatCount(value);
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e9 || size < 1e-3)
    ? value.toExponential(3)
    : value.toLocaleString("en-US", { maximumSignificantDigits: 5 });
}

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
