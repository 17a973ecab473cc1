/** Within this time a second signal counts as the first: a terminal and a parent process may both send it. */
const REPEAT_MS = 500;

/** Returns a function to call at each signal, which tells whether it is a repetition of the one before. */
export function watchRepeats(): () => boolean {
  let latest = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const isRepeat = now - latest < REPEAT_MS;
    latest = now;
    return isRepeat;
  };
}
