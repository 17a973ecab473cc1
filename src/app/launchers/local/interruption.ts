import { INTERRUPTS } from "../../../system/process-signals.ts";

export interface Interruption {
  /** The first signal that came. */
  signal(): NodeJS.Signals | undefined;
  release(): void;
}

/** @param passOn is told each signal: asked twice, a job may end sooner */
export function listenForSignals(passOn: (signal: NodeJS.Signals) => void): Interruption {
  let first: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    first ??= signal;
    passOn(signal);
  };
  for (const signal of INTERRUPTS) process.on(signal, onSignal);
  return {
    signal: () => first,
    release() {
      for (const signal of INTERRUPTS) process.off(signal, onSignal);
    },
  };
}
