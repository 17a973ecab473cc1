/** The limit of Node's timers: a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A timer for any duration, even more than the 24 days that Node's timers allow.
 * @returns stops the timer
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

/** A timer that can be paused. */
export interface PausableTimer {
  pause(): void;
  goOn(): void;
  stop(): void;
}

/** Like `startTimer`, but its time stops while it is paused. */
export function startPausableTimer(milliseconds: number, onEnd: () => void): PausableTimer {
  let left = milliseconds;
  let since = performance.now();
  let isOver = false;
  const start = () =>
    startTimer(left, () => {
      isOver = true;
      onEnd();
    });
  let stop: (() => void) | undefined = start();
  return {
    pause() {
      if (stop === undefined) return;
      stop();
      stop = undefined;
      left = Math.max(0, left - (performance.now() - since));
    },
    goOn() {
      if (isOver || stop !== undefined) return;
      since = performance.now();
      stop = start();
    },
    stop() {
      isOver = true;
      stop?.();
    },
  };
}
