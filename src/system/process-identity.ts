import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { containerOf, isGoneWithItsNamespace, statOf } from "./other-namespace.ts";
import { errorCode } from "./system-error.ts";

/**
 * Identifies a process so that a later process with the same number is not mistaken for it. Linux tells all of
 * these facts. Elsewhere host and number must do: a process that got a dead one's number is then taken for it, so
 * that what the dead process held still looks held. That errs on the safe side: nothing is ever held by two.
 */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** The id of the boot and the start of the process in ticks since then, separated by a blank; null if the kernel does not tell. */
  readonly birth: string | null;
  /**
   * The PID namespace of `pid`: a container under the same host name has another one. Null if the kernel does not
   * tell; absent in records of earlier versions.
   */
  readonly pid_namespace?: string | null;
  /** Identifies the container, the same after a restart; absent outside of containers. */
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

/** Asked of the system once, since it never changes and every job of a sweep records it. */
export function thisProcess(): ProcessIdentity {
  own ??= identityOf(process.pid);
  return own;
}

/**
 * Whether a process still runs; `elsewhere` for a process of another host or container, which cannot be checked.
 * Machines that share a directory are told apart by their host names, so a different boot means that the host was
 * restarted.
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
  // `/proc` may hide other users' processes: then a number in use has to do.
  return birth === null || now === null || now === birth;
}

function isOfEarlierBoot({ birth }: ProcessIdentity): boolean {
  const boot = ownBoot();
  return birth !== null && boot !== null && !birth.startsWith(`${boot} `);
}

/** Whether a process started on this machine since it booted, as far as the kernel tells. */
export function isOfThisBoot({ birth, host }: ProcessIdentity): boolean {
  const boot = ownBoot();
  return host === hostname() && boot !== null && birth?.startsWith(`${boot} `) === true;
}

function isInOtherNamespace({ pid_namespace: theirs }: ProcessIdentity): boolean {
  const ours = ownNamespace();
  return ours !== null && typeof theirs === "string" && theirs !== ours;
}

/** Signal 0 only asks. Another user's process answers EPERM, and so is alive. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Null if the system does not tell. A zombie counts as gone. */
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

/** Asks once for a fact that never changes; null if the system does not tell it. */
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
