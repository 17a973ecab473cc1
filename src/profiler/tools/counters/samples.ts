/** The samples of device counters as a run keeps them, and how they become counters of the timeline. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plural } from "../../../foundation/text/plural.ts";
import type { CounterSeries, Timeline } from "../../model/timeline.ts";
import { unitOfMetric } from "../ncu/rep/units.ts";
import { inputError } from "../source-file.ts";
import { isSum } from "./counter-values.ts";

/** `samples.json` in the collector's folder: what CUPTI's files hold, for readers without CUPTI. */
export interface DeviceSamples {
  readonly chip: string;
  readonly metrics: readonly string[];
  readonly files: readonly SampleFile[];
}

/** Samples of a device, in order of time. */
export interface SampleFile {
  /** The process that had them taken. */
  readonly pid: number;
  /** The CUDA device index in that process. */
  readonly device: number;
  /** `CLOCK_MONOTONIC` at the beginning of the first sample, in nanoseconds. */
  readonly begin_ns: string;
  /**
   * Relative to the collector's folder: for each sample 64-bit floats, little-endian: begin and end in nanoseconds from `begin_ns`, and the
   * values of the metrics, NaN for none.
   */
  readonly file: string;
}

export const SAMPLES_FILE = "samples.json";

/** Begin and end of each sample, in nanoseconds of an unknown clock: what the recorder writes beside CUPTI's file. */
export function timesIn(file: string): readonly (readonly [begin: bigint, end: bigint])[] {
  const bytes = readFileSync(file);
  return Array.from({ length: Math.floor(bytes.length / 16) }, (_, index) => [
    bytes.readBigUInt64LE(index * 16),
    bytes.readBigUInt64LE(index * 16 + 8),
  ]);
}

/** The span of the process on the recorder's clock, and how far `CLOCK_REALTIME` is ahead of it. */
export interface HostClocks {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly realtimeOffsetNs: bigint;
}

/** Clocks start at the machine's start or in 1970: times of different ones are further apart than this. */
const TOLERANCE_NS = 1_000_000_000n;

/**
 * How far CUPTI's clock is ahead of the recorder's: NVIDIA says that it is one of the host, not which. Null: samples at this time are of
 * none that is known.
 */
export function clockOffset(
  beginNs: bigint,
  { startNs, endNs, realtimeOffsetNs }: HostClocks,
): bigint | null {
  const offset = [0n, realtimeOffsetNs].find(
    (ahead) => beginNs - ahead >= startNs - TOLERANCE_NS && beginNs - ahead <= endNs + TOLERANCE_NS,
  );
  return offset ?? null;
}

/** The content of a file of samples. */
export function encodeSamples(
  times: readonly (readonly [begin: bigint, end: bigint])[],
  values: readonly (readonly (number | null)[])[],
): Uint8Array {
  const first = times[0]?.[0] ?? 0n;
  const width = 2 + (values[0]?.length ?? 0);
  const view = new DataView(new ArrayBuffer(times.length * width * 8));
  for (const [row, [begin, end]] of times.entries()) {
    const numbers = [Number(begin - first), Number(end - first), ...(values[row] ?? [])];
    for (const [column, number] of numbers.entries())
      view.setFloat64((row * width + column) * 8, number ?? Number.NaN, true);
  }
  return new Uint8Array(view.buffer);
}

/** @throws ConfigError `profile.input` for a file that is damaged */
export function readDeviceSamples(directory: string): DeviceSamples {
  const file = join(directory, SAMPLES_FILE);
  const text = readFileSync(file, "utf8");
  try {
    const samples = JSON.parse(text) as DeviceSamples;
    if (Array.isArray(samples.files) && Array.isArray(samples.metrics)) return samples;
  } catch {
    // Cut short, or another file: reported below.
  }
  throw inputError(file, "it has no samples of counters", "measure again");
}

/** The timeline with the samples as counters of the processes that had them taken. */
export function withDeviceSamples(
  timeline: Timeline,
  samples: DeviceSamples,
  directory: string,
): Timeline {
  return {
    ...timeline,
    collector: "counters",
    processes: timeline.processes.map((process) => {
      const files = samples.files.filter(({ pid }) => pid === process.pid);
      if (files.length === 0) return process;
      const { originNs } = timeline;
      const series = seriesOf(files, { ...samples, directory, originNs });
      return { ...process, counters: [...(process.counters ?? []), ...series] };
    }),
  };
}

/** Where the files are, and what they hold. */
interface SampleContext extends Pick<DeviceSamples, "metrics"> {
  readonly directory: string;
  readonly originNs: bigint;
}

function seriesOf(files: readonly SampleFile[], context: SampleContext): readonly CounterSeries[] {
  const devices = [...new Set(files.map(({ device }) => device))].sort((a, b) => a - b);
  return devices.flatMap((device) => {
    const deviceFiles = files.filter((file) => file.device === device);
    const { startsNs, endsNs, values } = samplesOf(deviceFiles, context);
    return context.metrics.map((metric, index): CounterSeries => {
      // A sum depends on the length of its sample; its rate can be compared and averaged.
      const isRate = isSum(metric);
      const name = isRate ? `${metric}.per_second` : metric;
      const measuredRows = Uint32Array.from(startsNs.keys()).filter(
        (row) => !Number.isNaN(values[index]?.[row] ?? Number.NaN),
      );
      const columnOf = (numbers: Float64Array | undefined) =>
        Float64Array.from(measuredRows, (row) => numbers?.[row] ?? 0);
      return {
        domain: `cuda:${device}`,
        name: devices.length > 1 ? `${name} (cuda:${device})` : name,
        unit: isRate ? `${unitOfMetric(metric)}/s` : unitOfMetric(metric),
        threadId: null,
        holds: true,
        timesNs: columnOf(startsNs),
        endsNs: columnOf(endsNs),
        values: isRate
          ? columnOf(values[index]?.map((sum, row) => rate(sum, endsNs[row], startsNs[row])))
          : columnOf(values[index]),
      };
    });
  });
}

const NS_PER_S = 1e9;

const rate = (sum: number, endNs = 0, startNs = 0): number => (sum * NS_PER_S) / (endNs - startNs);

interface Samples {
  readonly startsNs: Float64Array;
  readonly endsNs: Float64Array;
  /** By metric. */
  readonly values: readonly Float64Array[];
}

/** All samples of a device in order of time; those without a length are none. */
function samplesOf(
  files: readonly SampleFile[],
  { metrics, directory, originNs }: SampleContext,
): Samples {
  const width = 2 + metrics.length;
  const tables = files
    .toSorted((a, b) => (BigInt(a.begin_ns) < BigInt(b.begin_ns) ? -1 : 1))
    .map(({ file, begin_ns }) => {
      const path = join(directory, file);
      const bytes = readFileSync(path);
      if (bytes.length % (width * 8) !== 0)
        throw inputError(path, "its length is not that of whole samples", "measure again");
      const begin = Number(BigInt(begin_ns) - originNs);
      const number = (row: number, column: number): number =>
        bytes.readDoubleLE((row * width + column) * 8);
      const rows = Uint32Array.from({ length: bytes.length / (width * 8) }, (_, row) => row);
      return { begin, number, rows: rows.filter((row) => number(row, 1) > number(row, 0)) };
    });
  const length = tables.reduce((sum, { rows }) => sum + rows.length, 0);
  const column = (wanted: number): Float64Array => {
    const all = new Float64Array(length);
    let index = 0;
    for (const { begin, number, rows } of tables)
      for (const row of rows) all[index++] = number(row, wanted) + (wanted < 2 ? begin : 0);
    return all;
  };
  return {
    startsNs: column(0),
    endsNs: column(1),
    values: metrics.map((_, index) => column(2 + index)),
  };
}

/** What a process could not sample, or not well. */
export const lossNotes = (device: number, lost: number, isLimited: boolean): readonly string[] => [
  ...(lost === 0
    ? []
    : [
        `cuda:${device}: the device's buffer was full ${plural(lost, "time")}: samples are missing there; a larger pipeline.counters.interval_us avoids it`,
      ]),
  ...(isLimited
    ? [
        `cuda:${device}: pipeline.counters.most_samples was reached: the rest of the run has no samples`,
      ]
    : []),
];
