/** A span for people: `0.4 s`, `34 s`, `2 min 5 s`, `3 h 10 min`. */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  return longText(Math.round(seconds));
}

/** The same without tenths: of what is still going on, or only estimated. */
export const roughDuration = (milliseconds: number): string =>
  longText(Math.round(milliseconds / 1000));

function longText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
