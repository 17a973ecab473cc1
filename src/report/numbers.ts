/** Numbers as reports for people write them: the same text for the same number everywhere. */

/** What stands where nothing was measured; zero would be a measurement. */
export const NOT_MEASURED = "–";

/** Milliseconds with microseconds, without unit. */
export function formatMs(ms: number | null): string {
  if (ms === null) return NOT_MEASURED;
  if (ms > 0 && ms < 0.0005) return "<0.001";
  return ms < 1e15 ? ms.toFixed(3) : String(ms);
}

/** A share of a whole in percent, without unit. */
export function formatShare(part: number | null, whole: number | null): string {
  if (part === null || whole === null || whole === 0) return NOT_MEASURED;
  const percent = (part / whole) * 100;
  if (!Number.isFinite(percent)) return NOT_MEASURED;
  return percent > 0 && percent < 0.05 ? "<0.1" : percent.toFixed(1);
}

/** A duration in a sentence, in the unit that reads best. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${(ms * 1000).toFixed(1)} µs`;
  if (ms < 1000) return `${ms.toFixed(2)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
