/** Reads which range each measurement of counters belongs to, from the recordings of the run. */
import { basename } from "node:path";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import {
  createSelector,
  type RegionSelector,
  type SelectionPatterns,
} from "../../../report/selection/range-pattern.ts";
import type { NvtxRange } from "../../model/counters.ts";
import {
  type CounterFailureEvent,
  type CounterRangeEvent,
  type CounterTallyEvent,
  createNotes,
  type RecordedEvent,
  type SamplingEvent,
} from "../recorder/events.ts";
import { recordingFiles } from "../recorder/read.ts";
import { openRecording } from "../recorder/recording-cursor.ts";

/** A range of the program, each time that it was open. */
export interface RangeCall extends NvtxRange {
  readonly isOperation: boolean;
}

/** The counters of one range, over the time or a part of the time that it was open. */
export interface Measurement {
  /** The file with its values, and its number in it, from 1. */
  readonly file: string;
  readonly number: number;
  /** The CUDA device index in the process. */
  readonly device: number;
  readonly threadId: number;
  /** The open ranges down to the measured one, outermost first. */
  readonly path: readonly RangeCall[];
}

/** A file of counter data, of a context or of samples of a device. */
export interface MeasuredFile {
  readonly device: number;
  /** Null: the process ended without completing it. */
  readonly complete: {
    readonly ranges: number;
    readonly dropped: number;
    readonly isLastPass: boolean;
  } | null;
}

export interface ProcessMeasurements {
  readonly pid: number;
  readonly startNs: bigint;
  /** Null: it did not report its end. */
  readonly endNs: bigint | null;
  /** Base name of the executable; empty if unknown. */
  readonly name: string;
  readonly measurements: readonly Measurement[];
  readonly files: ReadonlyMap<string, MeasuredFile>;
  /** Whole devices whose counters were read at an interval. */
  readonly sampled: readonly SamplingEvent[];
  readonly failures: readonly Pick<CounterFailureEvent, "result" | "text">[];
  readonly tally: Pick<CounterTallyEvent, "missedLaunches" | "lateEnds" | "beyondLimit">;
  /** The deepest level of measured ranges. */
  readonly depth: number;
  readonly startEndRanges: number;
  /** Why the GPU could not be reached at all; empty if it could. */
  readonly refusals: readonly string[];
}

/** What determines the ranges that count. */
export interface RangeRules {
  readonly selection: SelectionPatterns;
  readonly operationDomains: readonly string[];
}

/** Of each process of a run, in the order of their recordings' start. @throws ToolError `recording.invalid` */
export const readMeasurements = (
  directory: string,
  rules: RangeRules,
): readonly ProcessMeasurements[] =>
  recordingFiles(directory)
    .map((path) => readProcess(path, rules))
    .filter((process) => process !== null)
    .sort((a, b) => (a.startNs < b.startNs ? -1 : 1));

/**
 * Whether several processes measured at the same time: their files are then named as they came, which differs from run to run.
 *
 * @param processes in the order of their start
 */
export function measuredTogether(processes: readonly ProcessMeasurements[]): boolean {
  const measuring = processes.filter(({ files }) => files.size > 0);
  return measuring.some(({ endNs }, index) => {
    const next = measuring[index + 1];
    return next !== undefined && (endNs === null || endNs > next.startNs);
  });
}

/** As native/region_recorder/open_ranges.hpp, which has no place for more. */
const MOST_OPEN = 128;

interface OpenRange extends RangeCall {
  readonly isIncluded: boolean;
  readonly isExcluded: boolean;
}

/** The push/pop ranges that are open on a thread, as the recorder has them. */
interface OpenRanges {
  readonly ranges: OpenRange[];
  deeper: number;
}

function readProcess(
  path: string,
  { selection, operationDomains }: RangeRules,
): ProcessMeasurements | null {
  const selector = createSelector(selection);
  const operations = new Set(operationDomains);
  const threads = new Map<number, OpenRanges>();
  const openOf = (stream: number) =>
    getOrCreate(threads, stream, () => ({ ranges: [], deeper: 0 }));
  // A session may end on another thread than it began, whose stream may be read first.
  const sessions = new Map<number, { readonly file: string; readonly device: number }>();
  const completions = new Map<number, MeasuredFile["complete"]>();
  const measured: (Omit<Measurement, "file" | "device"> & { readonly session: number })[] = [];
  const sampled: SamplingEvent[] = [];
  const failures: CounterFailureEvent[] = [];
  const refusals: string[] = [];
  let tally: ProcessMeasurements["tally"] = { missedLaunches: 0, lateEnds: 0, beyondLimit: 0 };
  let depth = 0;
  let startEndRanges = 0;

  const measure = ({ session, number, position, stream, threadId }: CounterRangeEvent): void => {
    const { ranges } = openOf(stream);
    if (position >= ranges.length) return;
    measured.push({ session, number, threadId, path: ranges.slice(0, position + 1) });
  };
  const sink = (event: RecordedEvent): void => {
    switch (event.kind) {
      case "thread":
        threads.delete(event.stream);
        return;
      case "push": {
        const open = openOf(event.stream);
        push(open, event, { selector, operations });
        depth = Math.max(depth, open.ranges.filter(isMeasured).length);
        return;
      }
      case "pop":
        pop(openOf(event.stream), event.domain);
        return;
      case "start":
        startEndRanges++;
        return;
      case "counter_session":
        sessions.set(event.session, { file: event.file, device: event.device });
        return;
      case "counter_session_end": {
        const { ranges, dropped, isLastPass } = event;
        completions.set(event.session, { ranges, dropped, isLastPass });
        return;
      }
      case "counter_range":
        measure(event);
        return;
      case "counter_failure":
        failures.push(event);
        return;
      case "counter_tally":
        tally = event;
        return;
      case "sampling":
        sampled.push(event);
        return;
      case "gpu_state":
        if (event.failure !== null) refusals.push(event.failure);
    }
  };
  const recording = openRecording(path, sink, createNotes());
  const header = recording.advance();
  if (header === null) return null;
  const files = new Map(
    [...sessions].map(([session, { file, device }]): [string, MeasuredFile] => [
      file,
      { device, complete: completions.get(session) ?? null },
    ]),
  );
  const measurements = measured.flatMap(({ session, ...measurement }): readonly Measurement[] => {
    const found = sessions.get(session);
    return found === undefined ? [] : [{ ...found, ...measurement }];
  });
  return {
    pid: header.pid,
    name: basename(header.executable),
    startNs: header.startNs,
    endNs: header.finishedNs ?? header.seenEndNs,
    ...{ measurements, files, sampled, failures, tally, depth, startEndRanges, refusals },
  };
}

const isMeasured = ({ isIncluded, isExcluded, isOperation }: OpenRange): boolean =>
  isIncluded && !isExcluded && !isOperation;

function push(
  open: OpenRanges,
  { domain, name }: NvtxRange,
  {
    selector,
    operations,
  }: { readonly selector: RegionSelector; readonly operations: ReadonlySet<string> },
): void {
  if (open.deeper > 0 || open.ranges.length === MOST_OPEN) {
    open.deeper++;
    return;
  }
  const around = open.ranges.at(-1);
  open.ranges.push({
    domain,
    name,
    isIncluded: (around?.isIncluded ?? false) || selector.includes(domain, name),
    isExcluded: (around?.isExcluded ?? false) || selector.excludes(domain, name),
    isOperation: operations.has(domain),
  });
}

function pop(open: OpenRanges, domain: string): void {
  if (open.deeper > 0) {
    open.deeper--;
    return;
  }
  const index = open.ranges.findLastIndex((range) => range.domain === domain);
  if (index >= 0) open.ranges.splice(index, 1);
}
