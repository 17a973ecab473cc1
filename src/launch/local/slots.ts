import { accessSync, chmodSync, constants, lstatSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileProblem, makeDirectory } from "../../system/files.ts";
import { type Claim, type Holder, tryClaim } from "../../system/process-claim.ts";
import { ConfigError } from "../../values/errors.ts";

/** What a job has to itself while it runs: one slot of every resource. */
export type Slots = ReadonlyMap<string, string>;

/** Slots that a job has. */
export interface HeldSlots {
  readonly slots: Slots;
  /**
   * Makes the job's process their holder: it has them until it ends, also when we are gone by then.
   */
  handTo(pid: number): void;
  /** Lets others have them, once the job's process has ended. */
  giveBack(): void;
}

export type SlotAttempt =
  | { readonly kind: "taken"; readonly held: HeldSlots }
  /** Of a resource that has none left, one slot and who has it. */
  | {
      readonly kind: "none";
      readonly resource: string;
      readonly slot: string;
      readonly holder: Holder;
    };

/** Shares out the slots of resources. */
export interface SlotPool {
  /**
   * @param use what for, as others are told
   * @throws ConfigError `app.launcher` where slots cannot be claimed: the disk is full, say
   */
  take(use: string): SlotAttempt;
}

/**
 * A slot is a file in the folder, claimed by a process: so processes that share the folder never give
 * a slot to two jobs, and what a dead process had is free.
 *
 * @param folder absolute
 */
export function openSlots(
  resources: ReadonlyMap<string, readonly string[]>,
  folder: string,
): SlotPool {
  const fileOf = (resource: string, slot: string) =>
    join(folder, `${hostname()}-${encodeURIComponent(resource)}-${encodeURIComponent(slot)}.json`);
  const take = (use: string): SlotAttempt => {
    const taken: Taken[] = [];
    for (const [resource, slots] of resources) {
      const found = firstFree(resource, slots, fileOf, use);
      if ("claim" in found) {
        taken.push(found);
        continue;
      }
      for (const { claim } of taken) claim.release();
      return { kind: "none", resource, ...found };
    }
    return { kind: "taken", held: heldSlots(taken) };
  };
  return {
    take(use) {
      try {
        return take(use);
      } catch (cause) {
        throw unusable(folder, cause);
      }
    },
  };
}

interface Taken {
  readonly resource: string;
  readonly slot: string;
  readonly file: string;
  readonly claim: Claim;
}

function firstFree(
  resource: string,
  slots: readonly string[],
  fileOf: (resource: string, slot: string) => string,
  use: string,
): Taken | InUse {
  let first: InUse | undefined;
  for (const slot of slots) {
    const file = fileOf(resource, slot);
    const attempt = tryClaim(file, use);
    if (attempt.kind === "taken") return { resource, slot, file, claim: attempt.claim };
    first ??= { slot, holder: attempt.holder };
  }
  if (first === undefined) throw new Error("settings have no resource without slots");
  return first;
}

interface InUse {
  readonly slot: string;
  readonly holder: Holder;
}

function heldSlots(taken: readonly Taken[]): HeldSlots {
  let isHanded = false;
  return {
    slots: new Map(taken.map(({ resource, slot }) => [resource, slot])),
    handTo(pid) {
      isHanded = true;
      for (const { claim } of taken) claim.handOver(pid);
    },
    giveBack() {
      for (const { claim, file } of taken) {
        if (!isHanded) claim.release();
        else {
          // Another process may have noticed earlier that the process is gone.
          const attempt = tryClaim(file);
          if (attempt.kind === "taken") attempt.claim.release();
        }
      }
    },
  };
}

/**
 * Where all sweeps of a user on this machine share out their slots. It outlasts logging out, as a sweep
 * that was left does.
 *
 * @throws ConfigError `app.launcher` where another user has made it, or it cannot be made or written
 */
export function slotsOfMachine(): string {
  // Not the name: a container's user may have none. Where there are no numbers, the directory is a user's own.
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `hydraconf-slots-${uid ?? "own"}`);
  try {
    makeDirectory(folder);
    const { mode, uid: owner } = lstatSync(folder);
    if (uid !== undefined && owner !== uid) throw new Error("it belongs to another user");
    if (uid !== undefined && (mode & 0o077) !== 0) chmodSync(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return folder;
  } catch (cause) {
    throw unusable(folder, cause);
  }
}

const unusable = (folder: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `Cannot manage slots in '${folder}': ${fileProblem(cause)}`,
    key: "hydra.launcher.slot_scope",
    hint: "set TMPDIR to a directory of your own with free space, the same for all your sweeps; or set hydra.launcher.slot_scope=sweep to share slots only among the jobs of this sweep",
    cause,
  });

/**
 * How a job learns of its slots: `gpu` is what CUDA lets it see; any other resource `name` is in
 * `HYDRACONF_SLOT_` and that name in capitals.
 */
export const slotVariables = (slots: Slots): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...slots].map(([name, slot]) => [
      name === "gpu" ? "CUDA_VISIBLE_DEVICES" : `HYDRACONF_SLOT_${name.toUpperCase()}`,
      slot,
    ]),
  );
