import { existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { writeFileAtomicSync } from "../system/atomic-write.ts";
import { type Claim, type Holder, holderOf, pause, tryClaim } from "../system/process-claim.ts";
import { isRunning } from "../system/process-identity.ts";
import { ConfigError } from "../values/errors.ts";
import { cancelledFile, launcherFile } from "./layout.ts";
import { nextCommand } from "./next-commands.ts";

/**
 * Makes this process the one that launches a sweep's jobs. A claim that a dead process left behind
 * counts for nothing.
 *
 * @throws ConfigError `app.sweep_record` while another process launches them
 */
export function claimSweep(folder: string): Claim {
  for (let looks = 0; ; looks++) {
    const attempt = tryClaim(launcherFile(folder));
    if (attempt.kind === "taken") return attempt.claim;
    if (attempt.holder.use !== IN_ORDER || looks === MOST_LOOKS)
      throw isRun(folder, attempt.holder);
    pause();
  }
}

/**
 * Waits, without holding up this process, for who only puts the record in order: a launcher that claims the sweep
 * then is hardly ever held up.
 *
 * @param say called with whom this waits for, where that takes long
 */
export async function awaitOrder(folder: string, say: (line: string) => void): Promise<void> {
  for (let looks = 1; looks <= MOST_LOOKS / LOOK_MS; looks++) {
    const holder = holderOf(launcherFile(folder));
    if (holder?.use !== IN_ORDER) return;
    if (looks === LONG_LOOKS)
      say(
        `Waiting for process ${holder.pid} on ${holder.host}, which is repairing the record of the sweep in '${dirname(folder)}'`,
      );
    await wait(LOOK_MS);
  }
}

const LOOK_MS = 10;
/** Looks after which people want to know. */
const LONG_LOOKS = 100;

/** What a process does with the claim that only puts the record of a sweep in order: it launches nothing. */
const IN_ORDER = "repairs its record";
/** A millisecond apart: who does that is done in a moment, unless it is stopped. */
const MOST_LOOKS = 10_000;

/**
 * The claim for a command that only puts the record of a sweep in order; undefined where a process launches it. For commands that look at
 * the sweep this process drives nothing meanwhile, and a launcher that comes waits for it.
 */
export function claimToOrder(folder: string): Claim | undefined {
  // A claim that was handed to this process must be there until it is taken up.
  if (launcherOf(folder) !== undefined) return undefined;
  const attempt = tryClaim(launcherFile(folder), IN_ORDER);
  return attempt.kind === "taken" ? attempt.claim : undefined;
}

/**
 * The same refusal for who is about to write beside the record and claims it later.
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

/** The process that launches a sweep right now; undefined without one. */
export function launcherOf(folder: string): Holder | undefined {
  const holder = holderOf(launcherFile(folder));
  return holder?.use === IN_ORDER ? undefined : holder;
}

/**
 * Says that a sweep is being cancelled: no other job of it starts, wherever its launcher runs and whatever
 * a task makes of the signal that asks it to end.
 */
export const noteCancellation = (folder: string): void =>
  writeFileAtomicSync(cancelledFile(folder), "");

export const clearCancellation = (folder: string): void =>
  rmSync(cancelledFile(folder), { force: true });

export const isCancelled = (folder: string): boolean => existsSync(cancelledFile(folder));
