import os from "node:os";
import { INTERRUPTS } from "../../system/process-signals.ts";
import type { RecordedJob } from "./recorded-job.ts";

/**
 * Sees to it that a job's record ends when its process does, however that comes: a signal, an error
 * that nobody caught, a task that leaves by `process.exit`. Only a kill goes unnoticed; whoever
 * started the process records that.
 *
 * @param more signals that end the process, too, unless the task listens to them
 * @returns gives the signals back
 */
export function endWithProcess(
  recorded: RecordedJob,
  firstLine: (error: unknown) => string,
  more: readonly NodeJS.Signals[],
) {
  const signals = [...INTERRUPTS, ...more];
  let uncaught: string | undefined;
  const onUncaught = (error: unknown) => {
    uncaught = firstLine(error);
  };
  const onExit = (code: number) =>
    recorded.end({
      status: "failed",
      exitCode: code === 0 ? 1 : code,
      error: uncaught ?? `the process ended with code ${code} before the job did`,
    });
  let wasHeard = false;
  const onSignal = (signal: NodeJS.Signals) => {
    const isHeard = process.listenerCount(signal) > 1;
    wasHeard ||= isHeard;
    // A task that listens itself stops in its own way, and its result says so. What a scheduler sends of its own may
    // come after the signal that it listens to, and says the same.
    if (isHeard || (wasHeard && more.includes(signal))) return;
    const exitCode = 128 + os.constants.signals[signal];
    recorded.end({ status: "stopped", exitCode, error: `stopped by ${signal}` });
    process.exit(exitCode);
  };
  process.on("uncaughtExceptionMonitor", onUncaught);
  process.on("exit", onExit);
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    process.off("uncaughtExceptionMonitor", onUncaught);
    process.off("exit", onExit);
    for (const signal of signals) process.off(signal, onSignal);
  };
}
