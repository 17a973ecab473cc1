import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ProcessIdentity } from "./process-identity.ts";

/** The namespace that sees all processes of a machine (`PROC_PID_INIT_INO` of Linux). */
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
export function isGoneWithItsNamespace(
  identity: Pick<ProcessIdentity, "birth" | "container" | "pid" | "pid_namespace">,
  own: { readonly namespace: string | null; readonly container: string | null },
): boolean {
  const started = startOf(identity.birth);
  if (started === undefined) return false;
  if (own.namespace === INITIAL_NAMESPACE) return !isAmongAll(identity, started);
  if (own.container === null || identity.container !== own.container) return false;
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
    const [, , , root = "", at] = line.split(" ");
    const ofPod = /\/pods\/[^/]+\/containers\/[^/]+(?=\/[^/]+$)/.exec(root);
    if (ofPod !== null) return ofPod[0];
    if (at === "/") layer = /[ ,]upperdir=([^ ,]+)/.exec(line)?.[1] ?? null;
  }
  return layer;
}

/** Also true if we may not see all processes. */
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
