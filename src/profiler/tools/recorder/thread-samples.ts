/**
 * What threads do and wait in, looked at from outside at a steady rate: it costs the program no system call. Linux shows it
 * in /proc (proc(5)); elsewhere there are no samples.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../../foundation/system/atomic-write.ts";
import { isErrorNamed } from "../../../foundation/system/builtin-types.ts";
import { isSystemError } from "../../../foundation/system/files.ts";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { THREAD_STATES, type ThreadSample, type ThreadState } from "../../model/timeline.ts";
import { stateInCall, tellsNoCall } from "./blocked-call.ts";
import type { FileHeader } from "./format.ts";
import { createProcessTree, textOf, threadsOf } from "./process-tree.ts";

/** Looking takes at most this share of one processor. */
const SHARE = 0.02;
/** How often it is looked for processes that have begun to record. */
const SEARCH_MS = 100;
/** Further threads have no names. */
const MOST_NAMES = 10_000;
/** When there are more samples, every second one of each thread is dropped, and the rate halved. */
const MOST_SAMPLES = 200_000;
/** Of a program with more threads at once, the others are not seen: three descriptors of ours for each. */
const MOST_THREADS = 200;
/** USER_HZ of proc(5): the same on all machines. */
const NS_PER_TICK = 1e7;

const NAME = /^samples-\d+\.json$/;
const RECORDING = /^events-(\d+)-/;

/** What is kept of samples: a row for each, columns in this order. Numbers but the state are sums since the thread began. */
type SampleRow = readonly [
  /** Since the file's `origin_ns`. */
  timeNs: number,
  pid: number,
  threadId: number,
  /** Place in `states`. */
  state: number,
  /** Nanoseconds in the queue of a processor. */
  queuedNs: number,
  /** Ticks in the kernel. */
  systemTicks: number,
  minorFaults: number,
  majorFaults: number,
  /** Ticks of the children of the process, also of those that have ended. */
  childTicks: number,
  /** How often it was given a processor. */
  slices: number,
];

/** The system's name of a thread: at most 15 bytes, which `pthread_setname_np` and the like set. */
type NameRow = readonly [pid: number, threadId: number, name: string];

interface SampleFile {
  readonly version: 1;
  readonly boot_id: string;
  /** On CLOCK_MONOTONIC. */
  readonly origin_ns: string;
  readonly states: readonly string[];
  readonly samples: readonly SampleRow[];
  /** Of the threads that have another name than the first one of their process; absent in older files. */
  readonly names?: readonly NameRow[];
}

export interface ThreadSampling {
  /** Ends it, and writes what was seen beside the recordings. */
  readonly stop: () => void;
}

/**
 * Samples the threads of a program, and of those of its processes that record.
 *
 * @param directory of the recordings
 * @param frequency in Hz; fewer where looking would take too long
 */
export function sampleThreads(pid: number, directory: string, frequency: number): ThreadSampling {
  const bootId = textOf("/proc/sys/kernel/random/boot_id")?.trim();
  const tree = createProcessTree(pid);
  if (bootId === undefined || tree.isOver() || frequency === 0) return { stop: () => {} };
  const originNs = process.hrtime.bigint();
  const sinceOrigin = () => Number(process.hrtime.bigint() - originNs);
  const watched = new Map<string, WatchedThread>();
  const names = new Map<string, NameRow>();
  let samples: SampleRow[] = [];
  let intervalMs = 1000 / frequency;
  let searchedMs = Number.NEGATIVE_INFINITY;
  let pids: readonly number[] = [pid];
  const look = (): void => {
    const now = performance.now();
    if (now - searchedMs >= SEARCH_MS) {
      searchedMs = now;
      const recording = recordedPids(directory);
      pids = [...tree.look().keys()].filter(
        (candidate) => candidate === pid || recording.has(candidate),
      );
    }
    const family = tree.size() > 1 ? childTicks(tree.pids()) : NO_CHILDREN;
    const gone = new Set(watched.keys());
    for (const sampledPid of pids)
      for (const thread of threadsOf(sampledPid)) {
        gone.delete(`${sampledPid} ${thread}`);
        if (!watched.has(`${sampledPid} ${thread}`) && watched.size >= MOST_THREADS) continue;
        const seen = getOrCreate(watched, `${sampledPid} ${thread}`, () =>
          watchThread(sampledPid, Number(thread)),
        ).look(sinceOrigin, family.get(sampledPid) ?? 0);
        if (seen === null) continue;
        samples.push(seen.row);
        if (names.size < MOST_NAMES) names.set(`${sampledPid} ${thread}`, seen.name);
      }
    for (const key of gone) {
      watched.get(key)?.close();
      watched.delete(key);
    }
    if (samples.length <= MOST_SAMPLES) return;
    samples = everySecond(samples);
    intervalMs *= 2;
  };
  let timer: NodeJS.Timeout | undefined;
  let dueMs = performance.now();
  const again = (): void => {
    const usageBefore = process.cpuUsage();
    const begin = performance.now();
    look();
    if (tree.isOver()) return;
    const { user, system } = process.cpuUsage(usageBefore);
    const end = performance.now();
    dueMs = Math.max(dueMs + intervalMs, begin + (user + system) / 1000 / SHARE, end);
    timer = setTimeout(again, dueMs - end).unref();
  };
  timer = setTimeout(again, intervalMs).unref();
  return {
    stop() {
      clearTimeout(timer);
      for (const thread of watched.values()) thread.close();
      if (samples.length === 0) return;
      const file: SampleFile = {
        version: 1,
        boot_id: bootId,
        origin_ns: String(originNs),
        states: THREAD_STATES,
        samples,
        names: namesOfTheirOwn(names),
      };
      try {
        writeFileAtomicSync(join(directory, `samples-${pid}.json`), JSON.stringify(file));
      } catch (error) {
        // Without them reasons know less; a directory that takes no file is reported by the recording's reader.
        if (!isSystemError(error)) throw error;
      }
    },
  };
}

/** A thread that nobody has named has the name of the thread that began it. */
const namesOfTheirOwn = (names: ReadonlyMap<string, NameRow>): readonly NameRow[] =>
  [...names.values()].filter(([pid, , name]) => {
    const first = names.get(`${pid} ${pid}`)?.[2];
    return first !== undefined && name !== first && name !== "";
  });

function recordedPids(directory: string): ReadonlySet<number> {
  const pids = new Set<number>();
  try {
    for (const name of readdirSync(directory)) {
      const pid = RECORDING.exec(name)?.[1];
      if (pid !== undefined) pids.add(Number(pid));
    }
  } catch (error) {
    // Reported by the reader of the recordings.
    if (!isSystemError(error)) throw error;
  }
  return pids;
}

const isWaiting = (state: string | undefined): boolean => state === "S" || state === "D";

/** The fields of a `stat` file from the state on, behind the name, which may have blanks and parentheses. */
function statFields(text: string) {
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  // As proc(5) counts them.
  return {
    name: Buffer.from(text.slice(text.indexOf("(") + 1, end), "latin1").toString(),
    letter: fields[0],
    field: (number: number) => Number(fields[number - 3]),
  };
}

const NO_CHILDREN: ReadonlyMap<number, number> = new Map();

/** The ticks that the children of each process have used, with their own children that have ended, while they are there. */
function childTicks(pids: Iterable<number>): ReadonlyMap<number, number> {
  const ticks = new Map<number, number>();
  for (const pid of pids) {
    const text = textOf(`/proc/${pid}/stat`);
    if (text === null) continue;
    const { field } = statFields(text);
    const parent = field(4);
    const used = field(14) + field(15) + field(16) + field(17);
    ticks.set(parent, (ticks.get(parent) ?? 0) + used);
  }
  return ticks;
}

/** A thread whose files in /proc stay open: opening them takes most of the time of a look. */
interface WatchedThread {
  /** Null for a thread that is over or stopped, which waits for nobody. */
  readonly look: (
    now: () => number,
    childTicks: number,
  ) => { readonly row: SampleRow; readonly name: NameRow } | null;
  readonly close: () => void;
}

function watchThread(pid: number, threadId: number): WatchedThread {
  const place = `/proc/${pid}/task/${threadId}`;
  const [stat, schedstat, call] = ["stat", "schedstat", "syscall"].map((name) =>
    openText(`${place}/${name}`),
  );
  // A thread that waits again and again, for a few microseconds each time, is often seen between two waits.
  const callLine = (): string | null => {
    const line = call?.read() ?? null;
    return tellsNoCall(line) ? (call?.read() ?? null) : line;
  };
  return {
    look(now, childTicks) {
      const text = stat?.read() ?? null;
      if (text === null) return null;
      const { letter, field, name } = statFields(text);
      if (letter !== "R" && !isWaiting(letter)) return null;
      const state: ThreadState =
        letter === "R"
          ? "running"
          : stateInCall(callLine(), letter === "D", (descriptor) => targetOf(pid, descriptor));
      const [, queuedNs = 0, slices = 0] = schedstat?.read()?.split(" ").map(Number) ?? [];
      return {
        name: [pid, threadId, name],
        row: [
          now(),
          pid,
          threadId,
          THREAD_STATES.indexOf(state),
          queuedNs,
          field(15),
          field(10),
          field(12),
          field(16) + field(17) + childTicks,
          slices,
        ],
      };
    },
    close() {
      for (const file of [stat, schedstat, call]) file?.close();
    },
  };
}

/** More than a file of /proc about a thread has. */
const buffer = Buffer.alloc(4096);

interface OpenText {
  /** The contents now; null where they cannot be read. */
  readonly read: () => string | null;
  readonly close: () => void;
}

function openText(path: string): OpenText | null {
  try {
    const descriptor = openSync(path, "r");
    return {
      read() {
        try {
          return buffer.toString("latin1", 0, readSync(descriptor, buffer, 0, buffer.length, 0));
        } catch {
          return null;
        }
      },
      close: () => closeSync(descriptor),
    };
  } catch {
    return null;
  }
}

function targetOf(pid: number, descriptor: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return null;
  }
}

function everySecond(samples: readonly SampleRow[]): SampleRow[] {
  const isOdd = new Map<number, boolean>();
  return samples.filter(([, , threadId]) => {
    const keeps = isOdd.get(threadId) !== true;
    isOdd.set(threadId, keeps);
    return keeps;
  });
}

/** What was seen of the threads of a process. */
interface SeenThreads {
  /** By time. */
  readonly samples: readonly ThreadSample[];
  /** Of threads that the program has named. */
  readonly names: ReadonlyMap<number, string>;
}

/** The samples of a directory of recordings, by process. */
export type SamplesOf = (
  header: Pick<FileHeader, "pid" | "bootId">,
  originNs: bigint,
) => SeenThreads;

/** Reads the samples that stand beside recordings; a file that cannot be read gives none. */
export function readThreadSamples(directory: string): SamplesOf {
  const files = sampleFiles(directory);
  return ({ pid, bootId }, originNs) => {
    const ofBoot = files.filter((file) => file.boot_id.replaceAll("-", "") === bootId);
    const samples = ofBoot.flatMap((file) => samplesIn(file, pid, originNs));
    return {
      samples: samples.sort((a, b) => a.timeNs - b.timeNs),
      names: new Map(ofBoot.flatMap((file) => namesIn(file, pid))),
    };
  };
}

function sampleFiles(directory: string): readonly SampleFile[] {
  try {
    return readdirSync(directory)
      .filter((name) => NAME.test(name))
      .flatMap((name) => {
        const file: unknown = JSON.parse(readFileSync(join(directory, name), "utf8"));
        return isSampleFile(file) ? [file] : [];
      });
  } catch (error) {
    if (!isSystemError(error) && !isErrorNamed("SyntaxError", error)) throw error;
    return [];
  }
}

const isSampleFile = (file: unknown): file is SampleFile =>
  typeof file === "object" &&
  file !== null &&
  "version" in file &&
  file.version === 1 &&
  "samples" in file &&
  Array.isArray(file.samples);

/** The names of threads; a file that is damaged may have anything for them. */
const namesIn = ({ names }: SampleFile, wanted: number): (readonly [number, string])[] =>
  [names].flat().flatMap((row: unknown) => {
    const [pid, threadId, name]: readonly unknown[] = Array.isArray(row) ? row : [];
    return pid === wanted && typeof threadId === "number" && typeof name === "string"
      ? [[threadId, name] as const]
      : [];
  });

function samplesIn(file: SampleFile, wanted: number, originNs: bigint): readonly ThreadSample[] {
  const shift = Number(BigInt(file.origin_ns) - originNs);
  const states: ReadonlySet<string> = new Set(THREAD_STATES);
  const stateOf = (place: number): ThreadState => {
    const state = file.states[place] ?? "";
    return states.has(state) ? (state as ThreadState) : "other";
  };
  const threads = new Map<number, SampleRow[]>();
  for (const row of file.samples)
    if (row[1] === wanted) getOrCreate(threads, row[2], (): SampleRow[] => []).push(row);
  return [...threads.values()].flatMap((rows) =>
    rows.map((row, index): ThreadSample => {
      const previous = rows[index - 1] ?? row;
      const since = (column: 4 | 5 | 6 | 7 | 8 | 9) => Math.max(0, row[column] - previous[column]);
      return {
        threadId: row[2],
        timeNs: row[0] + shift,
        sinceNs: previous[0] + shift,
        state: stateOf(row[3]),
        queuedNs: since(4),
        slices: since(9),
        systemNs: since(5) * NS_PER_TICK,
        minorFaults: since(6),
        majorFaults: since(7),
        childrenNs: since(8) * NS_PER_TICK,
      };
    }),
  );
}
