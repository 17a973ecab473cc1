/** Which process launches the jobs of a sweep: the claim of its record. */
import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ConfigError } from "../../engine/values/errors.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import {
  type Claim,
  type Holder,
  holderOf,
  pause,
  tryClaim,
} from "../../foundation/system/process-claim.ts";
import { isRunning } from "../../foundation/system/process-identity.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { cancelledFile, launcherFile } from "./layout.ts";
import { nextCommand } from "./next-commands.ts";
import { recordRights } from "./rights.ts";

/**
 * Makes this process the launcher of a sweep's jobs. The claim of a dead process does not count.
 *
 * @throws ConfigError `app.sweep_record` while another process launches them
 */
export function claimSweep(folder: string): Claim {
  for (let attempts = 0; ; attempts++) {
    const attempt = tryClaim(launcherFile(folder), { mode: recordRights(folder).file });
    if (attempt.kind === "taken") return attempt.claim;
    if (attempt.holder.use !== IN_ORDER || attempts === MOST_ATTEMPTS)
      throw isRun(folder, attempt.holder);
    pause();
  }
}

/**
 * Called before each job of a sweep starts: so the successor of a process whose claim was damaged finds what that has started, and
 * no job that it starts is started again.
 *
 * @throws ConfigError `app.sweep_record` if the claim is not as this process wrote it
 */
export function refuseIfLost(folder: string, claim: Claim): void {
  if (claim.isWhole()) return;
  const directory = dirname(folder);
  throw new ConfigError({
    code: "app.sweep_record",
    message: `This process has lost its claim to the sweep in '${directory}': ${launcherFile(folder)} was damaged, replaced or removed`,
    key: "hydra.sweep.dir",
    hint: `'${nextCommand("status", directory)}' shows whether another process runs the sweep; if none does, --resume ${shellQuote(directory)} goes on`,
  });
}

/**
 * Waits, without blocking this process, while another process repairs the record, so that a launcher that then claims
 * the sweep hardly ever waits.
 *
 * @param say called with the process that this waits for, if that takes long
 */
export async function awaitOrder(folder: string, say: (line: string) => void): Promise<void> {
  for (let attempts = 1; attempts <= MOST_ATTEMPTS / POLL_MS; attempts++) {
    const holder = holderOf(launcherFile(folder));
    if (holder?.use !== IN_ORDER) return;
    if (attempts === ATTEMPTS_BEFORE_NOTICE)
      say(
        `Waiting for process ${holder.pid} on ${holder.host}, which is repairing the record of the sweep in '${dirname(folder)}'`,
      );
    await wait(POLL_MS);
  }
}

/**
 * Waits until the process that started this one, to go on with the sweep, has handed it over: on a busy machine, this one may be ready
 * before. Without end, since that process may be suspended; its end is noticed.
 */
export async function awaitHandover(folder: string): Promise<void> {
  for (;;) {
    const holder = launcherOf(folder);
    if (holder?.pid !== process.ppid || isRunning(holder) !== true) return;
    await wait(POLL_MS);
  }
}

const POLL_MS = 10;
/** The number of checks after which to tell the user. */
const ATTEMPTS_BEFORE_NOTICE = 100;

/** The use of a claim that only repairs the record of a sweep and launches nothing. */
const IN_ORDER = "repairs its record";
/** A millisecond apart: a repair takes a moment, unless its process is suspended. */
const MOST_ATTEMPTS = 10_000;

/**
 * Claims a sweep only to repair its record; undefined if a process launches its jobs. Commands that read the sweep do
 * not count this claim as a driver, and a launcher waits for its release.
 */
export function claimToOrder(folder: string): Claim | undefined {
  // A claim that was handed over to this process must stay until this process takes it.
  if (launcherOf(folder) !== undefined) return undefined;
  const attempt = tryClaim(launcherFile(folder), {
    use: IN_ORDER,
    mode: recordRights(folder).file,
  });
  return attempt.kind === "taken" ? attempt.claim : undefined;
}

/**
 * Refuses like `claimSweep`, for a process that is about to write next to the record and claims it later.
 *
 * @throws ConfigError `app.sweep_record` while another process launches the sweep's jobs
 */
export function refuseIfRun(folder: string): void {
  const holder = launcherOf(folder);
  if (holder !== undefined) throw isRun(folder, holder);
}

function isRun(folder: string, holder: Holder): ConfigError {
  const directory = dirname(folder);
  return new ConfigError({
    code: "app.sweep_record",
    message: `The sweep in '${directory}' is being run by process ${holder.pid} on ${holder.host}`,
    key: "hydra.sweep.dir",
    hint:
      isRunning(holder) === "elsewhere"
        ? `if that process has ended, remove ${launcherFile(folder)}`
        : `'${nextCommand("wait", directory)}' waits for it, '${nextCommand("cancel", directory)}' ends it; for a new sweep, choose another directory with hydra.sweep.dir=DIR`,
  });
}

/** The process that launches a sweep at the moment; undefined if there is none. */
export function launcherOf(folder: string): Holder | undefined {
  const holder = holderOf(launcherFile(folder));
  return holder?.use === IN_ORDER ? undefined : holder;
}

/**
 * Marks a sweep as being cancelled: no further job of it starts, wherever its launcher runs and however a task handles
 * the signal.
 */
export const noteCancellation = (folder: string): void =>
  writeFileAtomicSync(cancelledFile(folder), "", { mode: recordRights(folder).file });

export const clearCancellation = (folder: string): void =>
  rmSync(cancelledFile(folder), { force: true });

export const isCancelled = (folder: string): boolean => existsSync(cancelledFile(folder));
