/**
 * What the processes of a simulated sweep share: their clock, their random numbers, the table of processes, and whose turn it is. Each
 * process is a thread; exactly one of them runs at any time, so a seed gives the same run again.
 */

/** The threads that processes run in: two drivers, a command that looks, and the workers of several drivers. */
export const THREADS = 14;
/** Processes of one run. */
const MOST_PIDS = 2_000;
export const FIRST_PID = 100_000;

const RANDOM = 0;
const CLOCK = 1;
const NEXT_PID = 2;
const THREAD = 16;
const THREAD_CELLS = 4;
const TABLE = THREAD + THREADS * THREAD_CELLS;

/** What a thread waits for when it gives its turn back. */
export const STATE = { free: 0, ready: 1, idle: 2, over: 3 } as const;
export type State = (typeof STATE)[keyof typeof STATE];

export type Shared = ReturnType<typeof shared>;

/** The same view for the scheduler and for each thread. @param cells of `createCells` */
export function shared(cells: Int32Array) {
  const at = (thread: number, cell: number) => THREAD + thread * THREAD_CELLS + cell;
  const TURN = 0;
  const STATES = 1;
  const DEADLINE = 2;
  const KILLED = 3;
  const read = (index: number): number => cells[index] ?? 0;
  const set = (index: number, value: number): void => {
    cells[index] = value;
  };
  return {
    /** A number from 0 below a limit. */
    random(limit: number): number {
      let x = read(RANDOM);
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
      cells[RANDOM] = x;
      return (x >>> 0) % limit;
    },
    reset(seed: number): void {
      cells.fill(0);
      cells[RANDOM] = Math.imul(seed + 1, 0x9e3779b1) | 1;
      for (let turns = 0; turns < 8; turns++) this.random(2);
    },
    now: () => read(CLOCK),
    setNow: (time: number) => set(CLOCK, time),
    newPid(): number {
      const pid = FIRST_PID + read(NEXT_PID);
      cells[NEXT_PID] = read(NEXT_PID) + 1;
      cells[TABLE + pid - FIRST_PID] = 1;
      return pid;
    },
    isAlive: (pid: number) => pid >= FIRST_PID && read(TABLE + pid - FIRST_PID) === 1,
    setDead: (pid: number) => set(TABLE + pid - FIRST_PID, 0),
    stateOf: (thread: number) => read(at(thread, STATES)) as State,
    deadlineOf: (thread: number) => read(at(thread, DEADLINE)),
    isKilled: (thread: number) => read(at(thread, KILLED)) === 1,
    setKilled: (thread: number, is: boolean) => set(at(thread, KILLED), is ? 1 : 0),
    setFree: (thread: number) => set(at(thread, STATES), STATE.free),
    /** Lets a thread run until it gives the turn back. */
    giveTurn(thread: number): void {
      const index = at(thread, TURN);
      Atomics.store(cells, index, 1);
      Atomics.notify(cells, index);
      while (Atomics.load(cells, index) === 1) Atomics.wait(cells, index, 1);
    },
    /** Gives the turn back, and waits for the next one. */
    yieldTurn(thread: number, state: State, deadline = NEVER): void {
      const index = at(thread, TURN);
      cells[at(thread, DEADLINE)] = deadline;
      cells[at(thread, STATES)] = state;
      Atomics.store(cells, index, 0);
      Atomics.notify(cells, index);
      this.awaitTurn(thread);
    },
    awaitTurn(thread: number): void {
      const index = at(thread, TURN);
      while (realLoad(cells, index) === 0) realWait(cells, index, 0);
    },
  };
}

// A simulated process has its own `Atomics.wait`.
const realLoad = Atomics.load.bind(Atomics);
const realWait = Atomics.wait.bind(Atomics);

export const NEVER = 2 ** 31 - 1;

export const createCells = (): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(4 * (TABLE + MOST_PIDS)));

/** What a thread is to run. */
export interface Start {
  readonly kind: "start";
  readonly pid: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether it may exchange messages with its parent. */
  readonly hasChannel: boolean;
}

export type ToThread =
  | Start
  | { readonly kind: "signal"; readonly signal: NodeJS.Signals }
  | {
      readonly kind: "child over";
      readonly pid: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }
  | { readonly kind: "answer"; readonly value: unknown }
  /** From the parent, or from the child of that number. */
  | { readonly kind: "message"; readonly from: "parent" | number; readonly value: unknown }
  /** The channel to the parent, or to that child, is closed. */
  | { readonly kind: "disconnect"; readonly from: "parent" | number };

export type FromThread =
  | {
      readonly kind: "spawn";
      readonly pid: number;
      readonly argv: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly hasChannel: boolean;
    }
  | { readonly kind: "message"; readonly to: "parent" | number; readonly value: unknown }
  | { readonly kind: "disconnect"; readonly to: number }
  | { readonly kind: "kill"; readonly pid: number; readonly signal: NodeJS.Signals }
  | {
      readonly kind: "over";
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly printed: string;
    }
  | { readonly kind: "task"; readonly what: "begin" | "end" | "fail"; readonly number: number }
  | { readonly kind: "ask"; readonly question: Question };

/** To the simulated scheduler. */
export type Question =
  | {
      readonly ask: "submit";
      readonly jobs: readonly {
        readonly number: number;
        readonly env: Readonly<Record<string, string>>;
      }[];
    }
  | { readonly ask: "queue" }
  | {
      readonly ask: "cancel";
      readonly numbers: readonly number[] | null;
      readonly onlyWaiting: boolean;
    };

export interface QueuedTask {
  readonly number: number;
  readonly id: string;
  readonly phase: "waiting" | "running";
}
