import {
  createMetricColumns,
  type MetricColumns,
  type NcuResult,
  type NcuTables,
  type NvtxRange,
} from "../../../../src/profiler/model/counters.ts";

/** A metric of one result, NaN where there is none. */
export function metricValue({ columns, values }: NcuResult, name: string): number {
  const place = columns.index.get(name);
  return place === undefined ? Number.NaN : (values[place] ?? Number.NaN);
}

/** `name` in the default domain, `domain@name` in another. */
export const range = (text: string): NvtxRange => {
  const at = text.indexOf("@");
  return at < 0
    ? { domain: "", name: text }
    : { domain: text.slice(0, at), name: text.slice(at + 1) };
};

export interface ResultSketch {
  readonly kind?: "kernel" | "range";
  readonly kernel?: string;
  /** Push/pop ranges, outermost first. */
  readonly in?: readonly string[];
  readonly startEnd?: readonly string[];
  readonly process?: number;
  readonly device?: NcuResult["device"];
  readonly ns?: number;
  readonly metrics?: Readonly<Record<string, readonly [value: number, unit: string]>>;
}

const TABLES = new Map<string, MetricColumns>();

/** A result with a duration and some metrics. */
export function resultOf(sketch: ResultSketch, id = 0): NcuResult {
  const all: [string, readonly [number, string]][] = [
    ...(sketch.ns === undefined
      ? []
      : [["gpu__time_duration.sum", [sketch.ns, "ns"]] as [string, readonly [number, string]]]),
    ...Object.entries(sketch.metrics ?? {}),
  ];
  const names = all.map(([name]) => name);
  const units = all.map(([, [, unit]]) => unit);
  const key = JSON.stringify([names, units]);
  const columns = TABLES.get(key) ?? createMetricColumns(names, units);
  TABLES.set(key, columns);
  return {
    kind: sketch.kind ?? "kernel",
    id,
    processId: sketch.process ?? 1,
    processName: "prog",
    device: sketch.device === undefined ? "cuda:0" : sketch.device,
    deviceName: null,
    kernelName: sketch.kernel ?? (sketch.kind === "range" ? "range" : "k"),
    context: "1",
    stream: sketch.kind === "range" ? null : "7",
    nvtx: {
      pushPop: (sketch.in ?? []).map(range),
      startEnd: (sketch.startEnd ?? []).map(range),
    },
    columns,
    values: Float64Array.from(all, ([, [value]]) => value),
  };
}

/** Everything that a source holds, at once. */
export interface NcuResults extends NcuTables {
  readonly results: readonly NcuResult[];
}

export const resultsOf = (...sketches: readonly ResultSketch[]): NcuResults => ({
  results: sketches.map(resultOf),
  sections: new Map(),
  notes: [],
});
