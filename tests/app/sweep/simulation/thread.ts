/**
 * A thread in which processes of a simulated sweep run, one after the other: the whole program, with its files in memory, and with clock,
 * timers, process table, signals and child processes of the simulation. Before each file operation within a sweep another process may go
 * on, and a process that has been killed does nothing more.
 */
import childProcess from "node:child_process";
import crypto from "node:crypto";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import module from "node:module";
import timers from "node:timers/promises";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { hydraMain } from "../../../../src/app/cli/hydra-main.ts";
import { takeWorkerRequest } from "../../../../src/app/job/process/invocation.ts";
import { optionsWith, SWEEP_PATH, sweepTask } from "./program.ts";
import {
  type FromThread,
  NEVER,
  type Question,
  type Shared,
  STATE,
  type Start,
  type ToThread,
} from "./shared.ts";

const KILLED = Symbol("killed");
const EXIT = Symbol("exit");

const real = {
  fs: { ...fs },
  setImmediate: globalThis.setImmediate.bind(globalThis),
  Date: globalThis.Date,
};

interface Timer {
  readonly id: number;
  readonly at: number;
  readonly every: number | undefined;
  readonly run: () => void;
  isRef: boolean;
}

/** A process that this one has started, as it sees it. */
interface Child extends EventEmitter {
  readonly pid: number;
  isRef: boolean;
  connected: boolean;
  exitCode: number | null;
  signalCode: NodeJS.Signals | null;
}

/** How a process ended. */
interface Over {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The clock begins at a day, so that times are not negative. */
const EPOCH = real.Date.UTC(2026, 0, 2);

export function runThread(thread: number, world: Shared, port: MessagePort): void {
  let pid = 0;
  let isDead = true;
  let timersLeft: Timer[] = [];
  let nextTimer = 1;
  let printed = "";
  const children = new Map<number, Child>();
  let hasChannel = false;
  const post = (message: FromThread) => port.postMessage(message);

  const checkAlive = (): void => {
    if (isDead || world.isKilled(thread)) throw KILLED;
  };
  /** Another process may go on here. */
  const gate = (): void => {
    checkAlive();
    if (world.random(5) !== 0) return;
    world.yieldTurn(thread, STATE.ready);
    checkAlive();
  };

  // Files.
  const files = fs as unknown as Record<string, unknown>;
  const isOfSweep = (target: unknown): boolean =>
    typeof target === "number" || String(target).includes(SWEEP_PATH);
  const GATED = [
    ...["accessSync", "appendFileSync", "chmodSync", "existsSync", "fsyncSync", "ftruncateSync"],
    ...["linkSync", "mkdirSync", "openSync", "readdirSync", "readFileSync", "renameSync"],
    ...[
      "copyFileSync",
      "rmSync",
      "rmdirSync",
      "statSync",
      "truncateSync",
      "writeFileSync",
      "writeSync",
    ],
  ];
  for (const name of GATED) {
    const original = files[name] as (...args: unknown[]) => unknown;
    files[name] = (target: unknown, ...rest: unknown[]) => {
      if (!isOfSweep(target)) return original(target, ...rest);
      try {
        gate();
      } catch (error) {
        // A write is cut short as well as left out.
        if (error === KILLED && name === "writeFileSync" && !isDead && world.random(2) === 0)
          original(
            target,
            String(rest[0]).slice(0, world.random(String(rest[0]).length + 1)),
            rest[1],
          );
        throw error;
      }
      // Nothing has to survive a crash of the machine.
      return name === "fsyncSync" ? undefined : original(target, ...rest);
    };
  }
  const readFile = files["readFileSync"] as (...args: unknown[]) => unknown;
  files["readFileSync"] = (target: unknown, ...rest: unknown[]) => {
    const [, number] = /^\/proc\/(\d+)\/stat$/.exec(String(target)) ?? [];
    if (number === undefined) return readFile(target, ...rest);
    if (!world.isAlive(Number(number)))
      throw Object.assign(new Error(`ENOENT: ${target}`), { code: "ENOENT", syscall: "open" });
    // As proc(5): the state is the first field after the name, the start time the 20th.
    const zeros = Array.from({ length: 13 }, () => "0");
    return `${number} (sim) ${["S", "1", number, number, "0", "-1", ...zeros, `${number}0`].join(" ")}\n`;
  };
  const readFolder = files["readdirSync"] as (...args: unknown[]) => unknown;
  files["readdirSync"] = (target: unknown, ...rest: unknown[]) =>
    target === "/proc" ? [] : readFolder(target, ...rest);

  // The clock.
  const clock = () => world.now();
  globalThis.performance.now = clock;
  process.hrtime.bigint = () => BigInt(clock()) * 1_000_000n;
  globalThis.Date = class extends real.Date {
    constructor(...args: readonly unknown[]) {
      if (args.length === 0) super(EPOCH + clock());
      else super(...(args as [number]));
    }
    static override now = () => EPOCH + clock();
  } as DateConstructor;

  // Timers.
  const startTimer = (run: () => void, after: number, every?: number) => {
    const timer: Timer = {
      id: nextTimer++,
      at: clock() + Math.max(1, Math.ceil(after)),
      every,
      run,
      isRef: true,
    };
    timersLeft.push(timer);
    const handle = {
      ref: () => handle,
      unref() {
        timer.isRef = false;
        return handle;
      },
      hasRef: () => timer.isRef,
      id: timer.id,
    };
    return handle;
  };
  const stopTimer = (handle: unknown): void => {
    const id = (handle as { id?: number } | undefined)?.id;
    timersLeft = timersLeft.filter((timer) => timer.id !== id);
  };
  const globals = globalThis as unknown as Record<string, unknown>;
  globals["setTimeout"] = (run: (...args: unknown[]) => void, after = 1, ...args: unknown[]) =>
    startTimer(() => run(...args), after);
  globals["setInterval"] = (run: () => void, every = 1) => startTimer(run, every, every);
  globals["clearTimeout"] = stopTimer;
  globals["clearInterval"] = stopTimer;
  const sleep = (after = 1, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((done, fail) => {
      const timer = startTimer(() => done(value), after);
      const onAbort = () => {
        stopTimer(timer);
        fail(new Error("aborted"));
      };
      if (signal?.aborted === true) onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  Object.assign(timers, { setTimeout: sleep, setImmediate: (value?: unknown) => sleep(1, value) });
  // `pause` of `process-claim.ts`.
  Atomics.wait = ((_cells: unknown, _index: number, _value: unknown, after = NEVER) => {
    checkAlive();
    world.yieldTurn(thread, STATE.idle, clock() + after);
    checkAlive();
    return "timed-out";
  }) as typeof Atomics.wait;

  // Processes.
  Object.defineProperty(process, "pid", { get: () => pid, configurable: true });
  Object.defineProperty(process, "connected", { get: () => hasChannel, configurable: true });
  process.send = (value: unknown) => {
    checkAlive();
    post({ kind: "message", to: "parent", value });
    return true;
  };
  process.kill = (target: number, signal: NodeJS.Signals | number = "SIGTERM"): true => {
    checkAlive();
    const leader = Math.abs(target);
    if (!world.isAlive(leader))
      throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH", syscall: "kill" });
    if (typeof signal === "string") post({ kind: "kill", pid: leader, signal });
    if (leader === pid && signal === "SIGKILL") throw KILLED;
    return true;
  };
  process.exit = ((code?: number) => {
    process.exitCode = code ?? process.exitCode ?? 0;
    throw EXIT;
  }) as typeof process.exit;
  (childProcess as unknown as Record<string, unknown>)["spawn"] = (
    _file: string,
    args: readonly string[],
    {
      env,
      stdio,
    }: { readonly env: Readonly<Record<string, string>>; readonly stdio: readonly unknown[] },
  ) => {
    gate();
    const to = world.newPid();
    const hasChannelTo = stdio.includes("ipc");
    const ref = (isRef: boolean) => () => {
      child.isRef = isRef;
    };
    const child = Object.assign(new EventEmitter(), {
      pid: to,
      isRef: true,
      connected: hasChannelTo,
      exitCode: null as number | null,
      signalCode: null as NodeJS.Signals | null,
      channel: { ref: () => {}, unref: () => {} },
      ref: ref(true),
      unref: ref(false),
      send: (value: unknown) => post({ kind: "message", to, value }),
      disconnect() {
        child.connected = false;
        post({ kind: "disconnect", to });
      },
    });
    children.set(to, child);
    post({ kind: "spawn", pid: to, argv: args.slice(1), env, hasChannel: hasChannelTo });
    gate();
    return child;
  };
  (crypto as unknown as Record<string, unknown>)["randomUUID"] = () => {
    const hex = Array.from({ length: 32 }, () => world.random(16).toString(16)).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };
  module.syncBuiltinESMExports();

  /** Asks the simulated scheduler, which answers at once. */
  const ask = (question: Question): unknown => {
    checkAlive();
    post({ kind: "ask", question });
    world.yieldTurn(thread, STATE.ready);
    checkAlive();
    for (const message of received()) {
      if (message.kind === "answer") return message.value;
      waiting.push(message);
    }
    throw new Error("the scheduler does not answer");
  };

  let waiting: ToThread[] = [];
  function* received(): Generator<ToThread> {
    for (
      let next = receiveMessageOnPort(port);
      next !== undefined;
      next = receiveMessageOnPort(port)
    )
      yield next.message as ToThread;
  }

  const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (code !== null && signal === null) {
      try {
        process.emit("exit", code);
      } catch {
        // It was killed meanwhile.
      }
    }
    isDead = true;
    for (const name of process.eventNames()) process.removeAllListeners(name);
    process.exitCode = undefined;
    timersLeft = [];
    children.clear();
    waiting = [];
    for (const message of received()) void message;
    post({ kind: "over", code, signal, printed });
    // What the process has left behind does nothing; the next turn is that of another one.
    real.setImmediate(() => real.setImmediate(next));
  };

  /** A signal that nothing listens to ends the process. */
  const handle = (message: ToThread): Over | undefined => {
    if (message.kind === "child over") {
      const child = children.get(message.pid);
      if (child === undefined) return undefined;
      children.delete(message.pid);
      child.exitCode = message.code;
      child.signalCode = message.signal;
      const wasConnected = child.connected;
      child.connected = false;
      if (wasConnected) child.emit("disconnect");
      child.emit("exit", message.code, message.signal);
    } else if (message.kind === "message") {
      if (message.from === "parent") process.emit("message", message.value, undefined);
      else children.get(message.from)?.emit("message", message.value);
    } else if (message.kind === "disconnect") {
      if (message.from === "parent") {
        hasChannel = false;
        process.emit("disconnect");
      }
    } else if (message.kind === "signal") {
      if (process.listenerCount(message.signal) === 0)
        return { code: null, signal: message.signal };
      process.emit(message.signal, message.signal);
    }
    return undefined;
  };

  let ended: { readonly code: number } | undefined;

  const goOn = (): void => void real.setImmediate(step);

  /** One step of the event loop: microtasks run between two of them. */
  const step = (): void => {
    try {
      const over = stepped();
      if (over === undefined) goOn();
      else finish(over.code, over.signal);
    } catch (error) {
      if (error === KILLED) finish(null, "SIGKILL");
      else if (error === EXIT) finish(Number(process.exitCode), null);
      else {
        printed += `\nuncaught: ${error instanceof Error ? error.stack : String(error)}`;
        finish(7, null);
      }
    }
  };

  /** How the process ends; undefined if it goes on. */
  const stepped = (): Over | undefined => {
    if (world.isKilled(thread)) return { code: null, signal: "SIGKILL" };
    waiting.push(...received());
    const message = waiting.shift();
    if (message !== undefined) return handle(message);
    const [due] = timersLeft.filter(({ at }) => at <= clock()).sort((a, b) => a.at - b.at);
    if (due !== undefined) {
      timersLeft = timersLeft.filter((timer) => timer !== due);
      if (due.every !== undefined) timersLeft.push({ ...due, at: clock() + due.every });
      due.run();
      return undefined;
    }
    const isListening =
      hasChannel && process.listenerCount("message") + process.listenerCount("disconnect") > 0;
    const isOpen =
      isListening ||
      [...children.values()].some(({ isRef }) => isRef) ||
      timersLeft.some(({ isRef }) => isRef);
    if (ended !== undefined && !isOpen) return { code: ended.code, signal: null };
    if (ended === undefined && children.size === 0 && timersLeft.length === 0 && !isListening) {
      printed += "\nits promises never settle";
      return { code: 13, signal: null };
    }
    const first = Math.min(NEVER, ...timersLeft.map(({ at }) => at));
    world.yieldTurn(thread, STATE.idle, first);
    return undefined;
  };

  const begin = ({ argv, env, hasChannel: isReached, pid: own }: Start): void => {
    pid = own;
    hasChannel = isReached;
    isDead = false;
    ended = undefined;
    printed = "";
    const worker = takeWorkerRequest({ ...env });
    const print = (text: string) => {
      printed += text;
    };
    const cwd = process.cwd();
    const options = optionsWith(cwd, { ask, env });
    const report = (what: "begin" | "end" | "fail", number: number) => {
      checkAlive();
      post({ kind: "task", what, number });
    };
    const task = sweepTask({ report, sleep: (ms) => sleep(ms), random: world.random.bind(world) });
    const invocation = {
      argv,
      env,
      cwd,
      script: "/sim/prog.js",
      command: ["node", "/sim/prog.js"],
      console: { stdout: print, stderr: print },
      now: new Date(),
      ...(worker && { worker }),
    };
    hydraMain(options, task, invocation).then(
      (code) => {
        ended ??= { code };
      },
      (error: unknown) => {
        if (error === KILLED) return;
        if (error === EXIT) ended ??= { code: Number(process.exitCode) };
        else {
          printed += `\nrejected: ${error instanceof Error ? error.stack : String(error)}`;
          ended ??= { code: 7 };
        }
      },
    );
    real.setImmediate(step);
  };

  const next = (): void => {
    world.yieldTurn(thread, STATE.free);
    const [start] = received();
    if (start?.kind === "start") begin(start);
    else real.setImmediate(next);
  };

  process.on("unhandledRejection", () => {});
  world.awaitTurn(thread);
  next();
}
