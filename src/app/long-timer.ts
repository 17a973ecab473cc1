/** Node's timers hold no more: one that is set to more ends at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A timer for any time, also for more than 24 days.
 *
 * @returns stops it
 */
export function startTimer(milliseconds: number, onEnd: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (left: number): void => {
    timer = setTimeout(
      () => (left > LONGEST_MS ? wait(left - LONGEST_MS) : onEnd()),
      Math.min(left, LONGEST_MS),
    );
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
