import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { ProcessIdentity } from "./process-identity.ts";

/** The namespace that sees all processes of a machine (`PROC_PID_INIT_INO` of Linux). */
const INITIAL_NAMESPACE = "pid:[4026531836]";

/**
 * Whether a process of this boot, which counts its number in another namespace than ours, is certainly gone. A
 * number says nothing across namespaces; two facts do:
 *
 * - Outside of containers all processes of the machine can be seen, those in containers, too.
 * - A container that was started again counts anew, and nothing of it is older than its first process.
 *
 * What is left, a container beside ours under the same host name, cannot be asked.
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
  // One of no session of its own was not started by a container's runtime: `unshare`, inside of the container.
  return first !== undefined && first.session === 1 && started < first.started;
}

/**
 * A container's name, from what is mounted in one of its processes: Kubernetes' pod and container, which outlast a
 * restart, else the layer that the container writes to, which no two containers share. Null outside of containers
 * and where neither is told.
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

/** True as well where not all processes can be seen. */
function isAmongAll({ pid, pid_namespace: theirs }: ProcessLike, started: number): boolean {
  // Hidden from who is not root (`hidepid`).
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

/** Of another user's process nobody is told. */
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
  /** The process group that its terminal is for; -1 where it has none. */
  readonly foreground: number;
  /** Ticks since the boot. */
  readonly started: number;
}

/** `/proc/NAME/stat` (proc(5)); undefined for no such process, and for a hidden one. */
export function statOf(name: string): Stat | undefined {
  const stat = text(`/proc/${name}/stat`);
  if (stat === undefined) return undefined;
  // The name in parentheses may hold anything; state is the first field after it, start the 20th.
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
