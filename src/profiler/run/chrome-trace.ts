/**
 * A timeline as Chrome's trace event format (JSON object format), which Perfetto and
 * chrome://tracing open: ranges of threads as slices, start/end ranges as async slices, GPU
 * activity per device and stream with an arrow from the call that launched it, calls of CUDA and of the system. Times are
 * microseconds from the start of the recording.
 */
import { eachHostCall, hostCallKind } from "../model/host-calls.ts";
import {
  type CounterSeries,
  type KernelInstance,
  type ProcessTimeline,
  type RangeInstance,
  runInterval,
  THREAD_COUNTS,
  type Timeline,
} from "../model/timeline.ts";

/** Larger than any process number of Linux (`PID_MAX_LIMIT`); for processes whose number is taken. */
const COPY_PID = 1 << 22;

/** Devices are shown as processes, so their numbers must differ from those of processes. */
export const DEVICE_PID = 1 << 23;

/** The pieces of the file, one line each: the whole may exceed the longest string. */
export function* renderChromeTrace(timeline: Timeline): Generator<string> {
  const run = runInterval(timeline);
  const processes = numbered(timeline.processes);
  const metadata: TraceMetadata = {
    collector: timeline.collector,
    clock: timeline.clock,
    origin_ns: String(timeline.originNs),
    run: times(run),
    processes: processes.map(({ process, pid }) => ({ pid, ...times(process) })),
    notes: timeline.notes,
  };
  yield `${METADATA}${JSON.stringify(metadata)}${EVENTS}\n`;
  let separator = "";
  for (const event of events(processes)) {
    yield `${separator}${JSON.stringify(event)}`;
    separator = ",\n";
  }
  yield "\n]}\n";
}

/** What stands on the first line before and behind the metadata, which are JSON. */
export const METADATA = '{"displayTimeUnit":"ns","metadata":';
export const EVENTS = ',"traceEvents":[';

/** In microseconds, as those of events. */
interface TraceTimes {
  readonly start: number;
  readonly end: number;
}

const times = ({ startNs, endNs }: Pick<ProcessTimeline, "startNs" | "endNs">): TraceTimes => ({
  start: microseconds(startNs),
  end: microseconds(endNs),
});

export interface TraceMetadata {
  readonly collector: string;
  readonly clock: string;
  readonly origin_ns: string;
  readonly run: TraceTimes;
  readonly processes: readonly (TraceTimes & { readonly pid: number })[];
  readonly notes: readonly string[];
}

type TraceEvent = Readonly<Record<string, unknown>>;

interface NumberedProcess extends ProcessCopy {
  /** The number of the process in the trace. */
  readonly pid: number;
}

function numbered(processes: readonly ProcessTimeline[]): readonly NumberedProcess[] {
  let copies = 0;
  return copiesOf(processes).map((processCopy) => ({
    ...processCopy,
    pid: processCopy.copy === 0 ? processCopy.process.pid : COPY_PID + copies++,
  }));
}

function* events(processes: readonly NumberedProcess[]): Generator<TraceEvent> {
  /** Devices by name. */
  const devices = new Map<string, number>();
  let id = 0;
  for (const { process, pid, copy, deviceCopy } of processes) {
    yield named("process_name", pid, 0, processName(process, copy));
    for (const [thread, name] of process.threadNames ?? [])
      if (name !== "") yield named("thread_name", pid, thread, name);
    for (const range of process.ranges) yield* rangeEvents(range, process, pid, id++);
    for (const mark of process.marks)
      yield {
        ph: "i",
        s: "t",
        name: mark.name,
        cat: category(mark.domain),
        pid,
        tid: mark.threadId,
        ts: microseconds(mark.timeNs),
        ...(mark.values !== undefined && { args: valuesOf(mark) }),
      };
    for (const series of process.counters ?? []) yield* counterEvents(series, pid);
    for (const wait of process.synchronizations ?? [])
      yield {
        ph: "X",
        name: `wait for ${wait.kind}`,
        cat: "synchronization",
        pid,
        tid: wait.threadId,
        ts: microseconds(wait.startNs),
        dur: microseconds(Math.max(wait.endNs - wait.startNs, 0)),
        ...(wait.stream !== null && { args: { stream: wait.stream } }),
      };
    for (const { api, name, threadId, startNs, endNs } of eachHostCall(process.hostCalls))
      yield {
        ph: "X",
        name,
        cat: hostCallKind(api),
        pid,
        tid: threadId,
        ts: microseconds(startNs),
        dur: microseconds(Math.max(endNs - startNs, 0)),
        args: { api },
      };
    for (const kernel of process.kernels) {
      const name = `cuda:${kernel.device}${shownCopy(deviceCopy)}`;
      const device = devices.get(name) ?? DEVICE_PID + devices.size;
      devices.set(name, device);
      yield* kernelEvents(kernel, { process, pid, device }, id++);
    }
  }
  for (const [name, device] of devices) yield named("process_name", device, 0, name);
}

/** Includes the process's own number if the viewer shows another one. */
function processName({ executable, pid }: ProcessTimeline, copy: number): string {
  const number = `process ${pid}${shownCopy(copy)}`;
  if (executable === "") return number;
  return copy === 0 ? executable : `${executable}, ${number}`;
}

function* rangeEvents(
  range: RangeInstance,
  process: ProcessTimeline,
  pid: number,
  id: number,
): Generator<TraceEvent> {
  const end = Math.max(range.endNs ?? process.endNs, range.startNs);
  const common = {
    name: range.name,
    cat: category(range.domain),
    pid,
    tid: range.threadId,
    ts: microseconds(range.startNs),
  };
  const args = { ...attributes(range, process), ...(range.endNs === null && { closed: false }) };
  if (range.kind === "push_pop")
    yield { ph: "X", ...common, dur: microseconds(end - range.startNs), args };
  else {
    yield { ph: "b", ...common, id, args };
    yield {
      ph: "e",
      ...common,
      tid: range.endThreadId ?? range.threadId,
      id,
      ts: microseconds(end),
    };
  }
}

/** Viewers read the name, the time and the value; `until` is for readers of ours. */
function* counterEvents(
  { name, domain, unit, threadId, holds, timesNs, values, endsNs }: CounterSeries,
  pid: number,
): Generator<TraceEvent> {
  for (const [index, timeNs] of timesNs.entries())
    yield {
      ph: "C",
      name: counterName(name, threadId),
      ...(domain !== "" && { cat: domain }),
      pid,
      ...(threadId !== null && { tid: threadId }),
      ts: microseconds(timeNs),
      ...(endsNs !== undefined && { until: microseconds(endsNs[index] ?? timeNs) }),
      ...(holds && endsNs === undefined && { until: "next" }),
      args: { [unit === "" ? NO_UNIT : unit]: values[index] ?? 0 },
    };
}

const counterName = (name: string, threadId: number | null): string =>
  `${name}${ofThread(threadId)}`;

const ofThread = (threadId: number | null): string =>
  threadId === null ? "" : ` (thread ${threadId})`;

/** The program's name of a counter that a trace calls `shown`. */
export const plainCounterName = (shown: string, threadId: number | null): string =>
  shown.slice(0, shown.length - ofThread(threadId).length);

/** What stands in the place of the unit of a counter without one. */
export const NO_UNIT = "value";

interface Launched {
  readonly process: ProcessTimeline;
  /** The numbers of the process and its device in the trace. */
  readonly pid: number;
  readonly device: number;
}

function* kernelEvents(
  kernel: KernelInstance,
  { process, pid, device }: Launched,
  id: number,
): Generator<TraceEvent> {
  const where = { pid: device, tid: kernel.stream ?? 0 };
  yield {
    ph: "X",
    name: kernel.name,
    cat: kernel.kind ?? "kernel",
    ...where,
    ts: microseconds(kernel.startNs),
    dur: microseconds(Math.max(kernel.endNs - kernel.startNs, 0)),
    args: {
      process: process.pid,
      ...(kernel.bytes !== undefined && { bytes: kernel.bytes }),
      ...graphOf(kernel),
    },
  };
  if (kernel.launchThreadId === null) return;
  const arrow = { name: "launch", cat: "launch", id };
  yield { ph: "s", ...arrow, pid, tid: kernel.launchThreadId, ts: microseconds(kernel.launchNs) };
  yield { ph: "f", bp: "e", ...arrow, ...where, ts: microseconds(kernel.startNs) };
}

/** All kernels of a graph have arrows from one call, so their graph and node are shown. */
const graphOf = ({ graph }: KernelInstance): Readonly<Record<string, unknown>> =>
  graph === undefined ? {} : { "graph id": graph.id, "graph node id": String(graph.node) };

const named = (what: string, pid: number, tid: number, name: string): TraceEvent => ({
  ph: "M",
  name: what,
  pid,
  tid,
  args: { name },
});

const category = (domain: string): string => (domain === "" ? "default" : domain);

/** Numbers of payloads by name; arrays in full. */
function valuesOf({
  values = [],
}: Pick<RangeInstance, "values">): Readonly<Record<string, unknown>> {
  const all: Record<string, number | number[]> = {};
  for (const { field, value } of values) {
    const name = field.unit === "" ? field.name : `${field.name} [${field.unit}]`;
    const present = Object.hasOwn(all, name) ? all[name] : undefined;
    all[name] = present === undefined ? value : [present, value].flat();
  }
  return all;
}

const attributes = (
  { category: number, payload, cpuNs, counts, instructions, values, domain }: RangeInstance,
  { categoryNames = [] }: Pick<ProcessTimeline, "categoryNames">,
) => ({
  ...valuesOf({ values }),
  ...(cpuNs != null && { "CPU ms": cpuNs / 1e6 }),
  ...(counts != null &&
    Object.fromEntries(THREAD_COUNTS.map((name, index) => [name, counts[index]]))),
  ...(instructions != null && { instructions }),
  ...(number !== null && {
    category:
      categoryNames.find(
        (categoryName) => categoryName.category === number && categoryName.domain === domain,
      )?.name ?? number,
  }),
  ...(payload !== null && { payload: typeof payload === "bigint" ? String(payload) : payload }),
});

/** Three decimals preserve nanoseconds. */
const microseconds = (ns: number): number => Math.round(ns) / 1000;

export interface ProcessCopy {
  readonly process: ProcessTimeline;
  /** The number of preceding processes with the same number; above 0 if recordings are of several machines or boots. */
  readonly copy: number;
  /** The same for its devices, which are shared by all processes of its machine. */
  readonly deviceCopy: number;
}

/** Distinguishes processes with equal numbers, and their devices, which must not share a row of a viewer. */
export function copiesOf(processes: readonly ProcessTimeline[]): readonly ProcessCopy[] {
  const seen = new Map<number, number>();
  return processes.map((process) => {
    const copy = seen.get(process.pid) ?? 0;
    seen.set(process.pid, copy + 1);
    return { process, copy, deviceCopy: process.machine ?? copy };
  });
}

/** The suffix for display; the first process needs none. */
export const shownCopy = (copy: number): string => (copy === 0 ? "" : ` (${copy + 1})`);
