/** How long a second signal is the first one again: a terminal and a parent may both send it. */
const REPEAT_MS = 500;

/** Exit code of a process that a signal stopped, as shells count. */
export const signalExitCode = (signal: NodeJS.Signals): number => (signal === "SIGINT" ? 130 : 143);

export interface Interrupt {
  /** Aborted by the first signal, with the signal's name as its reason. */
  readonly signal: AbortSignal;
  /** Gives the signals back their usual meaning. */
  readonly dispose: () => void;
}

/**
 * Turns Ctrl-C and SIGTERM into a request to stop, so that what was recorded is still reported. A
 * second signal ends this process at once.
 */
export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let first = Number.NaN;
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (performance.now() - first > REPEAT_MS) process.exit(signalExitCode(signal));
      return;
    }
    first = performance.now();
    controller.abort(signal);
  };
  const signals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    dispose: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
