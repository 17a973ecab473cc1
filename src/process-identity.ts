import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { containerOf, isGoneWithItsNamespace, statOf } from "./other-namespace.ts";
import { errorCode } from "./system-error.ts";

/**
 * Names a process so that another one which gets the same number later is not taken for it. Linux tells all
 * of it. Elsewhere host and number must do: a process with the number of a dead one is taken for it then, so
 * that what the dead one held looks held until it ends, and is never given to two.
 */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** The boot, and the start of the process after it, in the kernel's words; null where it does not tell. */
  readonly birth: string | null;
  /**
   * What the number counts in: a container of the same host name has another one. Null where the kernel does not
   * tell; not there in records of earlier versions.
   */
  readonly pid_namespace?: string | null;
  /** The container, by a name that it keeps when it is started again; not there outside of one. */
  readonly container?: string;
}

export function identityOf(pid: number): ProcessIdentity {
  const container = ownContainer();
  return {
    host: hostname(),
    pid,
    birth: birthOf(pid),
    pid_namespace: ownNamespace(),
    ...(container !== null && { container }),
  };
}

let own: ProcessIdentity | undefined;

/** A fact that never changes, asked of the system once: every job of a sweep names it. */
export function thisProcess(): ProcessIdentity {
  own ??= identityOf(process.pid);
  return own;
}

/**
 * Whether a process still runs; `elsewhere` for one of another host or container, which cannot be asked. Machines
 * that share a directory are told apart by their host names: a host with another boot has been started again.
 */
export function isRunning(identity: ProcessIdentity): boolean | "elsewhere" {
  const { birth, host, pid } = identity;
  if (host !== hostname()) return "elsewhere";
  if (isOfEarlierBoot(identity)) return false;
  if (isInOtherNamespace(identity))
    return isGoneWithItsNamespace(identity, {
      namespace: ownNamespace(),
      container: ownContainer(),
    })
      ? false
      : "elsewhere";
  if (!isAlive(pid)) return false;
  const now = birthOf(pid);
  // Where `/proc` hides the processes of other users, a number that is taken has to do.
  return birth === null || now === null || now === birth;
}

function isOfEarlierBoot({ birth }: ProcessIdentity): boolean {
  const boot = ownBoot();
  return birth !== null && boot !== null && !birth.startsWith(`${boot} `);
}

/** Whether a process began on this machine, and since it was started last: as far as the kernel tells. */
export function isOfThisBoot({ birth, host }: ProcessIdentity): boolean {
  const boot = ownBoot();
  return host === hostname() && boot !== null && birth?.startsWith(`${boot} `) === true;
}

function isInOtherNamespace({ pid_namespace: theirs }: ProcessIdentity): boolean {
  const ours = ownNamespace();
  return ours !== null && typeof theirs === "string" && theirs !== ours;
}

/** Signal 0 only asks; a process of another user is alive and refuses the question. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Linux tells both; a process that is dead but not waited for counts as gone. */
function birthOf(pid: number): string | null {
  const stat = statOf(String(pid));
  if (stat === undefined) return null;
  if (stat.isDead) return "dead";
  const boot = ownBoot();
  return boot === null ? null : `${boot} ${stat.started}`;
}

const ownBoot = once(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
const ownNamespace = once(() => readlinkSync("/proc/self/ns/pid"));
const ownContainer = once(() => containerOf(readFileSync("/proc/self/mountinfo", "utf8")));

/** What the kernel says and never changes; null where it does not say. */
function once(ask: () => string | null): () => string | null {
  let known: string | null | undefined;
  return () => {
    if (known === undefined)
      try {
        known = ask();
      } catch {
        known = null;
      }
    return known;
  };
}
