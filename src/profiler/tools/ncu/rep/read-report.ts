/**
 * Our own reader of `.ncu-rep` files, for machines without Nsight Compute. It also reads data that ncu's tables omit:
 * the push/pop ranges of all threads, not only of the launching one.
 */

import { posix, win32 } from "node:path";
import { PbfReader } from "pbf";
import type { Limits } from "../../../../engine/values/limits.ts";
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import { plural } from "../../../../foundation/text/plural.ts";
import {
  createSharedColumns,
  DEVICE_NAME,
  GRAPH_NAME,
  type MetricColumns,
  type NcuResult,
  type NvtxState,
  type ReadTables,
  type SectionTable,
} from "../../../model/counters.ts";
import { type Block, type BlockMessage, openReport, type ReportFile } from "./file-blocks.ts";
import * as field from "./messages.ts";
import { type FieldReaders, readWhole } from "./messages.ts";
import { stateOf } from "./nvtx-state.ts";
import { emptyResult, type ResultMessage, resultReaders } from "./result-message.ts";
import { SCOPE, shownMetric } from "./section-filter.ts";
import { unitOfMetric } from "./units.ts";

/** How to convert a kind of message to a result. */
interface MessageShape {
  readonly kind: NcuResult["kind"];
  readonly fields: FieldReaders<ResultMessage>;
  /** Its number in filters of sections. */
  readonly scope: number;
  /** Its name; null: the name in the message. */
  readonly name: string | null;
}

const SHAPES: Readonly<Partial<Record<BlockMessage["kind"], MessageShape>>> = {
  kernel: {
    kind: "kernel",
    fields: resultReaders(field.profileResult),
    scope: SCOPE.launch,
    name: null,
  },
  range: {
    kind: "range",
    fields: resultReaders(field.rangeResult),
    scope: SCOPE.range,
    name: "range",
  },
  // Sections show the same metrics for a graph as for a range.
  graph: {
    kind: "kernel",
    fields: resultReaders(field.graphResult),
    scope: SCOPE.range,
    name: GRAPH_NAME,
  },
};

const CAPABILITY = "device__attribute_compute_capability";
const DEVICE_INDEX = ["device__attribute_device_index", "launch__device_id"];
/** Lists of metrics, under names that sections define. */
const IS_LIST = /^(?:breakdown|group|regex):/;

type Metric = ResultMessage["metrics"][number];

/**
 * Reads a report, one result in memory at a time.
 *
 * @param limits `unpackedBytes` for a compressed report. Default: the limits that the environment sets
 * @throws ConfigError `profile.input` if it is not a report, or has an unknown format, `limit.unpacked_bytes`. A
 * truncated report is read as far as possible, and damaged results are dropped, each with a note
 */
export function streamNcuReport(
  path: string,
  onResult: (result: NcuResult) => void,
  limits?: Limits,
): ReadTables {
  const report = openReport(path, limits);
  try {
    return readBlocks(report, onResult);
  } finally {
    report.close();
  }
}

/** Note for readers of reports that were read without ncu. */
export const withoutNcuNote = (name: string): string =>
  `${name} was read without ncu: units are derived from the names of metrics, and some are unknown`;

/**
 * Version of the ncu that measured, e.g. `2024.2.1.0`, without reading results; null if the file does not have it.
 *
 * @throws ConfigError as `streamNcuReport`
 */
export function reportVersion(path: string): string | null {
  const report = openReport(path);
  try {
    for (const { toolVersion } of report.blocks()) if (toolVersion !== null) return toolVersion;
    return null;
  } finally {
    report.close();
  }
}

function readBlocks(report: ReportFile, onResult: (result: NcuResult) => void): ReadTables {
  const sections = createSections();
  const shapeOf = createShapeReader();
  const shareState = createStateCache();
  let results = 0;
  let damaged = 0;

  const take = (
    { kind, fields, scope, name }: MessageShape,
    bytes: Uint8Array,
    { strings, process }: Block,
  ) => {
    // ncu numbers results consecutively over the processes of a report.
    const id = results++;
    const message = readMessage(bytes, fields);
    if (message === null) {
      damaged++;
      return;
    }
    const { metrics } = message;
    const { shown, columns } = shapeOf(metrics, strings);
    const values = Float64Array.from(shown, (index) =>
      shownValue(metrics[index]?.value ?? Number.NaN),
    );
    const nameAt = columns.index.get(DEVICE_NAME);
    const deviceName = nameAt === undefined ? null : metrics[shown[nameAt] ?? -1]?.text;
    const numberOf = (name: string) => values[columns.index.get(name) ?? -1] ?? Number.NaN;
    const device = DEVICE_INDEX.map(numberOf).find((index) => !Number.isNaN(index));
    const shownFor = { gpu: gpuOf(numberOf), scope };
    for (const { title, order, filter, metrics: members } of message.sections) {
      const names = members.map((member) => shownMetric(member, filter, shownFor));
      sections.add(title, order, names.filter((name) => name !== null).sort());
    }
    onResult({
      kind,
      id,
      processId: process.id,
      processName: programName(process.name),
      device: device === undefined ? null : `cuda:${device}`,
      deviceName: deviceName ?? null,
      kernelName: name ?? nameOfKernel(message),
      ...(message.functionName !== "" && { functionName: message.functionName }),
      ...(message.mangledName !== "" && { mangledName: message.mangledName }),
      context: message.contextId === null ? null : String(message.contextId),
      stream: message.streamId === null ? null : String(message.streamId),
      nvtx: shareState(stateOf(message.nvtx, message.threadId)),
      columns,
      values,
      ...(message.rules.length > 0 && { rules: message.rules }),
    });
  };

  for (const block of report.blocks()) {
    for (const { kind, bytes } of block.messages()) {
      const shape = SHAPES[kind];
      if (shape === undefined) continue;
      take(shape, bytes, block);
    }
  }
  return {
    sections: sections.inOrder(),
    results: results - damaged,
    isIncomplete: report.isIncomplete() || damaged > 0,
    notes: [
      ...report.notes(),
      ...(damaged > 0
        ? [`${plural(damaged, "damaged result was", "damaged results were")} left out`]
        : []),
    ],
  };
}

/** 75 for compute capability 7.5; null if the result does not have it. */
function gpuOf(numberOf: (name: string) => number): number | null {
  const gpu = 10 * numberOf(`${CAPABILITY}_major`) + numberOf(`${CAPABILITY}_minor`);
  return Number.isNaN(gpu) ? null : gpu;
}

/** Counters of GPUs before Volta may have overflowed repeatedly; ncu, which prints 64 bits, prints 0. */
const COUNTER_END = 2 ** 64;

const shownValue = (value: number): number =>
  Number.isFinite(value) ? (value >= COUNTER_END ? 0 : value) : Number.NaN;

/** The indices and names of a result's shown metrics. */
interface MetricShape {
  readonly shown: readonly number[];
  readonly columns: MetricColumns;
}

/** ncu's tables sort metrics by name in byte order; a report has them in the order of measurement. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1;

/** Caches the last shape, because consecutive results nearly always have the same metrics. */
function createShapeReader(): (
  metrics: readonly Metric[],
  strings: readonly string[],
) => MetricShape {
  const columnsOf = createSharedColumns();
  let ids: readonly number[] = [];
  let shape: MetricShape = { shown: [], columns: columnsOf([], []) };
  return (metrics, strings) => {
    if (
      ids.length === metrics.length &&
      metrics.every(({ nameId }, index) => nameId === ids[index])
    )
      return shape;
    ids = metrics.map(({ nameId }) => nameId);
    // If two sections measured the same metric, ncu shows the last value.
    const last = new Map(ids.map((id, index) => [id, index]));
    const named = [...last].map(([id, index]) => ({
      name: strings[id] ?? `metric ${id}`,
      index,
    }));
    const shown = named.filter(({ name }) => !IS_LIST.test(name)).sort(byName);
    shape = {
      shown: shown.map(({ index }) => index),
      columns: columnsOf(
        shown.map(({ name }) => name),
        unitOfMetric,
      ),
    };
    return shape;
  };
}

/** The report may come from another operating system; on Windows a zero byte ends the path. */
const programName = (path: string): string =>
  (/^(?:[A-Za-z]:\\|\\\\)/.test(path) ? win32 : posix).basename(
    path.replace(/(?<![\s\0])[\s\0]+$/, ""),
  );

/** A report may lack the demangled name. */
const nameOfKernel = ({ demangledName, functionName, mangledName }: ResultMessage): string =>
  demangledName || functionName || mangledName;

/** Null if the bytes are malformed: any error of the decoder is due to the file. */
function readMessage(bytes: Uint8Array, fields: FieldReaders<ResultMessage>): ResultMessage | null {
  try {
    return readWhole(new PbfReader(bytes), fields, emptyResult());
  } catch {
    return null;
  }
}

/** The metrics of each section. A report has sections by identifier, with their order in ncu's output. */
function createSections() {
  const sections = new Map<string, { readonly names: Set<string>; order: number }>();
  return {
    /** A section that has only rules keeps its position among the others. */
    add(title: string, order: number, metrics: readonly string[]): void {
      const section = sections.get(title) ?? { names: new Set<string>(), order };
      sections.set(title, section);
      section.order = order;
      for (const name of metrics) section.names.add(name);
    },
    inOrder: (): SectionTable =>
      new Map(
        [...sections]
          .sort(([a, { order }], [b, { order: other }]) => order - other || (a < b ? -1 : 1))
          .map(([title, { names }]) => [title, [...names]]),
      ),
  };
}

function createStateCache(): (state: NvtxState) => NvtxState {
  const cache = new Map<string, NvtxState>();
  return (state) => getOrCreate(cache, JSON.stringify(state), () => state);
}
