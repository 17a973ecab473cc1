import { relative } from "node:path";
import { listenForInterrupt, signalExitCode } from "./interrupt.ts";
import { describeOutcome, succeeded } from "./machine/process.ts";
import { terminalProgress } from "./progress.ts";
import { type ProfileRequest, type ProfileResult, profile } from "./run.ts";
import { showFiles, showRegions, type Terminal } from "./terminal-report.ts";
import { type WrittenRun, writeRun } from "./write-run.ts";

export { configFingerprint } from "./fingerprint.ts";

export interface MainRequest
  extends Pick<ProfileRequest, "config" | "fingerprint" | "runDirectory" | "cwd"> {
  readonly log: { info(message: string): void; error(message: string): void };
  readonly terminal: Terminal;
}

/**
 * The task of `deep-profile`: profiles, shows the result, writes everything a run directory holds.
 *
 * @returns 0; 1 when the workload failed or something could not be written; 128 and the signal's
 *   number when a signal stopped the run
 */
export async function profileMain(request: MainRequest): Promise<number> {
  const interrupt = listenForInterrupt();
  try {
    const result = await profile({
      ...request,
      progress: terminalProgress(),
      say: request.log.info,
      interrupt,
    });
    if (succeeded(result.outcome)) request.log.info(describeOutcome(result.outcome));
    // Shown before anything is written: a full disk must not hide what was measured.
    showRegions(result, request.terminal);
    const written = await writeRun(result, request.config, request.runDirectory);
    showFiles(written.reports, request);
    return conclude(result, written, request);
  } finally {
    interrupt.dispose();
  }
}

/** Says what went wrong and makes it an exit code. */
function conclude({ outcome }: ProfileResult, written: WrittenRun, request: MainRequest): number {
  const { log, runDirectory, cwd, terminal } = request;
  for (const failure of written.failures) log.error(`could not be written: ${failure}`);
  if (outcome.interruptedBy !== null) return signalExitCode(outcome.interruptedBy);
  if (succeeded(outcome)) return written.failures.length === 0 ? 0 : 1;
  log.error(
    `${describeOutcome(outcome)}; its results are in ${relative(cwd, runDirectory) || "."}`,
  );
  const tail = outcome.stderrTail === "" ? "" : `; its last words:\n${outcome.stderrTail}`;
  terminal.writeError(`${describeOutcome(outcome)}${tail}\n`);
  return 1;
}
