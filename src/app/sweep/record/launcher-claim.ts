import { dirname } from "node:path";
import { ConfigError } from "../../../values/errors.ts";
import { type Claim, type Holder, holderOf, tryClaim } from "../../worker/process-claim.ts";
import { isRunning } from "../../worker/process-identity.ts";
import { nextCommand } from "../next-commands.ts";
import { launcherFile } from "./layout.ts";

/**
 * Makes this process the one that launches a sweep's jobs. A claim that a dead process left behind
 * counts for nothing.
 *
 * @throws ConfigError `app.sweep_record` while another process launches them
 */
export function claimSweep(folder: string): Claim {
  const attempt = tryClaim(launcherFile(folder));
  if (attempt.kind === "taken") return attempt.claim;
  throw isRun(folder, attempt.holder);
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
        ? `if that process is no more, remove ${launcherFile(folder)}`
        : `'${nextCommand("wait", directory)}' waits for it, '${nextCommand("cancel", directory)}' ends it; a new sweep can have another directory: hydra.sweep.dir=DIR`,
  });
}

/** Who launches a sweep right now; undefined where nobody does. */
export const launcherOf = (folder: string): Holder | undefined => holderOf(launcherFile(folder));
