import os from "node:os";
import { watchRepeats } from "../repeated-signal.ts";
import { createSuspension, type Suspension } from "../suspension.ts";

/** What asks a command to stop: Ctrl-C, Ctrl-\\, `kill`, and a terminal or connection that closes. */
export const INTERRUPTS: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"];

/** Exit code of a process that a signal stopped, as shells count. */
export const signalExitCode = (signal: NodeJS.Signals): number =>
  128 + (os.constants.signals[signal] ?? 0);

/** The signal that asked to stop: the reason of an `AbortSignal` can be anything. */
export const interruptOf = ({ reason }: AbortSignal): NodeJS.Signals =>
  INTERRUPTS.find((signal) => signal === reason) ?? "SIGINT";

/**
 * Does something with a tool for as long as no signal comes; one aborts `stop`.
 *
 * @throws ConfigError `profile.stopped` once one has come and `work` is over, however that ended
 */
export type WithTool = <T>(work: (stop: AbortSignal) => Promise<T>) => Promise<T>;

export interface Interrupt {
  /** Aborted by the first signal, with the signal's name as its reason: stop and report. */
  readonly stop: AbortSignal;
  /** Aborted by the second: do not wait for the workload any longer, but still report. */
  readonly kill: AbortSignal;
  /** What is to stop with this process, by Ctrl-Z. */
  readonly suspension: Suspension;
  /** Gives the signals back their usual meaning. */
  readonly dispose: () => void;
}

/**
 * Turns signals into requests to stop, so that what was recorded is still reported. A third one ends
 * this process at once; by then the workload has been killed.
 */
export function listenForInterrupt(): Interrupt {
  const requests = [new AbortController(), new AbortController()] as const;
  const isRepeat = watchRepeats();
  const onSignal = (signal: NodeJS.Signals) => {
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
    dispose: () => {
      for (const signal of INTERRUPTS) process.off(signal, onSignal);
    },
  };
}
