/** Signals that ask this process to end. */
import type { Signal } from "../../../foundation/system/platform-types.ts";
import {
  INTERRUPTS,
  signalCode,
  watchRepeats,
} from "../../../foundation/system/process-signals.ts";

/** A request to end this process, from the moment listening begins. */
export interface Interrupt {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** The first signal; undefined before it. */
  name(): Signal | undefined;
  /** 128 plus the signal's number, as shells report it; undefined before a signal. */
  exitCode(): number | undefined;
  release(): void;
}

/**
 * Listens for signals that ask this process to end, so that work in progress can be finished. A second signal ends the
 * process as usual, unless it only repeats the first.
 */
export function listenForInterrupt(signals: readonly Signal[] = INTERRUPTS): Interrupt {
  const controller = new AbortController();
  let first: Signal | undefined;
  const isRepeat = watchRepeats();
  // Not `once`: modules that start programs listen, too, and end this process if theirs is the only listener.
  const onSignal = (name: Signal): void => {
    if (isRepeat()) return;
    if (first === undefined) {
      first = name;
      controller.abort();
      return;
    }
    release();
    process.kill(process.pid, name);
  };
  const release = (): void => {
    for (const name of signals) process.off(name, onSignal);
  };
  for (const name of signals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    name: () => first,
    exitCode: () => (first === undefined ? undefined : signalCode(first)),
    release,
  };
}
