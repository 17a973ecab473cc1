/** Signals that stop a measurement, which is then still reported. */
import os from "node:os";
import type { Signal, StopSignal } from "../../foundation/system/platform-types.ts";
import {
  createSuspension,
  INTERRUPTS,
  type Suspension,
  watchRepeats,
} from "../../foundation/system/process-signals.ts";

/** The exit code of a process that a signal stopped, in the convention of shells. */
export const signalExitCode = (signal: Signal): number => 128 + (os.constants.signals[signal] ?? 0);

/** The signal that asked to stop; SIGINT if the `AbortSignal` was aborted for another reason. */
export const interruptOf = ({ reason }: StopSignal): Signal =>
  INTERRUPTS.find((signal) => signal === reason) ?? "SIGINT";

/**
 * Runs `work`, which uses an external tool. A signal aborts `stop`.
 *
 * @throws ConfigError `profile.stopped` when `work` ends after a signal, whether it succeeded or not
 */
export type WithTool = <T>(work: (stop: StopSignal) => Promise<T>) => Promise<T>;

export interface Interrupt {
  /** Aborted by the first signal, with the signal's name as its reason: stop and report. */
  readonly stop: StopSignal;
  /** Aborted by the second: do not wait for the workload any longer, but still report. */
  readonly kill: StopSignal;
  /** Suspends other processes together with this one, on Ctrl-Z. */
  readonly suspension: Suspension;
  readonly isGuarded: boolean;
  /** Restores the usual meaning of the signals. */
  readonly dispose: () => void;
}

/**
 * Turns signals into stop requests, so that the recording is still reported. A third signal ends this process at once;
 * by then the workload has been killed.
 *
 * @param isGuarded whether workloads are killed if this process is (`StopRequests`)
 */
export function listenForInterrupt(isGuarded = false): Interrupt {
  const requests = [new AbortController(), new AbortController()] as const;
  const isRepeat = watchRepeats();
  const onSignal = (signal: Signal) => {
    if (isRepeat()) return;
    const next = requests.find((request) => !request.signal.aborted);
    if (next === undefined) process.exit(signalExitCode(signal));
    next.abort(signal);
  };
  for (const signal of INTERRUPTS) process.on(signal, onSignal);
  return {
    stop: requests[0].signal,
    kill: requests[1].signal,
    suspension: createSuspension(),
    isGuarded,
    dispose: () => {
      for (const signal of INTERRUPTS) process.off(signal, onSignal);
    },
  };
}
