/** Signals: those that stop a command, signals to groups of processes, and suspension by Ctrl-Z. */

import { readdirSync } from "node:fs";
import { constants } from "node:os";
import { errorCode } from "./files.ts";
import type { Signal } from "./platform-types.ts";
import { statOf } from "./process-identity.ts";

/** The signals that ask a command to stop: Ctrl-C, Ctrl-\\, `kill`, and a terminal or connection that closes. */
export const INTERRUPTS: readonly Signal[] = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"];

/** The exit code by which a program says that a signal ended it: as shells do, 128 plus the signal's number. */
export const signalCode = (signal: Signal): number => 128 + constants.signals[signal];

/** Within this time a second signal counts as the first: a terminal and a parent process may both send it. */
const REPEAT_MS = 500;

/** Returns a function that is called at each signal, and says whether it repeats the one before. */
export function watchRepeats(): () => boolean {
  let latest = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const isRepeat = now - latest < REPEAT_MS;
    latest = now;
    return isRepeat;
  };
}

/** What signals this process has got that some code in it handles. */
export interface HeardSignals {
  first(): Signal | undefined;
  release(): void;
}

/**
 * Notes the first signal that other code in this process handles. What a signal does stays as it is: without other
 * listeners there is none of ours, and ours is gone before theirs run, since modules that start programs end this
 * process if they are the only ones that listen.
 */
export function hearSignals(signals: readonly Signal[]): HeardSignals {
  let first: Signal | undefined;
  const listening = new Set<Signal>();
  const isOne = (name: string | symbol): name is Signal =>
    signals.some((signal) => signal === name);
  const forget = (signal: Signal): void => {
    if (listening.delete(signal)) process.off(signal, onSignal);
  };
  const onSignal = (signal: Signal): void => {
    first ??= signal;
    forget(signal);
  };
  const listen = (signal: Signal): void => {
    if (first !== undefined || listening.has(signal)) return;
    listening.add(signal);
    process.prependListener(signal, onSignal);
  };
  const onAdded = (name: string | symbol, listener: unknown): void => {
    if (isOne(name) && listener !== onSignal) listen(name);
  };
  const onRemoved = (name: string | symbol): void => {
    if (isOne(name) && process.listenerCount(name) === 1) forget(name);
  };
  for (const signal of signals) if (process.listenerCount(signal) > 0) listen(signal);
  process.on("newListener", onAdded);
  process.on("removeListener", onRemoved);
  return {
    first: () => first,
    release() {
      process.off("newListener", onAdded);
      process.off("removeListener", onRemoved);
      for (const signal of [...listening]) forget(signal);
    },
  };
}

/** Sends a signal to a process group. Does nothing if the group is gone or belongs to another user. */
export const signalGroup = (group: number, signal: Signal): void => send(-group, signal);

/** @param target a process, or a process group as a negative number */
function send(target: number, signal: Signal): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // It has ended, or belongs to another user (sudo). Callers are timers and listeners, in which an exception would be
    // fatal.
    const code = errorCode(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/**
 * The process groups of a process's descendants, except its own group. Profilers start programs in
 * separate groups, which a signal to the profiler's group does not reach. Empty without /proc.
 */
export function groupsBelow(pid: number): readonly number[] {
  const ownGroup = statOf(String(pid))?.group;
  const groups = new Set(descendantsOf(pid).map(({ group }) => group));
  return [...groups].filter((group) => group !== ownGroup && group !== pid);
}

/** How a program is ended with all that it started. */
export interface Ending {
  /** Sends a signal, and kills after the grace what has not ended by then. */
  end(signal: Signal): void;
  /** Kills at once. */
  kill(): void;
  /** What is still to come does not. */
  release(): void;
}

export interface EndingOptions {
  /** In milliseconds. */
  readonly graceMs: number;
  /**
   * `group`: the program leads a process group, and what it started may lead others. `process`: it is in the group of
   * this process, which is spared. `leader`: as `group`, but the signal that comes first is for its own group alone.
   */
  readonly reach: "group" | "leader" | "process";
  /** Called when it has been killed after the grace. */
  readonly onKill?: () => void;
}

export function openEnding(pid: number, { graceMs, onKill, reach }: EndingOptions): Ending {
  let timer: NodeJS.Timeout | undefined;
  // Kept: a process whose parent has ended cannot be found again.
  const targets = new Set<number>();
  const find = (): void => {
    const below =
      reach === "process"
        ? descendantsOf(pid).map((process) => process.pid)
        : groupsBelow(pid).map((group) => -group);
    for (const target of [reach === "process" ? pid : -pid, ...below]) targets.add(target);
  };
  const kill = (): void => {
    find();
    for (const target of targets) send(target, "SIGKILL");
  };
  return {
    end(signal) {
      if (reach !== "leader") find();
      for (const target of reach === "leader" ? [-pid] : targets) send(target, signal);
      timer = setTimeout(() => {
        kill();
        onKill?.();
      }, graceMs);
    },
    kill,
    release: () => clearTimeout(timer),
  };
}

/**
 * Suspends a process group and the groups of its leader's descendants.
 *
 * @returns resumes them
 */
export function suspendGroups(leader: number): () => void {
  // First, because a suspended process starts no more children.
  signalGroup(leader, "SIGSTOP");
  const groups = [leader, ...groupsBelow(leader)];
  for (const group of groups) signalGroup(group, "SIGSTOP");
  return () => {
    for (const group of groups.toReversed()) signalGroup(group, "SIGCONT");
  };
}

/** Resumes a process group, which may be suspended, and the groups of its leader's descendants. */
export function resumeGroups(leader: number): void {
  for (const group of [...groupsBelow(leader), leader]) signalGroup(group, "SIGCONT");
}

function descendantsOf(pid: number): readonly RunningProcess[] {
  const processes = runningProcesses();
  const below = new Set([pid]);
  // Process ids wrap around, so a parent may be listed after its child.
  for (let count = 0; count < below.size; ) {
    count = below.size;
    for (const process of processes) if (below.has(process.parent)) below.add(process.pid);
  }
  return processes.filter((process) => process.pid !== pid && below.has(process.pid));
}

interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

function runningProcesses(): readonly RunningProcess[] {
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(name);
      return stat === undefined ? [] : [{ pid: Number(name), ...stat }];
    });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** A resource that is suspended together with this process (Ctrl-Z), and resumed with it (`fg`, `bg`). */
export interface Suspendable {
  /** Called just before this process stops; must not wait. */
  readonly suspend?: () => void;
  /** Called as soon as this process resumes, before anything else runs. */
  readonly resume?: () => void;
}

/** Notifies its members when this process is suspended. */
export interface Suspension {
  /** @returns removes the member again */
  join(member: Suspendable): () => void;
}

/**
 * Suspends other processes along with this one: programs that it started in separate process groups, which the
 * terminal's Ctrl-Z does not reach. Without members, Ctrl-Z works as usual.
 */
export function createSuspension(): Suspension {
  const members = new Set<Suspendable>();
  const onKey = (): void => {
    for (const member of members) member.suspend?.();
    // Stop as Ctrl-Z would without a listener, so that the shell notices. This call returns when the process is
    // resumed, or at once if there is no shell that could resume it.
    process.off(KEY, onKey);
    process.kill(process.pid, KEY);
    process.on(KEY, onKey);
    for (const member of members) member.resume?.();
  };
  return {
    join(member) {
      if (members.size === 0) process.on(KEY, onKey);
      members.add(member);
      return () => {
        members.delete(member);
        if (members.size === 0) process.off(KEY, onKey);
      };
    },
  };
}

const KEY = "SIGTSTP";
