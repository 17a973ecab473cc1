/** Formats of numbers in reports for people: the same number has the same text everywhere. */
import { grouped } from "../foundation/text/plural.ts";

/** Shown for what was not measured; 0 would be a measurement. */
export const NOT_MEASURED = "–";

/** Milliseconds with microsecond digits, without unit. */
export function formatMs(ms: number | null): string {
  if (ms === null) return NOT_MEASURED;
  if (ms > 0 && ms < 0.0005) return "<0.001";
  return ms < 1e15 ? ms.toFixed(3) : String(ms);
}

/** Timers have a resolution of one nanosecond at best. */
const SMALLEST_MEAN_MS = 1e-6;

/**
 * Milliseconds of one launch, without unit. Most launches take microseconds, so with fewer digits a kernel would look
 * as long as one that takes half as long again.
 */
export function formatMeanMs(ms: number | null): string {
  if (ms === null || ms === 0 || ms >= 0.1) return formatMs(ms);
  return ms < SMALLEST_MEAN_MS ? "<0.000001" : ms.toPrecision(3);
}

/**
 * A number for the data of a page: short, but the page formats it as the other reports do. Times of any length keep
 * their nanoseconds.
 */
export function roundedForPage(value: number): number;
export function roundedForPage(value: number | null): number | null;
export function roundedForPage(value: number | null): number | null {
  if (value === null) return null;
  return Number(Math.abs(value) < 1 ? value.toPrecision(7) : value.toFixed(6));
}

/** A part in percent of a whole; null if either is unknown or the whole is 0. */
export function percentOf(part: number | null, whole: number | null): number | null {
  if (part === null || whole === null || whole === 0) return null;
  const percent = (part / whole) * 100;
  return Number.isFinite(percent) ? percent : null;
}

/** Sums of parts differ from their whole by what arithmetic rounds. */
const ALL = 100 - 1e-9;

/** A percentage without unit: what is something is not 0.0, and what is not all not 100.0. */
export function formatPercentage(percent: number | null): string {
  if (percent === null) return NOT_MEASURED;
  if (percent > 0 && percent < 0.05) return "<0.1";
  return percent >= 99.95 && percent < ALL ? ">99.9" : percent.toFixed(1);
}

/** A share of a whole in percent, without unit. */
export const formatShare = (part: number | null, whole: number | null): string =>
  formatPercentage(percentOf(part, whole));

/** A relative change in percent, with its sign and without unit. */
export function formatPercent(relative: number | null): string {
  if (relative === null) return NOT_MEASURED;
  const percent = relative * 100;
  if (!Number.isFinite(percent)) return NOT_MEASURED;
  const size = Math.abs(percent);
  const sign = percent > 0 ? "+" : percent < 0 ? "-" : "";
  return `${sign}${size > 0 && size < 0.05 ? "<0.1" : size.toFixed(size >= 1000 ? 0 : 1)}`;
}

/** A difference in ms with its sign and half of its 95 % interval. */
export function formatDelta(delta: number | null, uncertainty: number | null = null): string {
  if (delta === null) return NOT_MEASURED;
  const sign = delta > 0 ? "+" : "";
  const spread = uncertainty === null || uncertainty === 0 ? "" : ` ±${uncertainty.toFixed(3)}`;
  return `${sign}${delta.toFixed(3)}${spread}`;
}

/** A duration for a sentence, in the most readable unit. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < SMALLEST_MEAN_MS / 2) return "<1 ns";
  if (ms > 0 && ms < 0.0001) return `${(ms * 1e6).toFixed(0)} ns`;
  // What would be rounded to 1000.0 has the next unit.
  if (ms < 0.99995) return `${(ms * 1000).toFixed(1)} µs`;
  if (ms < 999.995) return `${ms.toFixed(2)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}

/** Significant digits for readers; the JSON report has all. */
const DIGITS = 5;
/** From here on, powers of ten are easier to read. */
const LARGE = 1e12;
const SMALL = 1e-3;

/**
 * A number of any size, such as a metric's value: integers in full, others with their significant digits. Arithmetic
 * yields 0.05999999999999999 instead of 0.06.
 */
export function formatNumber(value: number | null): string {
  if (value === null) return NOT_MEASURED;
  const size = Math.abs(value);
  if (size >= LARGE) return Number.isFinite(value) ? value.toExponential(3) : String(value);
  if (size < SMALL) return String(Number(value.toPrecision(DIGITS - 1)));
  if (size >= 10 ** (DIGITS - 1)) return grouped(value.toFixed(0));
  const rounded = String(Number(value.toPrecision(DIGITS)));
  const [whole = "", fraction] = rounded.split(".");
  return fraction === undefined ? grouped(whole) : `${grouped(whole)}.${fraction}`;
}

/** The formats of the numbers of a column. */
export type NumberFormat = keyof typeof FORMATS;

const FORMATS = {
  count: (value: number) => String(value),
  ms: formatMs,
  mean_ms: formatMeanMs,
  half_interval_ms: (value: number) => `±${formatMs(value)}`,
  change_ms: formatDelta,
  percent: formatPercentage,
  change_percent: formatPercent,
  /** The ratio of two similar quantities, with two decimals in each row. */
  ratio: (value: number) => value.toFixed(2),
  number: formatNumber,
} as const;

/** @param format default: `number` */
export const formatAs = (value: number | null, format: NumberFormat = "number"): string =>
  value === null ? NOT_MEASURED : FORMATS[format](value);

// Formats that only the page uses.

export const formatCount = (count: number): string => count.toLocaleString("en-US");

const PREFIXES = [
  [1e18, "E"],
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** A rate with a decimal prefix: `12.3 TFLOP/s`. */
export function formatRate(value: number, unit: string): string {
  // Rounded first, because 999.9 G becomes 1.00 T.
  const rounded = Number(value.toPrecision(3));
  const [size, prefix] = PREFIXES.find(([least]) => rounded >= least) ?? [1, ""];
  return `${(rounded / size).toPrecision(3)} ${prefix}${unit}`;
}
