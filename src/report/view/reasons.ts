/**
 * Why a region takes its time: rules, each with its threshold and the source of that threshold. The first rule that
 * holds gives the reason; a new rule is an object in the table.
 */
import { firstFew, grouped, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { formatDuration, formatPercentage, formatShare } from "../../pages/numbers.ts";
import type {
  KernelRecord,
  NCUProfileRegion,
  RegionHostCalls,
  RegionThreads,
  RunTotals,
  ThreadTime,
} from "../model/document.ts";
import { computeShare, limitingDramShare } from "./gpu-utilization.ts";
import {
  dramSection,
  NCU_STAGES,
  type NcuStage,
  ruleFindingOf,
  speedOfLightFinding,
} from "./ncu-rules.ts";
import {
  isMainThread,
  LEAST_SAMPLES,
  type ThreadActivity,
  threadNames,
  type Wait,
  type WaitTime,
} from "./thread-time.ts";
import { lastRank } from "./times.ts";

/** Facts about a region without its inner regions. Times are in ms; null means not measured. */
export interface RegionFacts {
  readonly region: NCUProfileRegion;
  /** What its counters are of, if not of its own kernels alone. */
  readonly counted: CountedFacts;
  readonly wallMs: number | null;
  /** GPU time of the kernels that it launched, or the time of its CPU operations. */
  readonly workMs: number | null;
  readonly work: KernelRecord["kind"] | null;
  /** The number of kernels or operations. */
  readonly count: number;
  /** GPU activity while it was open and no inner region was; null if no GPU activity was recorded. */
  readonly gpu: OwnActivity | null;
  /** Time in which the host waited for the GPU. */
  readonly waitMs: number | null;
  /** The processor time of its threads; null if not measured. */
  readonly cpuMs: number | null;
  /** The context switches of its threads; null if not counted. */
  readonly switches: ContextSwitches | null;
  /** What its threads read from disks and wrote; null if not counted. */
  readonly blocks: DiskBlocks | null;
  /** What its threads did; null if they were not sampled, or too rarely. */
  readonly threads: ThreadActivity | null;
  /** How often its threads were sampled; null if no thread of the run was. */
  readonly samples: number | null;
  /** The longest kernel or operation of its own, with the time and calls that are not of regions inside; null where that is not known. */
  readonly longest: KernelRecord | null;
  readonly copies: CopyFacts;
  /** Only for the time outside all ranges. */
  readonly run: RunTotals | null;
  /** The calls of all regions. */
  readonly calls: number;
  /** The command line of the program. */
  readonly command: readonly string[];
}

export interface CountedFacts {
  /** The part of the counted GPU time that is of regions inside. */
  readonly insideShare: number;
  /** Ranges were counted as a whole, with the time in which the GPU was idle. */
  readonly isWholeRange: boolean;
}

/** Who issues the copies of a run. Times are 0 and lists empty if copies were not recorded. */
export interface CopyFacts {
  /** Time of those that the region issues itself, and not in regions inside. */
  readonly ownMs: number;
  /** Of all copies of the run. */
  readonly wholeMs: number;
  /** Of the region's own sets of memory. */
  readonly ownSetMs: number;
  /** Of all sets of memory of the run. */
  readonly setMs: number;
  /** The region besides that issues most of their time. */
  readonly other: Copier | null;
  /** Outermost regions with copies, which have all of the run together. */
  readonly outermost: readonly NCUProfileRegion[];
}

/** A region that issues copies itself, and not only in regions inside. */
interface Copier {
  readonly region: NCUProfileRegion;
  readonly label: string;
  readonly ms: number;
}

/** Parts of the wall time, in ms. */
export interface OwnActivity {
  readonly busyMs: number;
  readonly kernelMs: number;
  /** Copies or sets while no kernel ran. */
  readonly copyOnlyMs: number;
}

export interface ContextSwitches {
  /** The thread gave up its processor: it slept, or waited for something. */
  readonly voluntary: number;
  /** The system took the processor from a thread that had more to compute. */
  readonly involuntary: number;
}

/** Blocks of 512 bytes, as Linux counts them. */
export interface DiskBlocks {
  readonly read: number;
  readonly written: number;
}

/** The time that a rule explains: how long a region was open, or how long its kernels ran. */
export type Explained = "wall" | "gpu";

export interface ReasonRule {
  readonly name: string;
  readonly explains: readonly Explained[];
  /** The condition in words, for the documentation. */
  readonly threshold: string;
  /** The source of the threshold. */
  readonly source: string;
  readonly find: (facts: RegionFacts) => Finding | null;
}

export interface Finding {
  /** A short phrase: `waits for copies`. */
  readonly title: string;
  /** The numbers that support it. */
  readonly evidence: string;
  /** What to do about it; null if that depends on the program. */
  readonly advice: string | null;
  /** Title of the section of Nsight Compute that the evidence comes from; absent for other evidence. */
  readonly section?: string;
}

/** A finding together with its rule. */
export interface Reason extends Finding {
  readonly rule: string;
}

/** `memory bound (GPU Speed Of Light Throughput)`. */
export const titleWithSection = ({ title, section }: Finding): string =>
  section === undefined ? title : `${title} (${section})`;

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
/** A child that waits for a processor computes little, too. A tick of the system's times is 10 ms. */
function childDoes(computes: number): string {
  if (computes >= 0.1) return "computes";
  return computes < 0.02
    ? "is asleep itself"
    : "computes little: it is asleep itself, or waits for a free processor";
}

const percent = (part: number, whole: number): string => `${formatShare(part, whole)} %`;
/** `829.00 ms of 857.00 ms`; what differs only in digits that are not shown is not all of it. */
function partOfTime(part: number, whole: number): string {
  const [ofPart, ofWhole] = [formatDuration(part), formatDuration(whole)];
  const isLess = whole - part > whole * 1e-9;
  return isLess && ofPart === ofWhole ? `almost all of ${ofWhole}` : `${ofPart} of ${ofWhole}`;
}

/** A shorter kernel ends before the next one can be launched: a launch takes 2 to 10 µs on the host. */
const SHORT_KERNEL_MS = 0.02;
/** A host that launches kernels one after the other needs less than this for each. */
const LAUNCH_MS = 0.1;

const WAITING = "samples of its threads, which the kernel shows from outside";
/** What waits for anything has to wait for this part of the time, and most of that for one thing. */
const MOST_OF_WAIT = 0.4;
const LEAST_WAIT = 0.2;

interface WaitWords {
  /** Behind `waits for `. */
  readonly what: string;
  /** What to do, as an imperative. */
  readonly advice: string | null;
}

const WAITS: Readonly<Record<Wait, WaitWords>> = {
  lock: {
    what: "a lock",
    advice: "hold it for less, split what it protects, or let each thread collect its own",
  },
  condition: {
    what: "a condition variable or semaphore",
    advice: "find who signals it, and let that thread begin earlier or do less",
  },
  timed_condition: {
    what: "a condition variable or semaphore, with a time limit",
    advice: "find who signals it, and let that thread begin earlier or do less",
  },
  join: { what: "the end of a thread", advice: "look at what that thread does" },
  sleep: { what: "a timer: it sleeps", advice: "wait for the event itself in place of a time" },
  file: {
    what: "files",
    advice: "read and write less, in larger pieces, or on another thread beside other work",
  },
  pipe: { what: "a pipe", advice: "look at the process at its other end" },
  socket: { what: "a socket", advice: "look at who answers, or do other work meanwhile" },
  poll: {
    what: "one of several events (poll, select, epoll)",
    advice: "look at who causes the event, or do other work meanwhile",
  },
  child: { what: "a child process", advice: "look at what the child does" },
  device: { what: "a device", advice: null },
  other: { what: "a system call", advice: "strace -f -T names the call" },
  processor: {
    what: "a free processor",
    advice: "measure where nothing else runs, or start no more threads than there are processors",
  },
};

/** Waits of which one rule tells; a wait of any other kind belongs to a rule of its own. */
type WaitRule = Pick<ReasonRule, "name"> & {
  readonly waits: readonly Wait[];
  readonly words: string;
  /** Says more about the wait, or something else; null where the rule does not hold. */
  readonly refine?: (finding: Finding, facts: RegionFacts) => Finding | null;
};

const WAIT_RULES: readonly WaitRule[] = [
  {
    name: "python_lock",
    waits: ["timed_condition"],
    words: "a condition with a time limit, between computing, in a program of Python",
    refine: (finding, { command, cpuMs, wallMs }) =>
      !isPython(command) || share(cpuMs ?? 0, wallMs ?? 0) < 0.1
        ? null
        : {
            ...finding,
            title: "waits for Python's lock (GIL), as it seems",
            evidence: `${finding.evidence}; threads that compute in turns wait so for the GIL, others for a condition of the program: py-spy dump tells which`,
            advice: "compute in processes, or in code that releases the GIL",
          },
  },
  { name: "lock", waits: ["lock"], words: "a lock" },
  {
    name: "condition",
    waits: ["condition", "timed_condition"],
    words: "a condition variable or semaphore",
  },
  {
    name: "file",
    waits: ["file"],
    words: "files",
    refine: (finding, { blocks }) => {
      // Kernels without accounting of tasks count none.
      if (blocks === null || blocks.read + blocks.written === 0) return finding;
      const counts = `${grouped(String(blocks.read))} blocks of 512 bytes read from disks, ${grouped(String(blocks.written))} written`;
      return { ...finding, evidence: `${finding.evidence}; ${counts}` };
    },
  },
  { name: "sleep", waits: ["sleep"], words: "a time" },
  {
    name: "child",
    waits: ["child"],
    words: "a child process, which computes or is asleep itself",
    refine: (finding, { threads }) => {
      const computes = threads?.childrenShare ?? null;
      if (computes === null) return finding;
      const title = `${finding.title}, which ${childDoes(computes)}`;
      const evidence = `${finding.evidence}; its children compute for ${percent(computes, 1)} of the time`;
      return { ...finding, title, evidence };
    },
  },
  { name: "input", waits: ["pipe", "socket", "poll"], words: "a pipe, a socket or an event" },
  { name: "join", waits: ["join"], words: "the end of a thread" },
  { name: "system_call", waits: ["device", "other"], words: "a device, or a call of another kind" },
  {
    name: "processor",
    waits: ["processor"],
    words: "a free processor",
    refine: (finding, facts) => {
      const uneven = slowThread(facts);
      const freeFinding = uneven ?? ownFinding(facts);
      return freeFinding === null
        ? finding
        : {
            advice: uneven === null ? finding.advice : `${uneven.advice}; ${finding.advice}`,
            title: `${finding.title}; on a free machine: ${freeFinding.title}`,
            evidence: `a processor is missing for ${finding.evidence}; ${freeFinding.evidence}`,
          };
    },
  },
];

/** The scheduler takes the processor from a thread after some ms; one that keeps it for less leaves it by itself. */
const SHORT_SLICE_MS = 0.5;

/** What a thread would do most if it never waited for a processor; null if that is not known. */
function ownFinding(facts: RegionFacts): Finding | null {
  const { threads, wallMs, switches } = facts;
  const queued = threads?.waits.find(({ wait }) => wait === "processor");
  const longest = threads?.waits.find(({ wait }) => wait !== "processor");
  if (threads === null || wallMs === null || queued === undefined) return null;
  const free = {
    ...facts,
    wallMs: wallMs - queued.ms,
    threads: { ...threads, waits: threads.waits.filter((candidate) => candidate !== queued) },
  };
  if (longest !== undefined && longest.samples > 1 && longestWaits(free).length > 0)
    return ownWait(longest, free);
  for (const { find } of [TINY_CALLS, ...KERNEL_RULES]) {
    const finding = find(facts);
    if (finding !== null) return finding;
  }
  const isShort = threads.sliceMs === null ? null : threads.sliceMs < SHORT_SLICE_MS;
  // Others that wake up take the processor from it just as often: without a wait that was seen, slices say nothing.
  const leaves =
    switches !== null
      ? switches.voluntary > switches.involuntary
      : longest === undefined && isShort === true
        ? false
        : isShort;
  if (leaves === true) return ownWait(longest, facts);
  const isSmall =
    longest === undefined || longest.samples < 2 || longest.ms < free.wallMs * LEAST_WAIT;
  return leaves === false && isSmall
    ? { title: "CPU bound", evidence: `w${NOT_TOLD}`, advice: null }
    : null;
}

/** @param longest the longest wait that was seen; undefined if all were too short for that */
function ownWait(longest: WaitTime | undefined, facts: RegionFacts): Finding | null {
  if (longest === undefined)
    return {
      title: "many short waits",
      evidence: "it leaves its processor by itself, each time for less than was seen",
      advice: null,
    };
  const what = WAITS[longest.wait].what;
  const samples = plural(facts.threads?.samples ?? 0, "sample");
  const finding: Finding = {
    title: `waits for ${what}`,
    evidence: `${longest.samples} of ${samples} wait for ${what}`,
    advice: null,
  };
  const refined = WAIT_RULES.filter(({ waits }) => waits.includes(longest.wait))
    .map(({ refine }) => (refine === undefined ? finding : refine(finding, facts)))
    .find((candidate) => candidate !== null);
  return refined ?? finding;
}

const isPython = (command: readonly string[]): boolean =>
  command.some((word) => /(^|\/)python[0-9.]*t?$/.test(word));

/** The longest waits: one, or two if the second takes at least 60 % as long. */
function longestWaits({ threads, wallMs, cpuMs }: RegionFacts) {
  if (threads === null || wallMs === null) return [];
  const waitingMs = cpuMs === null ? wallMs : Math.max(0, wallMs - cpuMs);
  const [first, second] = threads.waits;
  if (first === undefined || first.ms < wallMs * LEAST_WAIT || first.ms < waitingMs * MOST_OF_WAIT)
    return [];
  return second !== undefined && second.ms >= first.ms * 0.6 ? [first, second] : [first];
}

const waitRule = ({ name, waits, words, refine }: WaitRule): ReasonRule => ({
  name,
  explains: ["wall"],
  threshold: `its threads wait for at least 20 % of its own time, at least 40 % of that for ${words}`,
  source: WAITING,
  find: (facts) => {
    const found = longestWaits(facts);
    const [first] = found;
    if (first === undefined || !waits.includes(first.wait)) return null;
    const samples = facts.threads?.samples ?? 0;
    const seen = (count: number) =>
      count > 0 ? ` (${count} of ${plural(samples, "sample")})` : "";
    const others = found
      .slice(1)
      .map(
        (other) =>
          `; ${formatDuration(other.ms)}${seen(other.samples)} for ${WAITS[other.wait].what}`,
      );
    const finding = {
      title: `waits for ${found.map(({ wait }) => WAITS[wait].what).join(", and for ")}`,
      evidence: `${partOfTime(first.ms, facts.wallMs ?? 0)}${seen(first.samples)}${others.join("")}`,
      advice: WAITS[first.wait].advice,
    };
    return refine === undefined ? finding : refine(finding, facts);
  },
});

/** At least three ticks of the kernel's clock. */
const LEAST_SYSTEM_MS = 30;
/** A page fault takes the kernel 0.1 to 5 µs, zeroing the page included. */
const LONGEST_FAULT_MS = 0.02;

const KERNEL_RULES: readonly ReasonRule[] = [
  {
    name: "page_faults",
    explains: ["wall"],
    threshold:
      "at least a third of the processor time passes in the kernel, and there is a page fault for every 20 µs of that",
    source: "the system's times and counts of threads",
    find: ({ cpuMs, threads }) => {
      const kernel = threads?.kernel ?? null;
      if (kernel === null || cpuMs === null || !isMuchSystem(kernel.systemMs, cpuMs)) return null;
      return kernel.systemMs > kernel.pageFaults * LONGEST_FAULT_MS
        ? null
        : {
            title: "page faults: it touches memory for the first time",
            evidence: `some ${grouped(String(kernel.pageFaults))} page faults; ${partOfTime(kernel.systemMs, cpuMs)} of processor time pass in the kernel`,
            advice: "keep and reuse memory in place of allocating it again, or use huge pages",
          };
    },
  },
  {
    name: "system_time",
    explains: ["wall"],
    threshold: "at least a third of the processor time passes in the kernel",
    source: "the system's times of threads",
    find: ({ cpuMs, threads }) => {
      const kernel = threads?.kernel ?? null;
      if (kernel === null || cpuMs === null || !isMuchSystem(kernel.systemMs, cpuMs)) return null;
      return {
        title: "computes in the kernel: system calls",
        evidence: `${partOfTime(kernel.systemMs, cpuMs)} of processor time pass in the kernel`,
        advice: "make fewer system calls, with more in each: strace -f -c counts them",
      };
    },
  },
];

const isMuchSystem = (systemMs: number, cpuMs: number): boolean =>
  systemMs >= LEAST_SYSTEM_MS && systemMs >= cpuMs / 3;

const sumOfMetric = (regions: readonly NCUProfileRegion[], name: string): number =>
  regions.reduce((sum, { metrics }) => sum + (metrics[name]?.value ?? 0), 0);

/** The part of the time of copies that is of pageable memory; null if the recording does not say. */
function pageablePart(regions: readonly NCUProfileRegion[]): number | null {
  const isKnown = regions.some(({ metrics }) => metrics["memory_copy_pageable_time"] !== undefined);
  const whole = sumOfMetric(regions, "memory_copy_time");
  return isKnown && whole > 0 ? sumOfMetric(regions, "memory_copy_pageable_time") / whole : null;
}

/** One region issues most of the copies of a run if it issues this part of their time. */
const MOST_OF_COPIES = 0.8;

/** The regions that issue the copies for which a region waits, and words about them. */
interface Issuers {
  readonly regions: readonly NCUProfileRegion[];
  /** Empty for the region itself. */
  readonly words: string;
  /** What the parts of memory and streams are of. */
  readonly whole: string;
}

function issuersOf({
  region,
  gpu,
  copies: { ownMs, wholeMs, other, outermost },
}: RegionFacts): Issuers {
  if (other === null || ownMs * 2 >= (gpu?.copyOnlyMs ?? 0))
    return { regions: [region], words: "", whole: "the time that it copies" };
  const part = `${percent(other.ms, wholeMs)} of the time of all copies`;
  const isOutside = other.region.kind === "outside";
  return other.ms >= wholeMs * MOST_OF_COPIES
    ? {
        regions: [other.region],
        words: isOutside ? `; ${part} is issued ${other.label}` : `; ${other.label} issues ${part}`,
        whole: "that",
      }
    : {
        regions: outermost,
        words: `; most of them are issued elsewhere, the largest part ${isOutside ? "" : "in "}${other.label} (${part})`,
        whole: "all",
      };
}

/** Streams with at least half of the time of a region's copies that share something, and how much of it. */
interface SharedStreams {
  /** 0 if most copies have streams of their own. */
  readonly part: number;
  readonly numbers: readonly number[];
  readonly runKernels: boolean;
  /** Null if the recording does not say which streams are default ones. */
  readonly areDefault: boolean | null;
}

/** Null where the recording does not say. */
function sharedStreams(regions: readonly NCUProfileRegion[]): SharedStreams | null {
  const streams = regions.flatMap(({ copy_streams: some = [] }) => some);
  const whole = sumOfMetric(regions, "memory_copy_time");
  const partOf = (some: typeof streams) =>
    share(
      some.reduce((sum, { total_ms }) => sum + total_ms, 0),
      whole,
    );
  if (partOf(streams) < 0.5) return null;
  const areShared = (some: typeof streams): SharedStreams => ({
    part: partOf(some),
    numbers: [...new Set(some.map(({ stream }) => stream))].sort((a, b) => a - b),
    runKernels: some.every(({ runs_kernels: runs }) => runs),
    areDefault: some.some(({ is_default: isDefault }) => isDefault === undefined)
      ? null
      : some.every(({ is_default: isDefault }) => isDefault),
  });
  const kinds = [
    streams.filter(({ runs_kernels: runs }) => runs),
    streams.filter(({ is_default: isDefault = false }) => isDefault),
  ];
  return kinds.map(areShared).find(({ part }) => part >= 0.5) ?? { ...areShared(streams), part: 0 };
}

/** `100.0 % on stream 7, the default stream, on which kernels run, too`. */
function streamWords({ part, numbers, runKernels, areDefault }: SharedStreams): string {
  const several = numbers.length > 1;
  const name = `${several ? "streams" : "stream"} ${numbers.join(" and ")}`;
  const defaults = areDefault === true ? `, the default ${several ? "streams" : "stream"}` : "";
  return `${percent(part, 1)} on ${name}${defaults}${runKernels ? ", on which kernels run, too" : ""}`;
}

/** Who issues the copies, their memory and streams, and what the region's threads do meanwhile, as far as it is known. */
function copyWords(facts: RegionFacts): string {
  const { regions, words, whole } = issuersOf(facts);
  const pageable = pageablePart(regions);
  const streams = sharedStreams(regions);
  const parts = [
    ...(pageable === null ? [] : [`${percent(pageable, 1)} from or to pageable memory`]),
    ...(streams === null || streams.part === 0 ? [] : [streamWords(streams)]),
  ];
  const waiting = ownCalls(facts.region).find(({ api }) => api === "cuda");
  return [
    words,
    ...(parts.length === 0 ? [] : [`; of ${whole}, ${parts.join(" and ")}`]),
    ...(waiting === undefined || !/Synchronize|Memcpy/.test(waiting.name)
      ? []
      : [`; its threads are in ${waiting.name} for ${formatDuration(waiting.total_ms)}`]),
  ].join("");
}

/** Whether what runs are sets of memory: by what the region issues itself or, where that is little of it, by the whole run. */
const areSets = ({ ownMs, ownSetMs, setMs, wholeMs }: CopyFacts, { copyOnlyMs }: OwnActivity) =>
  (ownMs + ownSetMs) * 2 < copyOnlyMs ? setMs >= wholeMs : ownSetMs >= ownMs;

/** Copies and sets of a whole run. */
const setWords = ({ wholeMs, setMs }: CopyFacts): string =>
  wholeMs === 0
    ? "none of the regions copies"
    : `in all, it is set for ${formatDuration(setMs)} and copied for ${formatDuration(wholeMs)}`;

/** A thread that computes, and neither issues copies nor waits for a GPU, has them beside it. */
function waitsOrNot({ copies, waitMs, cpuMs, wallMs, region }: RegionFacts, gpu: OwnActivity) {
  const isBeside =
    cpuMs !== null &&
    wallMs !== null &&
    cpuMs >= wallMs * 0.8 &&
    (copies.ownMs + copies.ownSetMs) * 2 < gpu.copyOnlyMs &&
    (waitMs ?? 0) * 2 < gpu.copyOnlyMs &&
    ownCalls(region).every(({ api }) => api !== "cuda");
  return isBeside ? "computes beside" : "waits for";
}

function besideWords({ region }: RegionFacts, streams: SharedStreams | null): string {
  const ownStream = "beside kernels: cudaMemcpyAsync on a stream of its own";
  const isSynchronous = ownCalls(region).some(
    ({ api, name }) => api === "cuda" && /^cu(da)?Memcpy(?!.*(Async|Batch))/.test(name),
  );
  if (streams === null || (streams.part === 0 && isSynchronous)) return ownStream;
  const { part, areDefault } = streams;
  if (part > 0)
    return areDefault === true
      ? `${ownStream}, made with cudaStreamNonBlocking, since other streams wait for the default one`
      : ownStream;
  return areDefault === null
    ? "begin earlier: no kernel uses their stream, and they run beside kernels unless it is the default one (cudaMemcpy), for which others wait"
    : "begin earlier: no kernel uses their stream, and they run beside kernels";
}

function copyAdvice(facts: RegionFacts): string {
  const { regions } = issuersOf(facts);
  const pageable = pageablePart(regions);
  const streams = sharedStreams(regions);
  const beside = `copy less, or ${besideWords(facts, streams)}`;
  if (pageable === null)
    return `${beside}; with memory of the host that is pinned, where it is pageable`;
  return pageable < 0.1 ? beside : `${beside}; with pinned memory in place of pageable`;
}

/** Of the CUDA runtime and driver: memory of the GPU, and memory of the host that the GPU reads. */
const ALLOCATING = /^cu(da)?(Mem)?(Malloc|Alloc|Free|Host(Alloc|Register|Unregister|Malloc|Free))/;

/** What functions of the system's libraries wait for, by name. */
const WAITING_CALLS: readonly (readonly [name: RegExp, wait: Wait])[] = [
  [/^pthread_(mutex_|rwlock_|spin_|barrier_)|^flock$|^lockf$/, "lock"],
  [/^pthread_cond_timedwait$|^sem_(timed|clock)wait$/, "timed_condition"],
  [/^pthread_cond_|^sem_/, "condition"],
  [/^pthread_join$|^pthread_timedjoin/, "join"],
  [/^(clock_nano|nano|u)?sleep$/, "sleep"],
  [/^(e?poll|ppoll|p?select|epoll_p?wait)/, "poll"],
  [/^(recv|send|accept|connect)/, "socket"],
  [/^(wait|waitpid|waitid|wait3|wait4|system)$/, "child"],
  [
    /^(f?open|openat|f?close|p?read|p?write|readv|writev|fread|fwrite|fgets|fflush|fs|fdatas|sync|msync)/,
    "file",
  ],
  [/^ioctl$/, "device"],
];

const callsWords = (calls: readonly OwnCalls[], wallMs: number): string => {
  const named = calls.map(({ name, calls: count }) => `${name} (${plural(count, "call")})`);
  return `${firstFew(named, 3)}: ${partOfTime(timeOf(calls), wallMs)}`;
};

const timeOf = (calls: readonly OwnCalls[]): number =>
  calls.reduce((sum, { total_ms }) => sum + total_ms, 0);

type OwnCalls = Pick<RegionHostCalls, "api" | "name" | "calls" | "total_ms">;

/** The calls that are part of a region's own time, the longest first; outside of ranges, those of the first thread meanwhile. */
const ownCalls = ({ kind, host_calls = [] }: NCUProfileRegion): readonly OwnCalls[] =>
  kind === "outside"
    ? host_calls
        .flatMap(({ api, name, first_thread: calls }) =>
          calls === undefined ? [] : [{ api, name, ...calls }],
        )
        .sort((a, b) => b.total_ms - a.total_ms)
    : host_calls;

/** Only exports of nsys tell. */
const launchesGraphs = (region: NCUProfileRegion): boolean =>
  ownCalls(region).some(({ api, name }) => api === "cuda" && /GraphLaunch/.test(name));

/** Of a recording that knows the calls of CUDA and of the system. */
const CALL_RULES: readonly ReasonRule[] = [
  {
    name: "allocation_calls",
    explains: ["wall"],
    threshold: "calls of CUDA that allocate or free memory take at least 30 % of its own time",
    source: "calls of CUDA, as nsys traces them",
    find: ({ region, wallMs }) => {
      const calls = ownCalls(region).filter(
        ({ api, name }) => api === "cuda" && ALLOCATING.test(name),
      );
      return wallMs === null || share(timeOf(calls), wallMs) < 0.3
        ? null
        : {
            title: "allocates and frees memory of the GPU",
            evidence: callsWords(calls, wallMs),
            advice:
              "allocate once and reuse, or from a pool: cudaMallocAsync, an allocator that caches; the first call also creates the context",
          };
    },
  },
  {
    name: "cuda_call",
    explains: ["wall"],
    threshold: "calls of one other function of CUDA take at least half of its own time",
    source: "calls of CUDA, as nsys traces them",
    find: ({ region, wallMs }) => {
      const [call] = ownCalls(region).filter(({ api }) => api === "cuda");
      return wallMs === null || call === undefined || share(call.total_ms, wallMs) < 0.5
        ? null
        : {
            title: `the host is in ${call.name}`,
            evidence: callsWords([call], wallMs),
            advice: /Synchronize/.test(call.name)
              ? "synchronize less often, and do other work meanwhile"
              : "call it less often, or find what it waits for: it may be the GPU",
          };
    },
  },
  {
    name: "os_call",
    explains: ["wall"],
    threshold:
      "calls of the system's libraries that wait for one thing take at least half of its own time",
    source: "calls of the system's libraries, as nsys traces them",
    find: ({ region, wallMs }) => {
      if (wallMs === null) return null;
      const byWait = new Map<Wait, OwnCalls[]>();
      for (const call of ownCalls(region)) {
        const wait = WAITING_CALLS.find(([name]) => name.test(call.name))?.[1];
        if (call.api === "os" && wait !== undefined)
          byWait.set(wait, [...(byWait.get(wait) ?? []), call]);
      }
      const [first] = [...byWait].sort(([, a], [, b]) => timeOf(b) - timeOf(a));
      if (first === undefined || share(timeOf(first[1]), wallMs) < 0.5) return null;
      const [wait, calls] = first;
      const { what, advice } = WAITS[wait];
      return { title: `waits for ${what}`, evidence: callsWords(calls, wallMs), advice };
    },
  },
];

/** A call that is not much longer than what it takes to record it. */
const TINY_CALL_MS = 0.02;

/** Without what the thread waited for a processor in. */
const TINY_CALLS: ReasonRule = {
  name: "tiny_calls",
  explains: ["wall"],
  threshold:
    "at least 10,000 calls of at most 20 µs on average; outside of ranges, at most 20 µs between two of them; without waits for a free processor",
  source: "the wall time of each call, and the system's times of threads",
  find: ({ region: { invocations, kind, wall_ms }, wallMs, threads, calls }) => {
    const isOutside = kind === "outside";
    const [count, ms] = isOutside ? [calls, wallMs] : [invocations, wall_ms];
    if (ms === null || count < 10_000) return null;
    const freeMs = ms - queuedMs(threads);
    if (freeMs / count > TINY_CALL_MS) return null;
    const each = formatDuration(freeMs / count);
    const waits = formatDuration(ms / count) === each ? "" : " without waits for a processor";
    const average = isOutside
      ? `${each}${waits} for each of ${plural(count, "range")}`
      : `${plural(count, "call")} of ${each} on average${waits}`;
    return {
      title: isOutside ? "between very many short ranges" : "in very many short calls",
      evidence: `${average}; recording takes a part of that itself`,
      advice: "do more in each call, or open one range around many",
    };
  },
};

/** How long the threads waited for a free processor, as far as it is known. */
const queuedMs = (threads: ThreadActivity | null): number =>
  threads?.waits.find(({ wait }) => wait === "processor")?.ms ?? 0;

/** Whether a call took so much longer only because processors were busy: it waited for one as long, and did not compute. */
const isMissingProcessor = ({ threads, cpuMs }: RegionFacts, longerMs: number): boolean =>
  cpuMs !== null && cpuMs < longerMs && queuedMs(threads) >= longerMs;

/** What its threads did, where that was seen, decides over what its clocks alone say. */
const THREAD_RULES: readonly ReasonRule[] = [
  ...WAIT_RULES.map(waitRule),
  TINY_CALLS,
  ...KERNEL_RULES,
];

/** What the time before the first range is. */
function startingWords(threads: ThreadActivity | null, wallMs: number): string {
  const [first] = threads?.waits ?? [];
  return first === undefined || first.wait === "processor" || first.ms < wallMs / 2
    ? "starting up"
    : `waiting for ${WAITS[first.wait].what}`;
}

// Uneven work: what one of several ranks or threads takes, against the others.

/** From this factor on, one takes so much longer that the difference is no noise. */
const UNEVEN = 1.5;

/** A thread with fewer calls may have had other ones than the others; the first one of each often sets things up. */
const LEAST_THREAD_CALLS = 5;
/** A slow thread and one other do not say which of the two is unusual. */
const LEAST_OTHERS = 2;

/** Waits for what others do: a longer one is no slower work. */
const WAITS_FOR_OTHERS: readonly Wait[] = [
  "condition",
  "timed_condition",
  "join",
  "poll",
  "pipe",
  "socket",
];

const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
};

/** The threads that do the same work often enough. The main thread does, if it makes about as many calls as the others. */
function comparableThreads({ listed }: RegionThreads): readonly ThreadTime[] {
  const often = listed.filter(({ invocations }) => invocations >= LEAST_THREAD_CALLS);
  const calls = medianOf(
    often.filter((thread) => !isMainThread(thread)).map(({ invocations }) => invocations),
  );
  return often.filter(
    (thread) =>
      !isMainThread(thread) || (thread.invocations >= calls / 2 && thread.invocations <= calls * 2),
  );
}

/** A thread whose calls take longer than those of the others, or that makes more of them. */
function slowThread(facts: RegionFacts): Finding | null {
  const { threads, ranks } = facts.region;
  const wait = longestWaits(facts)[0]?.wait ?? null;
  if (
    threads === undefined ||
    ranks !== undefined ||
    (wait !== null && WAITS_FOR_OTHERS.includes(wait))
  )
    return null;
  const some = comparableThreads(threads);
  if (some.length <= LEAST_OTHERS) return null;
  const median: Measure = {
    callTime: ({ invocation_wall_ms }) => invocation_wall_ms.median,
    timeOf: ({ wall_ms }) => wall_ms,
    words: ["take", "in the median"],
  };
  const areTimed = some.every(({ cpu_ms }) => cpu_ms !== undefined);
  const meanCpu: OfThread = ({ cpu_ms = 0, invocations }) => cpu_ms / invocations;
  const cpu: Measure = {
    callTime: meanCpu,
    timeOf: ({ cpu_ms = 0 }) => cpu_ms,
    words: ["compute for", "on average"],
  };
  const against = (thread: ThreadTime, measure: OfThread) =>
    medianOf(some.filter((other) => other !== thread).map(measure));
  const nameOf = threadNames(threads);
  // Of more threads than are listed, those with the most time are no sample.
  const areListed = ({ callTime }: Measure) =>
    threads.others === undefined || callTime !== median.callTime;
  const findingOf = ({ slow, usual, measure }: SlowThread): Finding => {
    const { callTime, words } = measure;
    const [verb, average] = words;
    const others = plural((areListed(measure) ? some.length : threads.count) - 1, "other thread");
    const computed = { slowMs: meanCpu(slow), usualMs: against(slow, meanCpu) };
    const isOfWhole = areTimed && callTime !== meanCpu;
    const computes = isOfWhole
      ? `; on average it computes for ${formatDuration(computed.slowMs)} of each, and they for ${formatDuration(computed.usualMs)}`
      : "";
    return {
      title: `uneven over threads: a call of ${nameOf(slow)} takes ${formatTimes(callTime(slow), usual)} that of the others`,
      evidence: `its ${plural(slow.invocations, "call")} ${verb} ${formatDuration(callTime(slow))} ${average}, those of ${others} ${formatDuration(usual)}${computes}`,
      advice:
        isOfWhole && (computed.slowMs - computed.usualMs) * 2 < callTime(slow) - usual
          ? `find what it waits for in its row of the timeline: ${computingWords(computed)}`
          : "give that thread smaller pieces, or let all threads take pieces from one queue",
    };
  };
  const slowBy = (measure: Measure): SlowThread | null => {
    const { callTime, timeOf } = measure;
    const slow = mostOf(some, callTime);
    const usual = areListed(measure) ? against(slow, callTime) : threads.median_invocation_ms;
    return callTime(slow) > 0 &&
      callTime(slow) >= usual * UNEVEN &&
      timeOf(slow) * 2 >= against(slow, timeOf)
      ? { slow, usual, measure }
      : null;
  };
  const byMedian = wait === "processor" ? null : slowBy(median);
  // Who gets a processor is chance; what each thread computes is not, nor what its shortest call takes.
  const isQueued =
    wait === "processor" ||
    (byMedian !== null &&
      queuedMs(facts.threads) >=
        (byMedian.slow.invocation_wall_ms.median - byMedian.usual) * byMedian.slow.invocations);
  if (byMedian !== null && !isQueued) return findingOf(byMedian);
  const isComputing = areTimed && computesOnFreeMachine(facts);
  const found = isQueued ? ((isComputing ? slowBy(cpu) : null) ?? slowThroughout(some)) : null;
  if (found !== null) return findingOf(found);
  if (isQueued && !isComputing) return null;
  const { timeOf } = isQueued ? cpu : median;
  const countOf: OfThread = ({ invocations }) => invocations;
  const busy = mostOf(some, timeOf);
  const [time, calls] = [against(busy, timeOf), against(busy, countOf)];
  return isMainThread(busy) ||
    threads.others !== undefined ||
    timeOf(busy) === 0 ||
    timeOf(busy) < time * UNEVEN ||
    countOf(busy) < calls * UNEVEN
    ? null
    : {
        title: `uneven over threads: ${nameOf(busy)} makes ${formatTimes(countOf(busy), calls)} the calls of the others`,
        evidence: `${plural(busy.invocations, "call")} in ${formatDuration(timeOf(busy))}; ${plural(some.length - 1, "other thread")} in the median ${plural(Math.round(calls), "call")} in ${formatDuration(time)}`,
        advice: "give that thread fewer pieces, or let all threads take pieces from one queue",
      };
}

/** What a thread whose calls take longer computes in each, where that does not make up for most of the difference. */
function computingWords({
  slowMs,
  usualMs,
}: {
  readonly slowMs: number;
  readonly usualMs: number;
}): string {
  if (slowMs * UNEVEN < usualMs) return "it computes less than the others";
  return slowMs < usualMs * UNEVEN || slowMs === 0
    ? "it computes about as much as the others"
    : "it computes more than the others, which is the smaller part of the difference";
}

type OfThread = (thread: ThreadTime) => number;

/** What of the calls of threads is compared. Times in ms. */
interface Measure {
  /** Of one call. */
  readonly callTime: OfThread;
  /** Of all calls. */
  readonly timeOf: OfThread;
  readonly words: readonly [verb: string, average: string];
}

interface SlowThread {
  readonly slow: ThreadTime;
  /** What the others have, in ms. */
  readonly usual: number;
  readonly measure: Measure;
}

/** Whether computing is a considerable part of the time in which the threads do not wait for a processor. */
const computesOnFreeMachine = ({ cpuMs, threads, wallMs }: RegionFacts): boolean =>
  cpuMs !== null && wallMs !== null && cpuMs >= (wallMs - queuedMs(threads)) * LEAST_WAIT;

/** Of fewer calls, the shortest one may have waited for a processor as well. */
const LEAST_SHORTEST = 10;

/** The thread whose shortest call takes longer than that of every other one, and whose other calls do, too. */
function slowThroughout(some: readonly ThreadTime[]): SlowThread | null {
  const callTime: OfThread = ({ invocation_wall_ms }) => invocation_wall_ms.min;
  const slow = mostOf(some, callTime);
  const others = some.filter((thread) => thread !== slow);
  const usual = medianOf(others.map(callTime));
  const medianLonger =
    slow.invocation_wall_ms.median -
    medianOf(others.map(({ invocation_wall_ms }) => invocation_wall_ms.median));
  return callTime(slow) > 0 &&
    some.every(({ invocations }) => invocations >= LEAST_SHORTEST) &&
    others.every((other) => callTime(slow) >= callTime(other) * UNEVEN) &&
    medianLonger >= (callTime(slow) - usual) / 2
    ? {
        slow,
        usual,
        measure: { callTime, timeOf: ({ wall_ms }) => wall_ms, words: ["take", "at least"] },
      }
    : null;
}

/** @param some at least one */
const mostOf = (some: readonly ThreadTime[], measure: OfThread): ThreadTime =>
  some.reduce((most, thread) => (measure(most) >= measure(thread) ? most : thread));

/** What its counters say of a region's own kernels; null if most of what they count is not these. */
function ofCounters(
  { counted, gpu, wallMs }: RegionFacts,
  finding: Finding | null,
): Finding | null {
  const { insideShare, isWholeRange } = counted;
  if (finding === null || insideShare > 0.5) return null;
  const inside =
    insideShare < LEAST_INSIDE
      ? ""
      : `; counted with the kernels of regions inside (${percent(insideShare, 1)} of the time)`;
  const busy =
    gpu === null || wallMs === null || wallMs === 0
      ? "with the time in which the GPU is idle"
      : `in which the GPU is busy for ${percent(gpu.busyMs, wallMs)}`;
  const whole = isWholeRange ? `; of the whole range, ${busy}` : "";
  return { ...finding, evidence: `${finding.evidence}${inside}${whole}` };
}

/** Less of the counted time changes no finding. */
const LEAST_INSIDE = 0.1;

/** What a rule of Nsight Compute says, in the order of NVIDIA's Compute Triage Guide: launch, occupancy, memory, compute, the rest. */
const ncuStageRule = (stage: NcuStage): ReasonRule => ({
  name: stage === "other" ? "ncu_rule" : `${stage}_rule`,
  explains: ["gpu"],
  threshold: `a rule of ${NCU_STAGES[stage].words} estimates at least 10 % less kernel time, and at least half of what any rule estimates; neither memory nor multiprocessors reach 80 % of their peaks`,
  source:
    "the estimate of Nsight Compute's rule, of kernel time (global); from 80 % of a peak its Speed Of Light calls the kernel well used",
  find: (facts) => ofCounters(facts, ruleFindingOf(facts.region, stage)),
});

/**
 * Rules about the kernels of a region are in the order of NVIDIA's Compute Triage Guide (Nsight Compute): launch, then
 * occupancy, memory, compute.
 */
export const REASON_RULES: readonly ReasonRule[] = [
  {
    name: "first_call",
    explains: ["wall"],
    threshold:
      "the first call takes ten times the median and a third of all calls, of at least three, and did not only wait for a free processor",
    source: "first calls load libraries, compile and allocate",
    find: (facts) => {
      const { invocation_wall_ms: calls, invocations, wall_ms } = facts.region;
      return calls?.first === undefined ||
        invocations < 3 ||
        calls.first < 10 * calls.median ||
        share(calls.first, wall_ms ?? 0) < 1 / 3 ||
        isMissingProcessor(facts, calls.first - calls.median)
        ? null
        : {
            title: `its first call took ${formatTimes(calls.first, calls.median)} the median`,
            evidence: `${formatDuration(calls.first)} against ${formatDuration(calls.median)}, ${percent(calls.first, wall_ms ?? 0)} of the time of its ${plural(invocations, "call")}`,
            advice: "warm up before what is measured, or keep what the first call sets up",
          };
    },
  },
  {
    name: "outlier_call",
    explains: ["wall"],
    threshold:
      "one call that is not the first takes ten times the median and a third of all calls, of at least three, and did not only wait for a free processor",
    source: "the wall time of each call",
    find: (facts) => {
      const { invocation_wall_ms: calls, invocations, wall_ms } = facts.region;
      return calls === null ||
        invocations < 3 ||
        calls.max === calls.first ||
        calls.max < 10 * calls.median ||
        share(calls.max, wall_ms ?? 0) < 1 / 3 ||
        isMissingProcessor(facts, calls.max - calls.median)
        ? null
        : {
            title: `one of its calls took ${formatTimes(calls.max, calls.median)} the median`,
            evidence: `${formatDuration(calls.max)} against ${formatDuration(calls.median)}, ${percent(calls.max, wall_ms ?? 0)} of the time of its ${plural(invocations, "call")}`,
            advice: "find that call in the timeline, and what is different about it",
          };
    },
  },
  {
    name: "slow_rank",
    explains: ["wall"],
    threshold:
      "ranks wait for the last one in at least 30 % of the time of a region that all enter",
    source: "the starts of each call on all ranks",
    find: ({ region: { ranks, wall_ms } }) =>
      ranks?.waiting_ms === undefined || share(ranks.waiting_ms, wall_ms ?? 0) < 0.3
        ? null
        : { ...lastRank(ranks), evidence: partOfTime(ranks.waiting_ms, wall_ms ?? 0) },
  },
  {
    name: "uneven_ranks",
    explains: ["wall"],
    threshold:
      "one rank takes at least 1.5 times the mean of those that enter, in a region without communication",
    source: "wall time of the region on each rank",
    find: ({ region: { ranks } }) =>
      ranks === undefined || ranks.waiting_ms !== undefined || ranks.imbalance < UNEVEN
        ? null
        : {
            title: `uneven over ranks: rank ${ranks.slowest_rank} is the slowest`,
            evidence: `${formatDuration(ranks.max_ms)} against ${formatDuration(ranks.mean_ms)} on average`,
            advice: "give that rank less to do, or look at its host",
          },
  },
  {
    name: "uneven_threads",
    explains: ["wall"],
    threshold:
      "the median call of one thread takes at least 1.5 times that of at least two others, or it makes 1.5 times their calls in 1.5 times their time; each has at least 5 calls, the main thread at most twice and at least half those of the others; not where they wait for others, nor over ranks",
    source:
      "wall time of the region on each thread; where waits for processors may be the cause, by their processor time, or by the shortest call of each (of at least 10)",
    find: (facts) => (longestWaits(facts)[0]?.wait === "processor" ? null : slowThread(facts)),
  },
  {
    name: "copies",
    explains: ["wall"],
    threshold:
      "copies or sets without a kernel at the same time fill at least half of its own time",
    source: "gpu_activity: copies that nothing hides make the region longer",
    find: (facts) => {
      const { gpu, wallMs } = facts;
      return gpu === null || wallMs === null || share(gpu.copyOnlyMs, wallMs) < 0.5
        ? null
        : {
            ...(areSets(facts.copies, gpu)
              ? {
                  title: `${waitsOrNot(facts, gpu)} memory that is copied or set`,
                  evidence: `${partOfTime(gpu.copyOnlyMs, wallMs)} memory is copied or set, and no kernel runs; ${setWords(facts.copies)}`,
                  advice: "set less, or beside kernels: cudaMemsetAsync on a stream of its own",
                }
              : {
                  title: `${waitsOrNot(facts, gpu)} copies`,
                  evidence: `${partOfTime(gpu.copyOnlyMs, wallMs)} copies${facts.copies.setMs * 100 >= facts.copies.wholeMs ? " or sets of memory" : ""} run, and no kernel${copyWords(facts)}`,
                  advice: copyAdvice(facts),
                }),
          };
    },
  },
  {
    name: "launch_bound",
    explains: ["wall", "gpu"],
    threshold:
      "at least 10 kernels of at most 20 µs on average, half of the time for each or less, and at most 100 µs for each; the GPU is idle for at least half of its own time",
    source: "a launch takes 2 to 10 µs of the host, more in frameworks",
    find: ({ region, gpu, wallMs, workMs, work, count }) => {
      if (gpu === null || wallMs === null || workMs === null || work !== "gpu_kernel") return null;
      const mean = workMs / count;
      const each = wallMs / count;
      if (count < 10 || mean > SHORT_KERNEL_MS || each > LAUNCH_MS || mean * 2 > each) return null;
      // Other threads may keep the GPU busy, and copies.
      if (gpu.busyMs * 2 > wallMs) return null;
      return {
        title: "launch bound",
        evidence: `${plural(count, "kernel")} of ${formatDuration(mean)} on average, one every ${formatDuration(each)}`,
        advice: launchesGraphs(region)
          ? "CUDA graphs launch them already: fuse kernels, or give each more work (larger batches)"
          : "launch less: CUDA graphs, fused kernels, larger batches",
      };
    },
  },
  ncuStageRule("launch"),
  ncuStageRule("occupancy"),
  ncuStageRule("memory"),
  {
    name: "memory_bandwidth",
    explains: ["gpu"],
    threshold:
      "traffic of the GPU's memory reaches 60 % of its peak, and the multiprocessors, where they were measured, 10 points less",
    source:
      "counters of DRAM throughput, of ncu or of the recorder; the thresholds of Speed Of Light",
    find: (facts) => {
      const { region } = facts;
      const dram = limitingDramShare(region.metrics);
      if (dram === null) return null;
      const sm = computeShare(region.metrics);
      const section = dramSection(region);
      return ofCounters(facts, {
        title: "limited by memory bandwidth",
        evidence: `DRAM at ${formatPercentage(dram)} % of its peak bandwidth, multiprocessors ${sm === null ? "not measured" : `at ${formatPercentage(sm)} %`}`,
        advice:
          "move fewer bytes: fuse kernels, smaller types, coalesced access, data that stays in caches",
        ...(section !== null && { section }),
      });
    },
  },
  {
    name: "memory_bound",
    explains: ["gpu"],
    threshold: "memory reaches 60 % of its peak, and 10 points more than the multiprocessors",
    source: "Speed Of Light of Nsight Compute",
    find: (facts) =>
      ofCounters(
        facts,
        speedOfLightFinding(
          facts.region,
          "memory",
          "memory bound",
          "move fewer bytes: fuse kernels, smaller types, coalesced access",
        ),
      ),
  },
  ncuStageRule("compute"),
  {
    name: "compute_bound",
    explains: ["gpu"],
    threshold: "multiprocessors reach 60 % of their peak, and 10 points more than memory",
    source: "Speed Of Light of Nsight Compute",
    find: (facts) =>
      ofCounters(
        facts,
        speedOfLightFinding(
          facts.region,
          "compute",
          "compute bound",
          "use tensor cores or smaller types, or compute less",
        ),
      ),
  },
  ncuStageRule("other"),
  {
    name: "near_both_peaks",
    explains: ["gpu"],
    threshold: "memory and multiprocessors reach 60 % of their peaks, less than 10 points apart",
    source: "Speed Of Light of Nsight Compute",
    find: (facts) =>
      ofCounters(
        facts,
        speedOfLightFinding(
          facts.region,
          "both",
          "near both peaks",
          "only less work makes it faster",
        ),
      ),
  },
  {
    name: "latency",
    explains: ["gpu"],
    threshold: "neither memory nor multiprocessors reach 60 % of their peaks",
    source: "Speed Of Light of Nsight Compute",
    find: (facts) => {
      const isWhole = facts.counted.isWholeRange;
      const advice =
        "more work for each launch: more blocks, more warps, fewer dependent instructions";
      return ofCounters(
        facts,
        speedOfLightFinding(
          facts.region,
          "latency",
          isWhole
            ? "neither memory nor multiprocessors are used well in it"
            : "its kernels use neither memory nor multiprocessors well",
          isWhole
            ? `see first for how long the GPU is idle in it (a recording without counters tells); else ${advice}`
            : advice,
        ),
      );
    },
  },
  {
    name: "one_kernel",
    explains: ["gpu"],
    threshold: "one kernel takes at least half of the kernel time of its own",
    source: "the lists of kernels",
    find: ({ longest, workMs }) =>
      longest === null ||
      workMs === null ||
      longest.total_ms === null ||
      share(longest.total_ms, workMs) < 0.5 ||
      longest.total_ms === 0
        ? null
        : {
            title: `${share(longest.total_ms, workMs) > 0.5 ? "most" : "half"} of it in one kernel`,
            evidence: `${shortName(longest)} takes ${partOfTime(longest.total_ms, workMs)} in ${plural(longest.calls, "call")}`,
            advice: null,
          },
  },
  {
    name: "kernels",
    explains: ["wall"],
    threshold: "kernels run for at least half of its own time",
    source: "gpu_activity",
    find: (facts) =>
      facts.gpu === null || facts.wallMs === null || share(facts.gpu.kernelMs, facts.wallMs) < 0.5
        ? null
        : {
            title: "kernels run",
            evidence: `${partOfTime(facts.gpu.kernelMs, facts.wallMs)}, ${kernelOrigin(facts, facts.gpu)}`,
            advice: "make the kernels faster: hardware counters say what limits them",
          },
  },
  {
    name: "waits_for_gpu",
    explains: ["wall"],
    threshold: "the host waits for the GPU for at least half of its own time",
    source: "synchronization_time: calls that block the host",
    // What waits for longer than the region has time of its own, are threads beside it.
    find: ({ waitMs, wallMs }) =>
      waitMs === null || wallMs === null || share(waitMs, wallMs) < 0.5 || waitMs > wallMs * 1.01
        ? null
        : {
            title: "the host waits for the GPU",
            evidence: partOfTime(Math.min(waitMs, wallMs), wallMs),
            advice: "synchronize less often, and do other work meanwhile",
          },
  },
  {
    name: "before_ranges",
    explains: ["wall"],
    threshold:
      "at least half of the time outside every range is before the first range; waiting where it waits for most of it",
    source: "the start of the process and of its first range, and samples of its first thread",
    find: ({ run, wallMs, threads }) =>
      run === null || wallMs === null || share(run.before_ranges_ms ?? 0, wallMs) < 0.5
        ? null
        : {
            title: `${startingWords(threads, wallMs)}, before the first range`,
            evidence: `${partOfTime(run.before_ranges_ms ?? 0, wallMs)}`,
            advice:
              "open a range around what the program does first, or start it once for more work",
          },
  },
  {
    name: "after_ranges",
    explains: ["wall"],
    threshold: "at least half of the time outside every range is after the last range",
    source: "the end of the last range and of the process",
    find: ({ run, wallMs }) =>
      run === null || wallMs === null || share(run.after_ranges_ms ?? 0, wallMs) < 0.5
        ? null
        : {
            title: "after the last range",
            evidence: `${partOfTime(run.after_ranges_ms ?? 0, wallMs)}`,
            advice: "open a range around what the program does at its end",
          },
  },
  ...CALL_RULES,
  {
    name: "idle_between_kernels",
    explains: ["wall"],
    threshold: "it launches kernels, and the GPU is idle for at least half of its own time",
    source: "gpu_activity",
    find: ({ gpu, wallMs, work, workMs, count }) => {
      if (gpu === null || wallMs === null || work !== "gpu_kernel" || count === 0) return null;
      const idleMs = Math.max(0, wallMs - gpu.busyMs);
      if (share(idleMs, wallMs) < 0.5) return null;
      const idle = `${partOfTime(idleMs, wallMs)} nothing runs on it`;
      const launch = count === 1 ? "besides the launch" : "between launches";
      const advice = `find what the host does ${launch}: open ranges around its parts`;
      const kernels = plural(count, "kernel");
      if (workMs !== null && workMs > gpu.kernelMs * MUCH_LONGER)
        return {
          title: "the GPU is idle while it is open",
          evidence: `${idle}; ${kernels} that it launches take ${formatDuration(workMs)} in all: after it closed, or at once on several streams`,
          advice,
        };
      return {
        title: `the GPU is idle ${count === 1 ? "around its kernel" : "between kernels"}`,
        evidence: `${idle}, around ${kernels}`,
        advice,
      };
    },
  },
  {
    name: "cpu_operations",
    explains: ["wall"],
    threshold: "CPU operations take at least half of its own time",
    source: "ranges of the operation domains",
    find: ({ work, workMs, wallMs, cpuMs, longest }) => {
      if (work !== "cpu_operation" || workMs === null || wallMs === null) return null;
      if (share(workMs, wallMs) < 0.5) return null;
      const evidence = `operations take ${partOfTime(workMs, wallMs)}${longest === null ? "" : `, ${longestWords(longest, workMs)}`}`;
      return cpuMs !== null && share(cpuMs, wallMs) < 0.5
        ? {
            title: "CPU operations, with other work on the processors",
            evidence: `${evidence}; its own threads compute for ${formatDuration(cpuMs)} of that`,
            advice: "measure where nothing else runs; if helping threads do the work, look at them",
          }
        : { title: "CPU bound", evidence, advice: "a faster operation, more threads, or a GPU" };
    },
  },
  ...THREAD_RULES,
  {
    name: "cpu_bound",
    explains: ["wall"],
    threshold: "its threads computed for at least 80 % of its own time",
    source: "the CPU clocks of threads",
    find: ({ cpuMs, wallMs, threads }) =>
      cpuMs === null || wallMs === null || share(cpuMs, wallMs) < 0.8
        ? null
        : {
            title: "CPU bound",
            evidence: `its threads compute for ${partOfTime(Math.min(cpuMs, wallMs), wallMs)}. ${threads === null ? "Page faults, system calls, w" : "W"}${NOT_TOLD}`,
            advice:
              "profile its code: perf record shows functions that compute, allocate or wait in a loop; perf stat, what waits for memory; perf c2c, what shares cache lines",
          },
  },
  {
    name: "waits_off_cpu",
    explains: ["wall"],
    threshold:
      "its threads computed for at most 20 % of its own time; for a free processor where most context switches are involuntary, and each stands for at most 100 ms",
    source: "the CPU clocks of threads, and context switches where they were recorded",
    find: (facts) => {
      const { cpuMs, wallMs } = facts;
      return cpuMs === null || wallMs === null || wallMs === 0 || share(cpuMs, wallMs) > 0.2
        ? null
        : waiting(
            facts,
            "waits without computing",
            `its threads compute for ${partOfTime(cpuMs, wallMs)}`,
          );
    },
  },
  {
    name: "no_gpu_work",
    explains: ["wall"],
    threshold:
      "the run uses a GPU, which is idle for at least 90 % of the region's own time, and it launches nothing",
    source: "gpu_activity",
    find: ({ gpu, wallMs, count, cpuMs }) =>
      gpu === null ||
      wallMs === null ||
      wallMs === 0 ||
      count > 0 ||
      share(gpu.busyMs, wallMs) > 0.1
        ? null
        : {
            // Without the clocks of threads, the host may as well sleep.
            title: cpuMs === null ? "without the GPU" : "host work without the GPU",
            evidence: `the GPU is idle for ${partOfTime(wallMs - gpu.busyMs, wallMs)}`,
            advice: "do it beside GPU work, or ahead in another thread",
          },
  },
  {
    name: "computes_and_waits",
    explains: ["wall"],
    threshold:
      "its threads computed for more than 20 % and less than 80 % of its own time; it waits for a free processor where most context switches are involuntary, and each stands for at most 100 ms",
    source: "the CPU clocks of threads, and context switches where they were recorded",
    find: (facts) => {
      const { cpuMs, wallMs } = facts;
      return cpuMs === null ||
        wallMs === null ||
        share(cpuMs, wallMs) <= 0.2 ||
        cpuMs >= wallMs * 0.8
        ? null
        : waiting(
            facts,
            cpuMs * 2 < wallMs
              ? "waits more than it computes"
              : cpuMs * 2 > wallMs
                ? "computes more than it waits"
                : "computes as long as it waits",
            `its threads compute for ${partOfTime(cpuMs, wallMs)} (${percent(cpuMs, wallMs)}) and wait for ${formatDuration(wallMs - cpuMs)}`,
          );
    },
  },
  {
    name: "uneven_calls",
    explains: ["wall"],
    threshold:
      "nothing above holds, the slowest of each twenty calls take at least 1.5 times the median, of at least 20, what calls take beyond the median is a fifth of all, and at least half of their time is its own",
    source: "the wall time of each call",
    find: ({ region: { invocation_wall_ms: calls, invocations, wall_ms }, wallMs }) => {
      if (calls === null || wall_ms === null || wallMs === null || invocations < 20) return null;
      const beyondMs = wall_ms - invocations * calls.median;
      return calls.p95 < calls.median * UNEVEN ||
        share(beyondMs, wall_ms) < 0.2 ||
        share(wallMs, wall_ms) < 0.5
        ? null
        : {
            title: "some of its calls take much longer than the others",
            evidence: `of ${plural(invocations, "call")} the 95th percentile takes ${formatDuration(calls.p95)}, the median ${formatDuration(calls.median)}`,
            advice:
              "find the slow calls in the timeline, and what is different about them: another thread, another input",
          };
    },
  },
];

/** The longest kernel or operation of a region: `most of it gemm (71.4 %)`. */
function longestWords(longest: KernelRecord, workMs: number | null, whole = ""): string {
  const part = share(longest.total_ms ?? 0, workMs ?? 0);
  const most = part > 0.5 ? "most of it" : "the longest is";
  return `${most} ${shortName(longest)} (${percent(part, 1)}${whole})`;
}

/**
 * Which kernels ran while a region was open: others than those that it launched, if these are too short for it. Of those
 * that take longer in all, some ran at once, or after it closed.
 */
function kernelOrigin({ longest, work, workMs }: RegionFacts, gpu: OwnActivity): string {
  if (work !== "gpu_kernel") return "launched elsewhere";
  if (workMs !== null && workMs < gpu.kernelMs / 2) return "most of it launched elsewhere";
  if (workMs !== null && workMs > gpu.kernelMs * MUCH_LONGER)
    return `while those that it launches take ${formatDuration(workMs)} in all: at once on several streams, or after it closed`;
  return longest === null
    ? "most of it launched by itself"
    : longestWords(longest, workMs, " of the kernel time");
}

/** Kernels that take by this factor longer than kernels ran in their region did not run one by one in it. */
const MUCH_LONGER = 1.1;

/** What looks the same to the clock of a thread. */
const NOT_TOLD =
  "ork, allocations, waiting in a loop (busy waiting), and waiting for memory or for a cache line that another thread writes (false sharing) look the same";

const MOST_NAME = 60;
const shortName = ({ kernel_name }: KernelRecord): string => printableLabel(kernel_name, MOST_NAME);

const formatTimes = (a: number, b: number): string =>
  b === 0 ? "many times" : `${(a / b).toFixed(a / b < 100 ? 1 : 0)} times`;

/** A thread whose processor was taken has it again within this time, unless dozens of others want it, too: a single sleep may last longer than all such waits. */
const LONGEST_TAKEN_MS = 100;

/**
 * Context switches show why a thread does not compute: it gave up its processor, or the processor was taken from it.
 */
function waiting(facts: RegionFacts, title: string, parts: string): Finding {
  const { voluntary, involuntary } = facts.switches ?? { voluntary: 0, involuntary: 0 };
  const all = plural(voluntary + involuntary, "context switch", "context switches");
  const waitingMs = (facts.wallMs ?? 0) - (facts.cpuMs ?? 0);
  if (involuntary > voluntary && waitingMs <= involuntary * LONGEST_TAKEN_MS)
    return {
      title: `${title}, for a free processor`,
      evidence: `${parts}; ${involuntary} of ${all} took the processor from a thread that had more to compute`,
      advice: "measure where nothing else runs, or start no more threads than there are processors",
    };
  if ((facts.threads?.unknown ?? 0) > 0)
    return {
      title,
      evidence: `${parts}; the kernel did not say for what`,
      advice: "let this user look at its own processes: kernel.yama.ptrace_scope=1, no hidepid",
    };
  const idle = voluntary > 0 ? `; in ${voluntary} of ${all} they had nothing to compute` : "";
  return {
    title,
    evidence: `${parts}${idle}: they sleep, or wait for files, locks${voluntary <= involuntary ? ", other processes or a free processor" : " or other processes"}`,
    advice: `find what it waits for, and wait beside other work${facts.switches === null ? "; pipeline.recorder.cpu=counts tells whether it is a free processor" : ""}${samplingAdvice(facts)}`,
  };
}

/** How to learn what a region waits for, where samples do not tell. */
function samplingAdvice({ threads, samples }: RegionFacts): string {
  if (threads !== null) return "";
  return samples === null
    ? "; pipeline.recorder.sampling_frequency=100 tells what it waits for, of ranges that are open for some time"
    : `; what it waits for is told from ${LEAST_SAMPLES} samples on, and it has ${samples}: let it run for longer, or raise pipeline.recorder.sampling_frequency`;
}

/** The first reason that holds, among the rules for this time; null if none holds. */
export function reasonFor(facts: RegionFacts, explained: Explained): Reason | null {
  for (const { name, explains, find } of REASON_RULES) {
    if (!explains.includes(explained)) continue;
    const finding = find(facts);
    if (finding !== null) return { rule: name, ...finding };
  }
  return null;
}
