/** A part of the timeline in a `trace.json`, which is what an import with `--trace` leaves of its recording. */

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { ConfigError } from "../../engine/values/errors.ts";
import { isErrorNamed } from "../../foundation/system/builtin-types.ts";
import { hostCallKind } from "../model/host-calls.ts";
import { DEVICE_PID } from "../run/chrome-trace.ts";
import { firstEvents, type Slice, type SliceEvent, type SliceRequest } from "./slice.ts";

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
  readonly args?: { readonly name?: string; readonly api?: unknown };
}

interface Found extends Omit<SliceEvent, "row"> {
  readonly pid: number;
  readonly tid: number;
}

/**
 * Reads a trace one line at a time, each of which has one event.
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
  const kept = firstEvents<Found>(limit, ({ start_ms }) => start_ms);
  let spanMs = 0;
  let total = 0;
  const take = (event: Found) => {
    spanMs = Math.max(spanMs, event.end_ms);
    if (event.end_ms < (fromMs ?? 0) || event.start_ms > (toMs ?? Number.POSITIVE_INFINITY)) return;
    total++;
    kept.add(event);
  };
  const lines = createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const line of lines) {
    if (!line.startsWith('{"ph"')) continue;
    const event = eventOf(line, name);
    const { ph, pid, tid = 0, ts = 0 } = event;
    const start_ms = msOf(ts);
    if (ph === "M") names.set(`${event.name} ${pid} ${tid}`, event.args?.name ?? "");
    else if (ph === "X")
      take({
        kind: kindOf(event),
        name: kindOf(event) === "wait" ? event.name.replace(WAIT, "wait for a ") : event.name,
        pid,
        tid,
        start_ms,
        end_ms: msOf(ts + (event.dur ?? 0)),
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
          start_ms: msOf(begin.ts ?? 0),
          end_ms: start_ms,
        });
    }
  }
  const rowOf = ({ pid, tid }: Found): string => {
    if (pid >= DEVICE_PID) return `${names.get(`process_name ${pid} 0`) ?? pid}, stream ${tid}`;
    const thread = names.get(`thread_name ${pid} ${tid}`);
    return `process ${pid}, thread ${tid}${thread === undefined ? "" : ` (${thread})`}`;
  };
  return {
    events: kept.first().map((event) => {
      const { pid: _, tid: __, ...shown } = event;
      return { ...shown, row: rowOf(event) };
    }),
    total,
    spanMs,
  };
}

function eventOf(line: string, name: string): TraceEvent {
  try {
    return JSON.parse(line.endsWith(",") ? line.slice(0, -1) : line) as TraceEvent;
  } catch (cause) {
    if (!isErrorNamed("SyntaxError", cause)) throw cause;
    throw new ConfigError({
      code: "profile.input",
      message: `${name}: it is damaged: ${cause.message}`,
      hint: "import the recording again, with --trace",
      cause,
    });
  }
}

const WAIT = /^wait for /;

/** Traces have whole nanoseconds. */
const msOf = (microseconds: number): number => Math.round(microseconds * 1000) / 1e6;

const HOST_CALLS = (["cuda", "os"] as const).map((api) => ({ api, kind: hostCallKind(api) }));

const kindOf = ({ cat, pid, name, args }: TraceEvent): SliceEvent["kind"] =>
  pid >= DEVICE_PID
    ? cat === "memcpy" || cat === "memset"
      ? cat
      : "kernel"
    : cat === "synchronization" && WAIT.test(name)
      ? "wait"
      : // A range of a domain of that name has no such text, but numbers of the program.
        (HOST_CALLS.find(({ api, kind }) => cat === kind && args?.api === api)?.kind ?? "range");
