/** The values of counters as a run keeps them, and how they become results of regions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getOrCreate } from "../../../foundation/system/get-or-create.ts";
import { agreeing, plural } from "../../../foundation/text/plural.ts";
import { createLabelUnifier, type LabelRules } from "../../analysis/labels.ts";
import type { RegionModel } from "../../analysis/region-model.ts";
import { NO_MATCHING_REGIONS } from "../../analysis/scope.ts";
import {
  createMetricColumns,
  type MetricColumns,
  type NcuResult,
  type NvtxRange,
  type NvtxState,
} from "../../model/counters.ts";
import { createNcuAssembly, type MeasurementOrigin } from "../ncu/assemble/assembly.ts";
import { ruleOf } from "../ncu/assemble/metric-rules.ts";
import { asRecorded } from "../ncu/read-results.ts";
import { unitOfMetric } from "../ncu/rep/units.ts";
import { inputError } from "../source-file.ts";
import {
  type Measurement,
  type ProcessMeasurements,
  type RangeCall,
  type RangeRules,
  readMeasurements,
} from "./read-measurements.ts";

/** `values.json` in the collector's folder: what CUPTI's files hold, for readers without CUPTI. */
export interface CounterValues {
  readonly chip: string;
  readonly metrics: readonly string[];
  readonly passes: number;
  readonly levels: readonly LevelValues[];
}

/** What the runs for one level of nesting have measured. */
export interface LevelValues {
  /** From 1; 0: the innermost ranges without those in them, which are summed for the ranges around them. */
  readonly level: number;
  /** The folder with the recordings, relative to the collector's. */
  readonly recordings: string;
  /** By file: of each range the values of the metrics, null where there is none. */
  readonly files: Readonly<Record<string, readonly (readonly (number | null)[])[]>>;
}

export const VALUES_FILE = "values.json";

/** @throws ConfigError `profile.input` for a file that is damaged */
export function readCounterValues(directory: string): CounterValues {
  const file = join(directory, VALUES_FILE);
  const text = readFileSync(file, "utf8");
  try {
    const values = JSON.parse(text) as CounterValues;
    if (Array.isArray(values.levels) && Array.isArray(values.metrics)) return values;
  } catch {
    // Cut short, or another file: reported below.
  }
  throw inputError(file, "it has no values of counters", "measure again");
}

/** Whether the value of ranges can be summed to that of the range around them. */
export const isSum = (metric: string): boolean =>
  ruleOf(metric, unitOfMetric(metric)).kind === "sum";

export interface ModelRequest extends RangeRules {
  readonly directory: string;
  readonly aggregate: boolean;
  readonly labels?: LabelRules;
  /** A recording of the same program by the recorder, for calls and wall times; null without one. */
  readonly recorded: RegionModel | null;
}

const ORIGIN: MeasurementOrigin = {
  collector: "counters",
  hasOrder: true,
  rangeNote:
    "each range was measured as a whole, by the counters of its GPU context: from the first launch in it to its end, with everything else that ran there meanwhile",
  joinNote:
    "calls and wall times are from a recording of the same program, not from the run that read counters",
};

export interface CounterModel {
  readonly model: RegionModel;
  readonly notes: readonly string[];
}

/** The regions of all levels. */
export function modelOf(values: CounterValues, request: ModelRequest): CounterModel {
  const { directory, selection, aggregate, labels, recorded } = request;
  const unifier = createLabelUnifier(labels);
  const assembly = createNcuAssembly({
    selection,
    aggregate,
    recorded,
    unifier,
    origin: ORIGIN,
    ...(labels && { labels }),
  });
  const labelOf = asRecorded(unifier, recorded) ?? ((label: string) => label);
  const columns = createMetricColumns(values.metrics, values.metrics.map(unitOfMetric));
  const stateOf = createStates(labelOf);
  const notes = new Set<string>();
  let pids: readonly number[] = [];
  // Without a level whose passes are complete, nobody knows.
  let isMatched = values.levels.length === 0;
  for (const level of values.levels) {
    const processes = readMeasurements(join(directory, level.recordings), request);
    // Each run has new process ids: the processes of one run are those of the others, in their order.
    if (pids.length === 0) pids = processes.map(({ pid }) => pid);
    for (const note of notesOf(processes)) notes.add(note);
    isMatched ||= processes.some(({ depth }) => depth > 0);
    for (const [index, process] of processes.entries()) {
      const processId = (pids.length === processes.length ? pids[index] : undefined) ?? process.pid;
      const context = { columns, stateOf, process: { ...process, pid: processId } };
      for (const result of level.level === 0
        ? sumsOf(process.measurements, level.files, context)
        : resultsOf(process.measurements, level.files, context))
        assembly.add(result);
    }
  }
  const model = assembly.finish({ sections: new Map(), notes: [] });
  return { model: isMatched ? withoutCounters(model) : model, notes: [...notes] };
}

/** Says of regions that match, and have no values, that they have none: not that none matches. */
const withoutCounters = (model: RegionModel): RegionModel => ({
  ...model,
  scopes: model.scopes.map((scope) => ({
    ...scope,
    notes: scope.notes.map((note) => (note === NO_MATCHING_REGIONS ? NO_COUNTERS : note)),
  })),
});

const NO_COUNTERS =
  "no counters of the regions that match: no GPU work was launched in them, or what was measured could not be used";

type Values = LevelValues["files"];

interface ResultContext {
  readonly columns: MetricColumns;
  readonly stateOf: (path: readonly NvtxRange[]) => NvtxState;
  readonly process: Pick<ProcessMeasurements, "pid" | "name">;
}

const valuesOf = (files: Values, { file, number }: Measurement, length: number): Float64Array => {
  const values = files[file]?.[number - 1];
  return Float64Array.from({ length }, (_, index) => values?.[index] ?? Number.NaN);
};

const isRegion = ({ isOperation }: RangeCall): boolean => !isOperation;

function resultsOf(
  measurements: readonly Measurement[],
  files: Values,
  context: ResultContext,
): readonly NcuResult[] {
  return measurements.flatMap((measurement) => {
    if (files[measurement.file] === undefined) return [];
    const values = valuesOf(files, measurement, context.columns.names.length);
    return [resultOf(measurement.path, measurement.device, values, context)];
  });
}

/** Of each call of a range and each device: what was measured in it and in the ranges in it. */
function sumsOf(
  measurements: readonly Measurement[],
  files: Values,
  context: ResultContext,
): readonly NcuResult[] {
  const calls = new Map<RangeCall, Map<number, NcuResult>>();
  for (const measurement of measurements) {
    if (files[measurement.file] === undefined) continue;
    const values = valuesOf(files, measurement, context.columns.names.length);
    const { path, device } = measurement;
    for (const [depth, call] of path.entries()) {
      if (!isRegion(call)) continue;
      const devices = getOrCreate(calls, call, () => new Map<number, NcuResult>());
      const existing = devices.get(device);
      if (existing === undefined)
        devices.set(
          device,
          resultOf(path.slice(0, depth + 1), device, Float64Array.from(values), context),
        );
      else
        for (const [place, value] of values.entries())
          existing.values[place] = (existing.values[place] ?? 0) + value;
    }
  }
  return [...calls.values()].flatMap((devices) => [...devices.values()]);
}

const resultOf = (
  path: readonly RangeCall[],
  device: number,
  values: Float64Array,
  { columns, stateOf, process }: ResultContext,
): NcuResult => ({
  kind: "range",
  id: 0,
  processId: process.pid,
  processName: process.name,
  device: `cuda:${device}`,
  deviceName: null,
  kernelName: "range",
  context: null,
  stream: null,
  nvtx: stateOf(path.filter(isRegion)),
  columns,
  values,
});

/** Equal paths share an object: regions are found by it. */
function createStates(labelOf: (label: string) => string) {
  const states = new Map<string, NvtxState>();
  return (path: readonly NvtxRange[]): NvtxState => {
    const pushPop = path.map(({ domain, name }) => ({ domain, name: labelOf(name) }));
    const key = JSON.stringify(pushPop.map(({ domain, name }) => [domain, name]));
    return getOrCreate(states, key, () => ({ pushPop, startEnd: [] }));
  };
}

/** What could not be measured, or not well. */
function notesOf(processes: readonly ProcessMeasurements[]): readonly string[] {
  const sum = (countOf: (process: ProcessMeasurements) => number) =>
    processes.reduce((total, process) => total + countOf(process), 0);
  const counted = (
    count: number,
    singular: string,
    many: string,
    rest: string,
  ): readonly string[] => (count === 0 ? [] : [`${plural(count, singular, many)} ${rest}`]);
  const beyond = sum(({ tally }) => tally.beyondLimit);
  const startEnd = sum(({ startEndRanges }) => startEndRanges);
  const unfinished = sum(
    ({ files }) => [...files.values()].filter(({ complete }) => complete === null).length,
  );
  return [
    ...counted(
      unfinished,
      "file of counters was",
      "files of counters were",
      "not completed (the process was ended, or CUPTI failed): what was measured into it is missing",
    ),
    ...counted(
      sum(
        ({ files }) =>
          [...files.values()].filter(({ complete }) => complete?.isLastPass === false).length,
      ),
      "file of counters",
      "files of counters",
      "had passes left to collect after the last run, as CUPTI says: values may be missing",
    ),
    ...counted(
      sum(({ files }) =>
        [...files.values()].reduce((all, { complete }) => all + (complete?.dropped ?? 0), 0),
      ),
      "measured range was",
      "measured ranges were",
      "dropped by CUPTI",
    ),
    ...counted(
      sum(({ tally }) => tally.missedLaunches),
      "launch counts",
      "launches count",
      "in the range of another thread, which was in CUPTI at that time",
    ),
    ...counted(
      sum(({ tally }) => tally.lateEnds),
      "range ended",
      "ranges ended",
      "late for the counters, since another thread was in CUPTI at that time",
    ),
    ...(beyond === 0
      ? []
      : [
          `pipeline.counters.most_ranges limits what a process measures: ranges that began ${plural(beyond, "time")} later have no counters`,
        ]),
    ...(startEnd === 0
      ? []
      : [
          `${plural(startEnd, "start/end range")} ${agreeing(startEnd, "was", "were")} not measured: counters follow push/pop ranges`,
        ]),
    ...processes.flatMap(overlapNote),
  ];
}

/** The counters of a context know no threads. */
function overlapNote({ measurements }: ProcessMeasurements): readonly string[] {
  const threads = new Set(measurements.map(({ threadId }) => threadId));
  if (threads.size < 2) return [];
  return [
    `${plural(threads.size, "thread")} launched work in ranges: counters belong to a GPU context and not to a thread, so each launch ended the range of the thread before it, and work that still ran then counts where it ended`,
  ];
}
