/** A place for files that are not all there yet. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { INTERRUPTS } from "../../system/process-signals.ts";
import { signalExitCode } from "../machine/interrupt.ts";

export interface Staging {
  /** Absolute path of the new folder. */
  readonly directory: string;
  /** Removes it with everything in it. */
  readonly remove: () => void;
}

/**
 * Makes a hidden folder in `directory`. Who ends the process by Ctrl-C before `remove` leaves nothing of it, either.
 *
 * @throws the system's error where it cannot be made
 */
export function openStaging(directory: string): Staging {
  const staging = mkdtempSync(join(directory, ".report-"));
  const onSignal = (signal: NodeJS.Signals): void => {
    remove();
    process.exit(signalExitCode(signal));
  };
  const remove = (): void => {
    for (const signal of INTERRUPTS) process.off(signal, onSignal);
    rmSync(staging, { recursive: true, force: true });
  };
  for (const signal of INTERRUPTS) process.on(signal, onSignal);
  return { directory: staging, remove };
}
