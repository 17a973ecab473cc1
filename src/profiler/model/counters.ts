/** The measurements of Nsight Compute, whichever file they come from. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import type { DeviceName } from "../../report/model/document.ts";

/**
 * The measurements of Nsight Compute, in a form that does not depend on their source: the CSV of `ncu --import`, or the
 * report file itself. Results are reported one at a time, in the order of the source: launch order within a process,
 * not across processes. The tables are known once all results were reported.
 */
export interface NcuTables {
  /** The metrics of each section of the tool's report; empty if the source has no sections. */
  readonly sections: SectionTable;
  /** Notes for readers of the report: cells that could not be read, rows that were cut. */
  readonly notes: readonly string[];
  /** Whether the source is truncated or damaged, so that results are missing. Default: no. */
  readonly isIncomplete?: boolean;
}

/** The tables of one source. */
export interface ReadTables extends NcuTables {
  /** The number of results. */
  readonly results: number;
}

/**
 * The kernel name for a CUDA graph that ncu measured as a whole (`--graph-profiling graph`). Like a kernel, and unlike
 * a range, it is separate from the other results and contains none of them.
 */
export const GRAPH_NAME = "[CUDA graph]";

/** One kernel launch or one NVTX range. */
export interface NcuResult {
  /** A range row has no kernels: nothing about kernels may be derived from it. */
  readonly kind: "kernel" | "range";
  /** One of several results of a range that was measured kernel by kernel: no call of its own. */
  readonly isPart?: true;
  /** ncu's own number, counted per report. */
  readonly id: number;
  readonly processId: number;
  /** Basename of the executable. */
  readonly processName: string;
  /** `cuda:N`; null if the source does not have it (ncu before 2022.4). */
  readonly device: DeviceName | null;
  /** E.g. `Tesla T4`; null if the source does not have it. */
  readonly deviceName: string | null;
  /** As ncu printed it; `range` for a range, `GRAPH_NAME` for a graph. */
  readonly kernelName: string;
  /** Further names of a kernel, if the source has them. */
  readonly functionName?: string;
  readonly mangledName?: string;
  /** CUDA context and stream; null if the source has `n/a`. */
  readonly context: string | null;
  readonly stream: string | null;
  readonly nvtx: NvtxState;
  /** Names and units of `values`; results with the same ones share an object. */
  readonly columns: MetricColumns;
  /** NaN: the source has no number (`n/a`, an empty cell, a text). In base units. */
  readonly values: Float64Array;
  /** Messages of ncu's rules about this result; absent if the source has no rules. */
  readonly rules?: readonly RuleMessage[];
}

/** Metrics by ncu's names, in base units: ns, byte, cycle/s, byte/s, %. */
export interface MetricColumns {
  readonly names: readonly string[];
  readonly units: readonly string[];
  readonly index: ReadonlyMap<string, number>;
}

export const createMetricColumns = (
  names: readonly string[],
  units: readonly string[],
): MetricColumns => ({
  names,
  units,
  index: new Map(names.map((name, place) => [name, place] as const).reverse()),
});

/** Section names in the order of the report, each with its metrics in order. */
export type SectionTable = ReadonlyMap<string, readonly string[]>;

/** Adds the sections of another source; each metric is listed once per section. */
export function addSections(into: Map<string, readonly string[]>, from: SectionTable): void {
  for (const [name, metrics] of from)
    into.set(name, [...new Set([...(into.get(name) ?? []), ...metrics])]);
}

export interface RuleMessage {
  /** Title of the section, as in the section table. */
  readonly section: string;
  readonly rule: string;
  /** `OPT`, `INF`, `WRN`, ... as ncu writes it. */
  readonly type: string;
  readonly text: string;
  /** In percent, as ncu estimates it; null without an estimate. */
  readonly speedup: number | null;
  /** `global`: relative to the kernel's time; `local`: to the part of the hardware that the rule is about. */
  readonly speedupType?: "local" | "global";
}

/** The ranges that were open when a kernel was launched, or when a range began. */
export interface NvtxState {
  /** Ranges of the launching thread, outermost first; within a domain in order of opening. */
  readonly pushPop: readonly NvtxRange[];
  /** Start/end ranges of the process, in order of opening if the source has it. */
  readonly startEnd: readonly NvtxRange[];
  /** Push/pop ranges of the process's other threads; only the report file has them. */
  readonly otherThreads?: readonly (readonly NvtxRange[])[];
}

export interface NvtxRange {
  /** Empty for NVTX's default domain. */
  readonly domain: string;
  readonly name: string;
}

export const NO_RANGES: NvtxState = { pushPop: [], startEnd: [] };

/** A metric whose value is a text: the name of the GPU. */
export const DEVICE_NAME = "device__attribute_display_name";

/**
 * Makes columns for metrics. Results nearly always have the same metrics, and then share one object.
 *
 * @param units unit of each metric, or a function that derives the unit from a metric's name
 */
export type SharedColumns = (
  names: readonly string[],
  units: readonly string[] | ((name: string) => string),
) => MetricColumns;

export function createSharedColumns(): SharedColumns {
  const cache = new Map<string, MetricColumns>();
  return (names, units) => {
    const byRule = typeof units === "function";
    const key = (byRule ? names : [...names, ...units]).join("\0");
    return getOrCreate(cache, key, () =>
      createMetricColumns(names, byRule ? names.map(units) : units),
    );
  };
}

/**
 * Titles of ncu's own sections by identifier. Metrics name their section by title and rules by identifier, and both
 * must match. A section that is not listed keeps its identifier.
 */
const TITLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ComputeWorkloadAnalysis: "Compute Workload Analysis",
    InstructionStats: "Instruction Statistics",
    LaunchStats: "Launch Statistics",
    MemoryWorkloadAnalysis: "Memory Workload Analysis",
    MemoryWorkloadAnalysis_Chart: "Memory Workload Analysis Chart",
    MemoryWorkloadAnalysis_Tables: "Memory Workload Analysis Tables",
    NumaAffinity: "NUMA Affinity",
    Nvlink: "NVLink",
    Nvlink_Tables: "NVLink Tables",
    Nvlink_Topology: "NVLink Topology",
    PmSampling: "PM Sampling",
    PmSampling_WarpStates: "PM Sampling: Warp States",
    SchedulerStats: "Scheduler Statistics",
    SourceCounters: "Source Counters",
    SpeedOfLight: "GPU Speed Of Light Throughput",
    SpeedOfLight_HierarchicalDoubleRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Double Precision)",
    SpeedOfLight_HierarchicalHalfRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Half Precision)",
    SpeedOfLight_HierarchicalSingleRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Single Precision)",
    SpeedOfLight_HierarchicalTensorRooflineChart:
      "GPU Speed Of Light Hierarchical Roofline Chart (Tensor Core)",
    SpeedOfLight_RooflineChart: "GPU Speed Of Light Roofline Chart",
    WarpStateStats: "Warp State Statistics",
    WorkloadDistribution: "GPU and Memory Workload Distribution",
  }),
);

export const sectionTitle = (identifier: string): string => TITLES.get(identifier) ?? identifier;
