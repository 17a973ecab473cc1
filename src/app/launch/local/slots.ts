/** Slots: devices, or anything countable, that jobs have to themselves. */
import { accessSync, chmodSync, constants, lstatSync, readdirSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../../engine/values/errors.ts";
import { removeIfAllowed } from "../../../foundation/system/atomic-write.ts";
import { fileProblem, makeDirectory } from "../../../foundation/system/files.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import {
  type Claim,
  type Holder,
  holderOf,
  tryClaim,
} from "../../../foundation/system/process-claim.ts";

/** A resource that jobs share, and the share of each job. */
export interface Resource {
  /** Its slots: `0`, or several devices as one slot, `0,1`. */
  readonly slots: readonly string[];
  /** How many slots a job takes. */
  readonly perJob: number;
  /** How many jobs may share a slot. */
  readonly perSlot: number;
}

/** A job's slots of each resource, joined by commas. */
export type Slots = ReadonlyMap<string, string>;

/** The slots that a job holds. */
export interface HeldSlots {
  readonly slots: Slots;
  /** Makes the job's process the holder: it keeps the slots until it ends, even after this process is gone. */
  handTo(pid: number): void;
  /** Frees the slots once the job has ended. */
  giveBack(): void;
}

export type SlotAttempt =
  | { readonly kind: "taken"; readonly held: HeldSlots }
  /** A slot of a resource that has no free one, and its holder. */
  | {
      readonly kind: "none";
      readonly resource: string;
      readonly slot: string;
      readonly holder: Holder;
    };

/** Allocates the slots of resources. */
export interface SlotPool {
  /**
   * @param use the purpose, which other processes show
   * @throws ConfigError `app.launcher` if slots cannot be claimed, for example on a full disk
   */
  take(use: string): SlotAttempt;
}

/**
 * The folder has a file for each device of a slot and each job that holds it, claimed by the job's process: so
 * processes that share the folder never allocate more of a device than there is, and the claims of a dead process are
 * free. Slots with a common device, `0,1` and `0`, are never allocated at the same time.
 *
 * @param folder absolute
 */
export function openSlots(resources: ReadonlyMap<string, Resource>, folder: string): SlotPool {
  const take = (use: string): SlotAttempt => {
    const taken: (Taken & { readonly resource: string })[] = [];
    for (const [name, resource] of resources) {
      const found = orRelease(taken, () =>
        takeOf(resource, (device) => deviceFiles(folder, name, device), use),
      );
      if ("taken" in found)
        taken.push(...found.taken.map((slotTaken) => ({ ...slotTaken, resource: name })));
      else {
        for (const { claim } of taken) claim.release();
        return { kind: "none", resource: name, ...found };
      }
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

/** Releases what was taken if the next step fails. */
function orRelease<Result>(taken: readonly Pick<Taken, "claim">[], step: () => Result): Result {
  try {
    return step();
  } catch (error) {
    for (const { claim } of taken) claim.release();
    throw error;
  }
}

/** The devices of a slot: several if it lists numbers or identifiers, as `CUDA_VISIBLE_DEVICES` does. */
function devicesOf(slot: string): readonly string[] {
  const parts = slot.split(",").map((part) => part.trim());
  return parts.every((part) => /^(\d+|(GPU|MIG)-.+)$/.test(part)) ? parts : [slot];
}

/** The number of slots that a single job can hold: in order, without slots that share a device with an earlier one. */
export function mostSlots(slots: readonly string[]): number {
  const devices = new Set<string>();
  const apart = slots.filter((slot) => {
    const slotDevices = devicesOf(slot);
    if (slotDevices.some((device) => devices.has(device))) return false;
    for (const device of slotDevices) devices.add(device);
    return true;
  });
  return apart.length;
}

interface Taken {
  readonly slot: string;
  readonly file: string;
  readonly claim: Claim;
}

/** Takes the slots with the fewest jobs, in order. */
function takeOf(
  { perJob, perSlot, slots }: Resource,
  filesOf: (device: string) => DeviceFiles,
  use: string,
): { readonly taken: readonly Taken[] } | InUse {
  const taken: Taken[] = [];
  const devices = new Set<string>();
  let left = perJob;
  let first: InUse | undefined;
  for (let place = 1; place <= perSlot && left > 0; place++)
    for (const slot of slots) {
      const slotDevices = devicesOf(slot);
      if (left === 0) break;
      if (slotDevices.some((device) => devices.has(device))) continue;
      const found = takeSlot(slotDevices.map(filesOf), { place, parts: perSlot }, use);
      if ("holder" in found) {
        first ??= { slot, ...found };
        continue;
      }
      for (const device of slotDevices) devices.add(device);
      for (const slotTaken of found.taken) taken.push({ ...slotTaken, slot });
      left--;
    }
  if (left === 0) return { taken };
  for (const { claim } of taken) claim.release();
  if (first === undefined) throw new Error("settings have no resource without enough slots");
  return first;
}

/** A job's part of a device: place number `place` of `of` places. */
interface Part {
  readonly place: number;
  readonly parts: number;
}

interface DeviceFiles {
  readonly folder: string;
  /** The common prefix of the names of its files. */
  readonly stem: string;
}

const deviceFiles = (folder: string, resource: string, device: string): DeviceFiles => ({
  folder,
  stem: `${hostname()}-${encodeURIComponent(resource)}-${encodeURIComponent(device)}`,
});

const nameOf = ({ stem }: DeviceFiles, { parts, place }: Part): string =>
  parts === 1 ? `${stem}.json` : `${stem}+${place}of${parts}.json`;

/** Takes a place on each of the devices, or on none. */
function takeSlot(
  devices: readonly DeviceFiles[],
  part: Part,
  use: string,
): { readonly taken: readonly Omit<Taken, "slot">[] } | Pick<InUse, "holder"> {
  const taken: Omit<Taken, "slot">[] = [];
  for (const device of devices) {
    const file = join(device.folder, nameOf(device, part));
    const attempt = tryClaim(file, { use, mode: 0o600 });
    if (attempt.kind === "taken") taken.push({ file, claim: attempt.claim });
    // Claim first, then check: of two processes that claim at the same time, at least one sees the other.
    const holder =
      attempt.kind === "held"
        ? attempt.holder
        : holderOfTooMuch(device, nameOf(device, part), part);
    if (holder === undefined) continue;
    for (const { claim } of taken) claim.release();
    return { holder };
  }
  return { taken };
}

/** The holder of so much of a device that this part is not free; undefined if it is free. */
function holderOfTooMuch(
  device: DeviceFiles,
  ownName: string,
  { parts: partCount }: Part,
): Holder | undefined {
  const { folder, stem } = device;
  let left = 1 - 1 / partCount;
  for (const name of readdirSync(folder)) {
    if (name === ownName || !name.startsWith(stem)) continue;
    const [rest, parts = "1"] = /^(?:\+\d+of(\d+))?\.json$/.exec(name.slice(stem.length)) ?? [];
    const holder = rest === undefined ? undefined : holderOf(join(folder, name));
    if (holder === undefined) continue;
    left -= 1 / Number(parts);
    if (left < -1e-9) return holder;
  }
  return undefined;
}

interface InUse {
  readonly slot: string;
  readonly holder: Holder;
}

function heldSlots(taken: readonly (Taken & { readonly resource: string })[]): HeldSlots {
  let handed: number | undefined;
  const slots = new Map<string, string[]>();
  for (const { resource, slot } of taken) {
    const held = getOrCreate(slots, resource, () => []);
    // A slot of several devices has a claim for each.
    if (!held.includes(slot)) held.push(slot);
  }
  return {
    slots: new Map([...slots].map(([resource, held]) => [resource, held.join(",")])),
    handTo(pid) {
      handed = pid;
      for (const { claim } of taken) claim.handOver(pid);
    },
    giveBack() {
      for (const { claim, file } of taken) {
        if (handed === undefined) claim.release();
        // The process continues with another job: while its holder is alive, the claim cannot be taken over.
        else if (holderOf(file)?.pid === handed) removeIfAllowed(file);
        else {
          // Another process may have taken over the claim of the dead process.
          const attempt = tryClaim(file, { mode: 0o600 });
          if (attempt.kind === "taken") attempt.claim.release();
        }
      }
    },
  };
}

/**
 * The folder for slots of all sweeps of a user on this machine. It survives a logout, as a detached sweep does.
 *
 * @throws ConfigError `app.launcher` if another user owns it, or it cannot be made or written
 */
export function slotsOfMachine(): string {
  // Not the user name: a container's user may have none. On systems without numbers, the temporary directory belongs to
  // the user.
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
 * The environment variables that tell a job its slots: `gpu` is `CUDA_VISIBLE_DEVICES`; any other resource is
 * `HYDRACONF_SLOT_` plus its name in capitals.
 */
export const slotVariables = (slots: Slots): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...slots].map(([name, slot]) => [
      name === "gpu" ? "CUDA_VISIBLE_DEVICES" : `HYDRACONF_SLOT_${name.toUpperCase()}`,
      slot,
    ]),
  );
