/** The processes of a program, and what Linux says of them in /proc. Elsewhere nothing is seen. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { statOf } from "../../../foundation/system/process-identity.ts";

interface ProcessTree {
  /** Those that run now, by number, with their start in ticks since boot. */
  readonly look: () => ReadonlyMap<number, number>;
  /** Those last seen. */
  readonly pids: () => Iterable<number>;
  readonly size: () => number;
  /** Whether none of those last seen runs any more. */
  readonly isOver: () => boolean;
}

/** A program and the processes that it started, also those whose parent has ended. */
export function createProcessTree(pid: number): ProcessTree {
  const running = new Map<number, number>();
  const first = statOf(String(pid))?.started;
  if (first !== undefined) running.set(pid, first);
  return {
    look: () => followed(running),
    pids: () => running.keys(),
    size: () => running.size,
    isOver: () => running.size === 0,
  };
}

function followed(running: Map<number, number>): ReadonlyMap<number, number> {
  const queue = [...running.keys()];
  for (let index = 0; index < queue.length; index++) {
    const pid = queue[index] ?? 0;
    const stat = statOf(String(pid));
    if (stat === undefined || stat.isDead || stat.started !== (running.get(pid) ?? stat.started)) {
      running.delete(pid);
      continue;
    }
    running.set(pid, stat.started);
    for (const child of childrenOf(pid)) if (!running.has(child)) queue.push(child);
  }
  return running;
}

const childrenOf = (pid: number): readonly number[] =>
  threadsOf(pid).flatMap((task) =>
    (textOf(join("/proc", String(pid), "task", task, "children")) ?? "")
      .split(" ")
      .filter((word) => word !== "")
      .map(Number),
  );

/** The numbers of a process's threads; none once it has ended. */
export const threadsOf = (pid: number): readonly string[] =>
  namesIn(join("/proc", String(pid), "task"));

/** The contents of a file; null where it cannot be read. */
export function textOf(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
