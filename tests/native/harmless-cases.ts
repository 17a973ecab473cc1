/**
 * The corpus of `native/fixtures/harmless`: a case is a program and the name that it is called with. What a case does stands with
 * its function there.
 */
export interface HarmlessCase {
  readonly program: string;
  readonly name: string;
  /** How many times as much it does in the long form: 10 by default. */
  readonly longScale?: number;
  /** What the recorder may add to the most memory that a process of the case has had, at a scale of one; kB. */
  readonly memoryKb?: number;
  /** The same for each further unit of scale. */
  readonly memoryKbPerScale?: number;
  /** The recording cannot be begun here, and the one line on standard error that says so is part of the promise. */
  readonly complains?: true;
  /**
   * A range or mark that must have been recorded: what shows that recording went on. By default anything at all; null: this case
   * prevents it.
   */
  readonly recorded?: string | null;
  /** Variables of the recorder. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** For the library, its pages of the recording and one thread's recorder. */
export const MEMORY_KB = 2048;
/** For each thread that is busy at once with others. thread.hpp keeps it. */
export const THREAD_KB = 384;

/** Flags of programs that need some. */
export const FLAGS: Readonly<Record<string, readonly string[]>> = {
  // Being cancelled anywhere unwinds through all functions, which those with exception tables end.
  cancellation: ["-fno-exceptions"],
};

const CORPUS: Readonly<
  Record<string, Readonly<Record<string, Omit<HarmlessCase, "program" | "name">>>>
> = {
  calls: {
    "every-call": {},
    "first-call": { recorded: "first of a thread" },
    growing: {},
    "nonblocking-read": { recorded: "read" },
    state: {},
    "floating-point": { recorded: "flags" },
    mistakes: {},
  },
  extensions: {
    "every-call": { recorded: "after the extensions" },
  },
  signals: {
    "storm-on-short-threads": { recorded: "in handler" },
    "storm-on-growth": {},
    "storm-on-handles": {},
    "at-thread-end": { recorded: "before the end" },
    "first-in-handler": { recorded: "in handler" },
    "interrupted-calls": { recorded: "waits" },
    "jump-out": { recorded: "afterwards" },
    "jump-out-while-growing": { recorded: "afterwards" },
    "fork-in-handler": { recorded: "in the child of a handler" },
    "exit-in-handler": {},
    "waited-for": { recorded: "waits" },
  },
  threads: {
    "in-sequence": { recorded: "in a thread" },
    "at-once": { memoryKb: 200 * 48, memoryKbPerScale: 200 * 48, recorded: "after" },
    "smallest-stacks": {},
    keys: { recorded: "in a destructor" },
    "keys-only": { recorded: "in a destructor" },
    "thread-locals": { recorded: "in a thread_local's destructor" },
    detached: { recorded: "detached", memoryKb: 8192 },
    "main-ends-first": {},
    "exit-among-threads": {},
    "robust-mutex": { recorded: "owner" },
  },
  cancellation: {
    "at-points": { recorded: "afterwards" },
    anywhere: { recorded: "afterwards" },
    "not-by-nvtx": { recorded: "first, and already asked to end" },
  },
  stacks: {
    coroutines: { recorded: "resumed" },
    depth: {},
    "signal-stack": { recorded: "on a small stack" },
    "faults-in-calls": { recorded: "afterwards" },
    "jump-over-ends": { recorded: "a" },
    exceptions: { recorded: "around" },
    "deep-nesting": { recorded: "deeper" },
    "big-thread-locals": { recorded: "around" },
  },
  ends: {
    returns: { recorded: "static destructor" },
    exits: { recorded: "on_exit" },
    "quick-exits": { recorded: "at_quick_exit" },
    "underscore-exits": { recorded: "constructor" },
    aborts: { recorded: "constructor" },
    throws: { recorded: "constructor" },
    terminates: { recorded: "terminate handler" },
    "is-killed": { recorded: "constructor" },
    crashes: { recorded: "constructor" },
    "crashes-with-reporter": { recorded: "crash reporter" },
    "exits-in-thread": { recorded: "atexit" },
    "leaves-early": { recorded: "leaves early" },
    stopped: {},
    "buffered-output": { recorded: "prints" },
  },
  children: {
    forks: { recorded: "first in the grandchild" },
    "forks-in-threads": { recorded: "in a thread of the child" },
    vforks: { recorded: "in the new program" },
    "vfork-records": { recorded: "in the parent" },
    spawns: { recorded: "in the new program" },
    shell: { recorded: "first" },
    "spawns-while-growing": {},
    executes: { recorded: "in the new program" },
    "executes-without-environment": { recorded: "first" },
    // What such a child writes into its parent's file has no meaning: see docs/harmless.md.
    "forks-secretly": { recorded: "first" },
    "forks-while-growing": { recorded: "in the child" },
    "threads-in-the-child": { recorded: "on a thread of the child" },
    "clones-with-memory": { recorded: "in the parent" },
    daemon: {},
  },
  process: {
    itself: { recorded: "around it" },
    children: { recorded: "in the child" },
    environment: { recorded: "around it" },
  },
  files: {
    "closes-all": {},
    "standard-ones-closed": {},
    numbers: {},
    "three-descriptors-before": { recorded: null, complains: true },
    "three-descriptors-after": { recorded: "with few descriptors" },
    "ten-descriptors": { recorded: "with few descriptors" },
    "other-directory": { recorded: "in the child" },
    "recording-deleted": { recorded: null },
    "size-limit": { recorded: "first" },
    "smallest-size-limit": { recorded: null, complains: true },
    "broken-error-output": { recorded: null },
    "error-output-reused": { recorded: "first" },
    "file-mask": { recorded: null },
    "other-user": { recorded: "first" },
    "changes-root": { recorded: "first" },
    // These two have a file system of their own in the place of the recordings.
    "full-disk": { recorded: null },
    "full-for-children": { recorded: null },
    "user-namespace": { recorded: "first" },
  },
  limits: {
    "no-address-space": { recorded: "first" },
    "little-address-space": { recorded: "first" },
    "no-data": { recorded: "first" },
    "threads-without-memory": { recorded: "first" },
    "little-stack": {},
    "no-processes": { recorded: "first" },
    "all-locked": { recorded: "first" },
    "fixed-places": {},
    "not-for-children": { recorded: "in the child" },
    "fixed-layout": {},
    "no-keys": { recorded: null, complains: true },
    "no-counter-before": { recorded: "in the child" },
    "no-counter-on-a-thread": { recorded: "without the counter" },
    "no-counter-after": {
      recorded: "without the counter",
      settings: { HYDRACONF_RECORDER_CLOCK: "kernel" },
    },
  },
  sandbox: {
    "no-open-after": { recorded: "with a filter" },
    "no-space-after": { recorded: "with a filter" },
    "no-space-before": { recorded: null, complains: true },
    "no-fallocate": { recorded: null },
    "no-fstat-after": { recorded: "with a filter" },
    "no-map-after": { recorded: "with a filter" },
    // What cannot be given back to the system stays.
    "no-unmap-after": { recorded: "with a filter", memoryKb: 16_384 },
    "no-identity": { recorded: "with a filter" },
    "no-signal-mask": { recorded: "first" },
    "no-limits": { recorded: null, complains: true },
    "no-fcntl": { recorded: null },
    "no-links": { recorded: null, complains: true },
    "threads-after": { recorded: "first" },
    "deadly-but-quiet": { recorded: "known" },
    trapping: { recorded: "first" },
  },
  libraries: {
    "in-a-loop": { recorded: "in plugin" },
    "after-the-program": { recorded: "in plugin" },
    "on-threads": { recorded: "in plugin" },
    "keeps-dlerror": { recorded: "first" },
    "no-dlerror-left": { recorded: "first" },
    symbols: { recorded: "first" },
  },
  allocators: {
    forbidden: {},
    "forbidden-with-keys": {},
    "forbidden-in-children": {},
    recording: { recorded: "malloc" },
  },
  amounts: {
    ranges: { recorded: "one of very many", longScale: 4 },
    names: { longScale: 3 },
    "long-names": {},
    domains: { recorded: "inside", memoryKb: 4096 },
    "open-ranges": { recorded: "never ended" },
    // 20 threads at once that have each used up their room for texts, however many come after them.
    "busy-threads": { memoryKb: 20 * THREAD_KB },
  },
};

export const CASES: readonly HarmlessCase[] = Object.entries(CORPUS).flatMap(([program, cases]) =>
  Object.entries(cases).map(([name, rest]) => ({ program, name, ...rest })),
);
