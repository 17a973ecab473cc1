/** How long a second signal is the first one again: a terminal and a parent may both send it. */
const REPEAT_MS = 500;

/** A function to be called at each signal that comes: whether it is the one before again. */
export function watchRepeats(): () => boolean {
  let latest = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const isRepeat = now - latest < REPEAT_MS;
    latest = now;
    return isRepeat;
  };
}
