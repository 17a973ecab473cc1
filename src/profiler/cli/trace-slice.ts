/** A part of the timeline in a `trace.json`, which is what an import with `--trace` leaves of its recording. */

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { ConfigError } from "../../engine/values/errors.ts";
import { isErrorNamed } from "../../foundation/system/builtin-types.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { hostCallKind } from "../model/host-calls.ts";
import type { CounterSeries } from "../model/timeline.ts";
import {
  DEVICE_PID,
  EVENTS,
  METADATA,
  NO_UNIT,
  plainCounterName,
  type TraceMetadata,
} from "../run/chrome-trace.ts";
import {
  counterRow,
  counterValues,
  firstEvents,
  type Slice,
  type SliceEvent,
  type SliceRequest,
  threadRow,
} from "./slice.ts";

/** An event of Chrome's trace format, as `renderChromeTrace` writes it. */
interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid?: number;
  /** Microseconds. */
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: number;
  /** Of a value of a counter that holds. */
  readonly until?: number | "next";
  readonly args?: Readonly<Record<string, unknown>>;
}

interface Found extends Omit<SliceEvent, "row"> {
  readonly pid: number;
  /** Null for a counter that belongs to no thread. */
  readonly tid: number | null;
  /** Of a counter. */
  readonly domain?: string;
}

/**
 * Reads a trace one line at a time, each of which has one event, and the first one what is told of the whole.
 *
 * @param name the name of the file for messages
 * @throws ConfigError `profile.input` for a line that is no event
 */
export async function traceSlice(
  name: string,
  path: string,
  { fromMs, toMs, limit }: SliceRequest,
): Promise<Slice> {
  const names = new Map<string, string>();
  const open = new Map<number, TraceEvent>();
  const counters = createCounters();
  const kept = firstEvents<Found>(limit, ({ start_ms }) => start_ms);
  let metadata: TraceMetadata | null = null;
  let total = 0;
  const keep = (event: Found) => {
    total++;
    kept.add(event);
  };
  const take = (event: Found) => {
    if (event.end_ms >= (fromMs ?? 0) && event.start_ms <= (toMs ?? Number.POSITIVE_INFINITY))
      keep(event);
  };
  const lines = createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const line of lines) {
    metadata ??= metadataOf(line, name);
    if (!line.startsWith('{"ph"')) continue;
    const event = parsed<TraceEvent>(line.endsWith(",") ? line.slice(0, -1) : line, name);
    const { ph, pid, tid = 0, ts = 0 } = event;
    const { start } = metadata.run;
    const start_ms = msOf(ts - start);
    if (ph === "M") names.set(`${event.name} ${pid} ${tid}`, String(event.args?.["name"] ?? ""));
    else if (ph === "C") counters.add(event);
    else if (ph === "X")
      take({
        kind: kindOf(event),
        name: kindOf(event) === "wait" ? event.name.replace(WAIT, "wait for a ") : event.name,
        pid,
        tid,
        start_ms,
        end_ms: msOf(ts - start + (event.dur ?? 0)),
      });
    else if (ph === "i")
      take({ kind: "mark", name: event.name, pid, tid, start_ms, end_ms: start_ms });
    else if (ph === "b" && event.id !== undefined) open.set(event.id, event);
    else if (ph === "e" && event.id !== undefined) {
      const begin = open.get(event.id);
      open.delete(event.id);
      if (begin !== undefined)
        take({
          kind: "range",
          name: event.name,
          pid,
          tid: begin.tid ?? 0,
          start_ms: msOf((begin.ts ?? 0) - start),
          end_ms: start_ms,
        });
    }
  }
  if (metadata === null) throw damaged(name, "it is empty");
  const { run, processes } = metadata;
  const runNs = nsOf(run.start);
  const leastNs = runNs + (fromMs ?? 0) * NS_PER_MS;
  const mostNs = runNs + (toMs ?? Number.POSITIVE_INFINITY) * NS_PER_MS;
  for (const { pid, series } of counters.all()) {
    const lastNs = nsOf(processes.find((candidate) => candidate.pid === pid)?.end ?? run.end);
    const found = counterValues(series, leastNs, Math.min(mostNs, lastNs));
    if (found === null) continue;
    const { startNs, endNs, ...counter } = found;
    keep({
      ...counter,
      ...{ pid, tid: series.threadId, domain: series.domain },
      start_ms: (startNs - runNs) / NS_PER_MS,
      end_ms: (endNs - runNs) / NS_PER_MS,
    });
  }
  const rowOf = ({ pid, tid, domain = "" }: Found): string => {
    if (tid === null) return counterRow(pid, domain);
    return pid >= DEVICE_PID
      ? `${names.get(`process_name ${pid} 0`) ?? pid}, stream ${tid}`
      : threadRow(pid, tid, names.get(`thread_name ${pid} ${tid}`));
  };
  return {
    events: kept.first().map((event) => {
      const { pid: _, tid: __, domain: ___, ...shown } = event;
      return { ...shown, row: rowOf(event) };
    }),
    total,
    spanMs: msOf(run.end - run.start),
  };
}

/** The counters of a trace, whose values are events of their own. */
function createCounters() {
  interface Values extends Pick<CounterSeries, "domain" | "name" | "unit" | "threadId" | "holds"> {
    readonly pid: number;
    readonly times: number[];
    readonly values: number[];
    readonly ends: number[];
  }
  const valuesByName = new Map<string, Values>();
  return {
    add({ name: shown, cat: domain = "", pid, tid, ts = 0, until, args = {} }: TraceEvent): void {
      const threadId = tid ?? null;
      const [[key, value] = [NO_UNIT, 0]] = Object.entries(args);
      const unit = key === NO_UNIT ? "" : key;
      const { times, values, ends } = getOrCreate(
        valuesByName,
        JSON.stringify([pid, threadId, domain, shown, unit]),
        () => ({
          ...{ pid, threadId, domain, unit, holds: until !== undefined },
          name: plainCounterName(shown, threadId),
          ...{ times: [], values: [], ends: [] },
        }),
      );
      times.push(nsOf(ts));
      values.push(Number(value));
      if (typeof until === "number") ends.push(nsOf(until));
    },
    all: () =>
      [...valuesByName.values()].map(({ pid, times, values, ends, ...series }) => ({
        pid,
        series: {
          ...series,
          timesNs: Float64Array.from(times),
          values: Float64Array.from(values),
          ...(ends.length > 0 && { endsNs: Float64Array.from(ends) }),
        } satisfies CounterSeries,
      })),
  };
}

/** @throws ConfigError `profile.input` for another first line */
function metadataOf(line: string, name: string): TraceMetadata {
  const end = line.lastIndexOf(EVENTS);
  if (!line.startsWith(METADATA) || end < 0)
    throw damaged(name, "its first line is not that of a trace of this version");
  return parsed(line.slice(METADATA.length, end), name);
}

function parsed<T>(text: string, name: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    if (!isErrorNamed("SyntaxError", cause)) throw cause;
    throw damaged(name, cause.message, cause);
  }
}

const damaged = (name: string, why: string, cause?: unknown): ConfigError =>
  new ConfigError({
    code: "profile.input",
    message: `${name}: it is damaged: ${why}`,
    hint: "import the recording again, with --trace",
    ...(cause !== undefined && { cause }),
  });

const WAIT = /^wait for /;

/** Traces have whole nanoseconds. */
const msOf = (microseconds: number): number => nsOf(microseconds) / NS_PER_MS;
const nsOf = (microseconds: number): number => Math.round(microseconds * 1000);
const NS_PER_MS = 1e6;

const HOST_CALLS = (["cuda", "os"] as const).map((api) => ({ api, kind: hostCallKind(api) }));

const kindOf = ({ cat, pid, name, args }: TraceEvent): SliceEvent["kind"] =>
  pid >= DEVICE_PID
    ? cat === "memcpy" || cat === "memset"
      ? cat
      : "kernel"
    : cat === "synchronization" && WAIT.test(name)
      ? "wait"
      : // A range of a domain of that name has no such text, but numbers of the program.
        (HOST_CALLS.find(({ api, kind }) => cat === kind && args?.["api"] === api)?.kind ??
        "range");
