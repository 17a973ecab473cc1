/** Which process a number stands for, and whether it still runs. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errorCode } from "./files.ts";

/**
 * Identifies a process so that a later process with the same number is not mistaken for it. Linux provides all of these
 * facts. Elsewhere only host and number are known: a process with a reused number is mistaken for the dead one, whose
 * claims then still look held. That is the safe side: nothing is ever held twice.
 */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /**
   * The boot id and the start of the process in ticks since boot, separated by a blank; null if the kernel does not
   * provide them.
   */
  readonly birth: string | null;
  /**
   * The PID namespace of `pid`; containers with the same host name have different ones. Null if the kernel does not
   * provide it; absent in records of earlier versions.
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

let currentIdentity: ProcessIdentity | undefined;

/** Determined once, since it never changes and every job of a sweep records it. */
export function thisProcess(): ProcessIdentity {
  // A simulated process has another number than the one before it in the same thread.
  if (currentIdentity?.pid !== process.pid) currentIdentity = identityOf(process.pid);
  return currentIdentity;
}

/**
 * Whether a process still runs; `elsewhere` for a process of another host or container, which cannot be checked.
 * Machines that share a directory are distinguished by their host names, so a different boot means that the host was
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
  // `/proc` may hide other users' processes; then a number in use counts as running.
  return birth === null || now === null || now === birth;
}

function isOfEarlierBoot({ birth }: ProcessIdentity): boolean {
  const boot = ownBoot();
  return birth !== null && boot !== null && !birth.startsWith(`${boot} `);
}

/** Whether a process was started on this machine since its boot, as far as the kernel shows. */
export function isOfThisBoot({ birth, host }: ProcessIdentity): boolean {
  const boot = ownBoot();
  return host === hostname() && boot !== null && birth?.startsWith(`${boot} `) === true;
}

function isInOtherNamespace({ pid_namespace: theirs }: ProcessIdentity): boolean {
  const ours = ownNamespace();
  return ours !== null && typeof theirs === "string" && theirs !== ours;
}

/** Signal 0 only checks. EPERM means that the process of another user is alive. */
function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Null if the system does not provide it. A zombie counts as gone. */
function birthOf(pid: number): string | null {
  const stat = statOf(String(pid));
  if (stat === undefined) return null;
  if (stat.isDead) return "dead";
  const boot = ownBoot();
  return boot === null ? null : `${boot} ${stat.started}`;
}

const ownBoot = () =>
  ownFact("boot", () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
const ownNamespace = () => ownFact("namespace", () => readlinkSync("/proc/self/ns/pid"));
const ownContainer = () =>
  ownFact("container", () => containerOf(readFileSync("/proc/self/mountinfo", "utf8")));

const OWN_FACTS = new Map<string, string | null>();

/** Reads a fact that never changes once; null if the system does not provide it. */
function ownFact(name: string, ask: () => string | null): string | null {
  const cached = OWN_FACTS.get(name);
  if (cached !== undefined) return cached;
  const fact = orNull(ask);
  OWN_FACTS.set(name, fact);
  return fact;
}

function orNull(ask: () => string | null): string | null {
  try {
    return ask();
  } catch {
    return null;
  }
}

/** The namespace that contains all processes of a machine (`PROC_PID_INIT_INO` of Linux). */
const INITIAL_NAMESPACE = "pid:[4026531836]";

/**
 * Whether a process of this boot that lives in another PID namespace than ours is certainly gone. Its number
 * alone says nothing in our namespace, but two facts help:
 *
 * - Outside of containers we see every process of the machine, including those inside containers.
 * - A restarted container counts PIDs anew, and none of its processes is older than its first one.
 *
 * The remaining case, another container under the same host name, cannot be decided.
 */
function isGoneWithItsNamespace(
  identity: Pick<ProcessIdentity, "birth" | "container" | "pid" | "pid_namespace">,
  current: { readonly namespace: string | null; readonly container: string | null },
): boolean {
  const started = startOf(identity.birth);
  if (started === undefined) return false;
  if (current.namespace === INITIAL_NAMESPACE) return !isAmongAll(identity, started);
  if (current.container === null || identity.container !== current.container) return false;
  const first = statOf("1");
  // Without a session of its own, process 1 was not started by a container runtime, but by `unshare` inside the container.
  return first !== undefined && first.session === 1 && started < first.started;
}

/**
 * Identifies a container by the mounts of one of its processes: Kubernetes' pod and container, which stay the same
 * when it restarts, or else its writable layer, which no two containers share. Null outside of containers, and if
 * the mounts show neither.
 *
 * @param mounts the text of `/proc/self/mountinfo`
 */
export function containerOf(mounts: string): string | null {
  let layer: string | null = null;
  for (const line of mounts.split("\n")) {
    const [, , , root = "", mountPoint] = line.split(" ");
    const ofPod = /\/pods\/[^/]+\/containers\/[^/]+(?=\/[^/]+$)/.exec(root);
    if (ofPod !== null) return ofPod[0];
    if (mountPoint === "/") layer = /[ ,]upperdir=([^ ,]+)/.exec(line)?.[1] ?? null;
  }
  return layer;
}

/** Also true if some processes are hidden from us. */
function isAmongAll({ pid, pid_namespace: theirs }: ProcessLike, started: number): boolean {
  // `hidepid` hides other users' processes from everybody but root.
  if (statOf("1") === undefined) return true;
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    const stat = statOf(name);
    if (stat === undefined || stat.isDead || stat.started !== started) return false;
    return numberInOwnNamespace(name) === pid && mayBeIn(name, theirs);
  });
}

type ProcessLike = Pick<ProcessIdentity, "pid" | "pid_namespace">;

function numberInOwnNamespace(name: string): number | undefined {
  const numbers = /^NSpid:\s*(.*)$/m.exec(text(`/proc/${name}/status`) ?? "")?.[1];
  return numbers === undefined ? undefined : Number(numbers.split(/\s+/).at(-1));
}

/** Also true for other users' processes, whose namespaces we may not read. */
function mayBeIn(name: string, namespace: ProcessLike["pid_namespace"]): boolean {
  try {
    return readlinkSync(`/proc/${name}/ns/pid`) === namespace;
  } catch {
    return true;
  }
}

/** Ticks since the boot. */
function startOf(birth: string | null): number | undefined {
  const ticks = Number(birth?.split(" ")[1]);
  return Number.isFinite(ticks) ? ticks : undefined;
}

interface Stat {
  readonly isDead: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The process group in the foreground of its terminal; -1 without a terminal. */
  readonly foreground: number;
  /** Ticks since the boot. */
  readonly started: number;
}

/** `/proc/NAME/stat` (proc(5)); undefined if there is no such process, or it is hidden. */
export function statOf(name: string): Stat | undefined {
  const stat = text(`/proc/${name}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may contain anything. The state is the first field after it, the start time the 20th.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group, session, , foreground] = fields;
  return {
    isDead: state === "Z" || state === "X",
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground),
    started: Number(fields[19]),
  };
}

function text(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
