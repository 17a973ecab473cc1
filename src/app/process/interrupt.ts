import { constants } from "node:os";
import { watchRepeats } from "../../repeated-signal.ts";

/** What came of listening for those who want this process to end. */
export interface Interrupt {
  /** Aborts by the first signal. */
  readonly signal: AbortSignal;
  /** As shells tell it, 128 and the signal's number; undefined while none has come. */
  exitCode(): number | undefined;
  release(): void;
}

/**
 * Listens to SIGINT and SIGTERM, so that what is at hand can be brought to an end. A second one ends this process as
 * it always would, unless it is the first one again.
 */
export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let code: number | undefined;
  const isRepeat = watchRepeats();
  // Not `once`: who starts programs listens, too, and would end this process where nobody else does any more.
  const onSignal = (name: NodeJS.Signals): void => {
    if (isRepeat()) return;
    if (code === undefined) {
      code = 128 + constants.signals[name];
      controller.abort();
      return;
    }
    release();
    process.kill(process.pid, name);
  };
  const release = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return { signal: controller.signal, exitCode: () => code, release };
}

const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"];
