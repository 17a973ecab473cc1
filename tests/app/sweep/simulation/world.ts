/** One simulated sweep: who runs when, what is killed, what a scheduler does, and what must hold meanwhile. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { isSettled } from "../../../../src/app/job/ender.ts";
import { lookAtJob } from "../../../../src/app/record/job-state.ts";
import { launcherFile, sweepFolder } from "../../../../src/app/record/layout.ts";
import { currentJobs, readManifest, readManifestJob } from "../../../../src/app/record/manifest.ts";
import { isRecorded } from "../../../../src/app/record/sweep-record.ts";
import { RESULTS_FILE } from "../../../../src/app/sweep/sweepers/objective.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import {
  KINDS,
  type KindName,
  LAUNCHERS,
  type LauncherName,
  PROGRAMS_VARIABLE,
  SWEEP_PATH,
  TASK_VARIABLE,
} from "./program.ts";
import {
  type FromThread,
  NEVER,
  type Question,
  type QueuedTask,
  type Shared,
  STATE,
  type ToThread,
} from "./shared.ts";

/** What came of a run. */
export interface SimulatedRun {
  readonly seed: number;
  readonly launcher: LauncherName;
  readonly kind: KindName;
  readonly kills: number;
  /** How often a process went on. */
  readonly turns: number;
  readonly drivers: number;
  /** Jobs that began in a process that had run another one. */
  readonly reuses: number;
  /** How often the claim of a driver was damaged. */
  readonly damages: number;
  /** Jobs that a search ended early. */
  readonly pruned: number;
  /** What must not be, a line each. */
  readonly problems: readonly string[];
}

/** Longer runs do not end. */
const MOST_TURNS = 60_000;
const MOST_KILLS = 5;
const MOST_SECONDS = 2;
const MOST_DAMAGES = 2;
/** What happens, for whoever looks at one seed. */
const trace = (line: string): void => {
  if (process.env["SIMULATION_TRACE"] !== undefined) console.error(line);
};

/** A share of the turns in which something unusual begins. */
const RARELY = 40;
/** A share of the processes that something unusual happens to. */
const SELDOM = 8;
const MOST_HELD = 400;

const KIND_NAMES = Object.keys(KINDS) as readonly KindName[];
const LAUNCHER_NAMES = Object.keys(LAUNCHERS) as readonly LauncherName[];
const PROGRAMS = { [PROGRAMS_VARIABLE]: "1" };
const ENVIRONMENTS: Readonly<Record<LauncherName, Readonly<Record<string, string>>>> = {
  basic: {},
  apart: PROGRAMS,
  local: PROGRAMS,
  reused: PROGRAMS,
  scheduler: {},
};

/** What each search came to in the first of its runs: its jobs, and its best result. It does not depend on what happens to it. */
const searches = new Map<KindName, string>();

interface SimProcess {
  readonly pid: number;
  readonly role: "driver" | "worker";
  thread: number;
  readonly parent: number | undefined;
  readonly hasChannel: boolean;
  /** The turn before which it gets none, as long as others do. */
  heldUntil: number;
  /** The job whose task it runs at the moment, if it has begun and not ended. */
  readonly running: Set<number>;
  hasRun: boolean;
}

interface SchedulerTask {
  readonly number: number;
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  pid: number | undefined;
  isOver: boolean;
}

export function simulate(
  seed: number,
  {
    only,
    ports,
    world,
  }: {
    readonly ports: readonly MessagePort[];
    readonly world: Shared;
    /** The kind of all sweeps; undefined: as the seed says. */
    readonly only: KindName | undefined;
  },
): SimulatedRun {
  const directory = join(process.cwd(), SWEEP_PATH);
  const folder = sweepFolder(directory);
  rmSync(directory, { recursive: true, force: true });
  world.reset(seed);
  const launcher = LAUNCHER_NAMES[seed % LAUNCHER_NAMES.length] ?? "basic";
  const kind =
    only ?? KIND_NAMES[Math.floor(seed / LAUNCHER_NAMES.length) % KIND_NAMES.length] ?? "grid";
  const { jobs, overrides } = KINDS[kind];
  const isSearch = kind !== "grid";
  // A task in the launcher's own process cannot be ended early.
  const search =
    launcher === "basic" ? overrides.filter((one) => !one.includes("pruner")) : overrides;
  const NUMBERS = Array.from({ length: jobs }, (_, number) => number);
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => {
    if (!holds && problems.length < 5) problems.push(problem);
  };
  const processes = new Map<number, SimProcess>();
  const starting: { readonly process: SimProcess; readonly start: ToThread }[] = [];
  const tasks: SchedulerTask[] = [];
  const outbox: { readonly thread: number; readonly message: ToThread }[] = [];
  /** Jobs whose task ended well, and how often. */
  const ends = new Map<number, number>();
  /** Jobs whose task has failed by itself. */
  const failed = new Set<number>();
  /** Jobs whose record was seen as completed. */
  const completed = new Set<number>();
  /** Jobs whose record was seen as pruned. */
  const pruned = new Set<number>();
  /** Whether a driver has ended with 0: then it has written what the search came to. */
  let isConcluded = false;
  let kills = 0;
  let turns = 0;
  let drivers = 0;
  let reuses = 0;
  let damages = 0;
  /** Drivers that began while another one, or its workers, ran. */
  let seconds = 0;

  const idle = (thread: number) => world.stateOf(thread) === STATE.free;
  const threadOf = (pid: number) => processes.get(pid)?.thread;
  const send = (thread: number, message: ToThread): void => {
    outbox.push({ thread, message });
    ports[thread]?.postMessage(message);
  };
  const pending = (thread: number) => outbox.some((one) => one.thread === thread);

  const start = (
    role: SimProcess["role"],
    argv: readonly string[],
    {
      env = ENVIRONMENTS[launcher],
      hasChannel = false,
      parent,
      pid = world.newPid(),
    }: Partial<{
      env: Readonly<Record<string, string>>;
      hasChannel: boolean;
      parent: number;
      pid: number;
    }> = {},
  ): SimProcess => {
    // A process may get no processor for long, in which others start, end and are killed.
    const heldUntil = world.random(SELDOM) === 0 ? turns + world.random(MOST_HELD) : 0;
    const made: SimProcess = {
      ...{
        pid,
        role,
        thread: -1,
        parent,
        hasChannel,
        heldUntil,
        running: new Set(),
        hasRun: false,
      },
    };
    processes.set(pid, made);
    starting.push({ process: made, start: { kind: "start", pid, argv, env, hasChannel } });
    place();
    return made;
  };

  /** Gives processes that have none a thread. */
  const place = (): void => {
    while (starting.length > 0) {
      const thread = ports.findIndex((_, at) => idle(at) && !pending(at));
      const next = starting[0];
      if (thread < 0 || next === undefined) return;
      starting.shift();
      next.process.thread = thread;
      world.setKilled(thread, false);
      send(thread, next.start);
    }
  };

  const over = (
    pid: number,
    code: number | null,
    signal: NodeJS.Signals | null,
    printed: string,
  ) => {
    const process = processes.get(pid);
    if (process === undefined) return;
    processes.delete(pid);
    world.setDead(pid);
    trace(`${world.now()} ${pid} ${process.role} over ${code} ${signal} ${printed}`);
    if (
      printed.includes("uncaught") ||
      printed.includes("rejected") ||
      printed.includes("never settle") ||
      /^\s+at .+:\d+:\d+\)?$/m.test(printed)
    )
      check(false, `process ${pid} (${process.role}) printed ${printed}`);
    if (process.parent !== undefined) {
      const parent = threadOf(process.parent);
      if (parent !== undefined && parent >= 0)
        send(parent, { kind: "child over", pid, code, signal });
    }
    for (const child of processes.values())
      if (child.parent === pid && child.hasChannel && child.thread >= 0)
        send(child.thread, { kind: "disconnect", from: "parent" });
    for (const task of tasks) if (task.pid === pid) task.isOver = true;
    if (process.role === "driver" && code === 0) {
      isConcluded = true;
      for (const number of NUMBERS) {
        const status = lookAtJob(folder, number)?.status;
        check(isSettled(status), `a driver ended with 0, and #${number} is ${status}`);
      }
    }
    lookAtRecord();
  };

  const kill = (pid: number): void => {
    const process = processes.get(pid);
    if (process === undefined) return;
    world.setDead(pid);
    if (process.thread < 0) {
      starting.splice(
        starting.findIndex((one) => one.process === process),
        1,
      );
      over(pid, null, "SIGKILL", "");
    } else world.setKilled(process.thread, true);
    process.running.clear();
  };

  /** The `x` of a job; undefined where drivers that a planted fault lets run together have lost the list of jobs. */
  const inputOf = (number: number): number | undefined => {
    try {
      const swept = readManifestJob(folder, number)?.task_overrides ?? [];
      return Number(swept.find((one) => one.startsWith("x="))?.slice(2));
    } catch (error) {
      if (!isConfigError(error)) throw error;
      return undefined;
    }
  };

  /** What the record claims must have happened. */
  const lookAtRecord = (): void => {
    for (const number of NUMBERS) {
      const state = lookAtJob(folder, number);
      check(
        state?.status !== "damaged",
        `#${number} is damaged: ${state?.status === "damaged" ? state.problem : ""}`,
      );
      if (state === undefined || state.status === "damaged") continue;
      if (state.status === "completed") {
        completed.add(number);
        check((ends.get(number) ?? 0) > 0, `#${number} is recorded as completed and has not ended`);
        const value = state.return_value as { readonly square?: number };
        const x = inputOf(number);
        check(
          x === undefined || value?.square === x ** 2,
          `#${number} is recorded with another's result`,
        );
      } else check(!completed.has(number), `#${number} was completed and is ${state.status}`);
      if (state.status === "pruned") {
        pruned.add(number);
        check(kind === "pruned", `#${number} is pruned by no pruner`);
      } else check(!pruned.has(number), `#${number} was pruned and is ${state.status}`);
      if (state.status === "failed")
        check(failed.has(number), `#${number} is recorded as failed and has not failed`);
    }
  };

  const answer = (question: Question): unknown => {
    if (question.ask === "submit") {
      for (const { env, number } of question.jobs) {
        check(
          !tasks.some((task) => task.number === number && !task.isOver),
          `#${number} is submitted twice`,
        );
        tasks.push({ number, id: `${tasks.length + 1}`, env, pid: undefined, isOver: false });
      }
      return null;
    }
    if (question.ask === "queue" && tasks.length === 0) return null;
    if (question.ask === "queue")
      return tasks
        .filter((task) => !task.isOver)
        .map(
          ({ id, number, pid }): QueuedTask => ({
            id,
            number,
            phase: pid === undefined ? "waiting" : "running",
          }),
        );
    for (const task of tasks) {
      if (question.numbers !== null && !question.numbers.includes(task.number)) continue;
      if (task.pid === undefined) task.isOver = true;
      else if (!question.onlyWaiting && processes.has(task.pid)) signal(task.pid, "SIGTERM");
    }
    return null;
  };

  const signal = (pid: number, name: NodeJS.Signals): void => {
    if (name === "SIGKILL") kill(pid);
    // Nothing is suspended here.
    if (["SIGKILL", "SIGCONT", "SIGSTOP"].includes(name)) return;
    const thread = threadOf(pid);
    if (thread !== undefined && thread >= 0) send(thread, { kind: "signal", signal: name });
  };

  const handle = (thread: number, message: FromThread): void => {
    const process = [...processes.values()].find((one) => one.thread === thread);
    if (process === undefined) return;
    const { pid } = process;
    switch (message.kind) {
      case "spawn":
        start("worker", message.argv, { ...message, parent: pid });
        // The moment in which a process exists that no record names yet.
        if (world.random(SELDOM) === 0 && mayKill()) {
          kills++;
          kill(pid);
          if (mayDriveBeside()) driveBeside();
        }
        break;
      case "message":
      case "disconnect": {
        const to = message.to === "parent" ? process.parent : message.to;
        const reached = to === undefined ? undefined : threadOf(to);
        if (reached === undefined || reached < 0) break;
        const from = message.to === "parent" ? pid : "parent";
        send(
          reached,
          message.kind === "message"
            ? { kind: "message", from, value: message.value }
            : { kind: "disconnect", from },
        );
        break;
      }
      case "kill":
        signal(message.pid, message.signal);
        break;
      case "ask":
        send(thread, { kind: "answer", value: answer(message.question) });
        break;
      case "over":
        over(pid, message.code, message.signal, message.printed);
        break;
      case "task": {
        const { number, what } = message;
        if (what !== "begin") {
          process.running.delete(number);
          if (what === "fail") failed.add(number);
          if (what === "end") ends.set(number, (ends.get(number) ?? 0) + 1);
          break;
        }
        const others = [...processes.values()].filter((one) => one.running.has(number));
        check(
          others.length === 0,
          `#${number} begins in ${pid} while ${others.map((one) => one.pid)} runs it`,
        );
        lookAtRecord();
        check(!completed.has(number), `#${number} is completed and begins again`);
        check(!pruned.has(number), `#${number} is pruned and begins again`);
        process.running.add(number);
        if (process.role === "worker" && process.hasRun) reuses++;
        process.hasRun = true;
      }
    }
  };

  const isHeld = (thread: number): boolean =>
    [...processes.values()].some((one) => one.thread === thread && turns < one.heldUntil);

  /** Lets one process go on. */
  const turn = (thread: number): void => {
    for (let at = outbox.length - 1; at >= 0; at--)
      if (outbox[at]?.thread === thread) outbox.splice(at, 1);
    world.giveTurn(thread);
    const port = ports[thread];
    if (port === undefined) return;
    for (
      let next = receiveMessageOnPort(port);
      next !== undefined;
      next = receiveMessageOnPort(port)
    )
      handle(thread, next.message as FromThread);
  };

  /** The scheduler starts up to three tasks at a time. */
  const startTasks = (): void => {
    const running = tasks.filter((task) => task.pid !== undefined && !task.isOver).length;
    const task = tasks.find((one) => one.pid === undefined && !one.isOver);
    if (task === undefined || running >= 3) return;
    const env = { ...task.env, [TASK_VARIABLE]: task.id };
    task.pid = start("worker", FIRST, { env }).pid;
  };

  const FIRST = ["-m", ...search, ...LAUNCHERS[launcher]];
  const drive = (): void => {
    drivers++;
    start(
      "driver",
      isRecorded(directory)
        ? ["--resume", `.${SWEEP_PATH}`, "--retry-failed", `.${SWEEP_PATH}`]
        : FIRST,
    );
  };

  /** As no process of the sweep does it: a fault of the disk. Another driver takes the sweep for abandoned. */
  const damageClaim = (): void => {
    const file = launcherFile(folder);
    if (damages === MOST_DAMAGES || !existsSync(file)) return;
    damages++;
    trace(`${world.now()} the claim is damaged`);
    writeFileSync(file, ["", "{", "\0\0"][world.random(3)] ?? "");
    drive();
  };

  const mayKill = () => kills < MOST_KILLS;
  const mayDriveBeside = () => seconds < MOST_SECONDS && isRecorded(directory);
  const driveBeside = (): void => {
    seconds++;
    drive();
  };

  const disturb = (): void => {
    const alive = [...processes.values()].filter(
      ({ thread }) => thread >= 0 && !world.isKilled(thread),
    );
    if (mayKill() && world.random(2) === 0) {
      const ofDrivers = alive.filter(({ role }) => role === "driver");
      const chosen = world.random(3) > 0 && ofDrivers.length > 0 ? ofDrivers : alive;
      const victim = chosen[world.random(chosen.length)];
      if (victim === undefined) return;
      kills++;
      kill(victim.pid);
      // As a terminal or a machine does: all at once.
      if (world.random(4) === 0) for (const one of alive) kill(one.pid);
    } else if (world.random(4) === 0) damageClaim();
    else if (mayDriveBeside()) driveBeside();
  };

  drive();
  for (; turns < MOST_TURNS && problems.length === 0; turns++) {
    place();
    startTasks();
    const threads = [...processes.values()].flatMap(({ thread }) => (thread < 0 ? [] : [thread]));
    const ready = threads.filter(
      (thread) =>
        world.stateOf(thread) === STATE.ready ||
        world.isKilled(thread) ||
        pending(thread) ||
        world.deadlineOf(thread) <= world.now(),
    );
    const free = ready.filter((thread) => !isHeld(thread));
    const others = threads.filter((thread) => !ready.includes(thread));
    const first = Math.min(NEVER, ...others.map((thread) => world.deadlineOf(thread)));
    // Time passes for others, too, while a process is held.
    const doWait =
      free.length === 0 && ready.length > 0 && first < NEVER && world.random(SELDOM) > 0;
    const from = free.length > 0 ? free : ready;
    const chosen = doWait ? undefined : from[world.random(Math.max(1, from.length))];
    if (chosen !== undefined) {
      turn(chosen);
      if (world.random(RARELY) === 0) disturb();
      continue;
    }
    if (first < NEVER) {
      world.setNow(first);
      continue;
    }
    check(threads.length === 0, `processes ${threads} wait for nothing`);
    if (tasks.some((task) => !task.isOver && task.pid === undefined)) continue;
    const isDone =
      existsSync(folder) &&
      NUMBERS.every((one) => isSettled(lookAtJob(folder, one)?.status)) &&
      (!isSearch || isConcluded);
    if (isDone) break;
    check(drivers < 40, "it is not completed after 40 drivers");
    drive();
  }
  check(turns < MOST_TURNS, "it does not end");
  lookAtRecord();
  for (const number of NUMBERS) {
    const state = lookAtJob(folder, number);
    check(isSettled(state?.status), `#${number} is ${state?.status} at the end`);
    const times = ends.get(number) ?? 0;
    // A process that is killed after its job's end, and before it recorded that, leaves a job that runs again.
    const least = pruned.has(number) ? 0 : 1;
    check(times >= least && times <= 1 + kills, `#${number} was done ${times} times`);
  }
  if (isSearch && problems.length === 0) {
    const asked = currentJobs(readManifest(folder)).map((one) => one.task_overrides.join(" "));
    const came = [...asked, readFileSync(join(directory, RESULTS_FILE), "utf8")].join("\n");
    check((searches.get(kind) ?? came) === came, `${kind} came to another end: ${came}`);
    searches.set(kind, came);
  }
  for (const { pid } of processes.values()) kill(pid);
  while ([...processes.values()].some(({ thread }) => thread >= 0)) {
    const left = [...processes.values()].find(({ thread }) => thread >= 0);
    if (left !== undefined) turn(left.thread);
  }
  return {
    ...{ seed, launcher, kind, kills, turns, drivers, reuses, damages, problems },
    pruned: pruned.size,
  };
}
