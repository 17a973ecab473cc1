/**
 * What Nsight Compute measured, in a form that does not depend on where it was read: the CSV of
 * `ncu --import`, or the report file itself. One result is one kernel launch or one NVTX range.
 */
export interface NcuResults {
  /** In the order of the source: launch order within a process, not across processes. */
  readonly results: readonly NcuResult[];
  /** What a reader of the reports must know: cells that could not be read, rows that were cut. */
  readonly notes: readonly string[];
}

export interface NcuResult {
  /** A range row has no kernels: nothing about kernels may be derived from it. */
  readonly kind: "kernel" | "range";
  /** ncu's own number, counted per report. */
  readonly id: number;
  readonly processId: number;
  /** Basename of the executable. */
  readonly processName: string;
  /** `cuda:N`; null where the source does not say (ncu before 2022.4). */
  readonly device: string | null;
  /** As ncu printed it; `range` for a range. */
  readonly kernelName: string;
  /** CUDA context and stream; null where the source says `n/a`. */
  readonly context: string | null;
  readonly stream: string | null;
  readonly nvtx: NvtxState;
  /** By ncu's name, in base units: ns, byte, cycle/s, byte/s, %. */
  readonly metrics: ReadonlyMap<string, NcuMetric>;
}

/** A metric of one result. Shared between results where it is equal. */
export interface NcuMetric {
  /** Null where the source has no number: `n/a`, an empty cell, a text. */
  readonly value: number | null;
  readonly unit: string;
}

/** The ranges that were open when a kernel was launched, or when a range began. */
export interface NvtxState {
  /** Ranges of the launching thread, outermost first; of one domain in order of opening. */
  readonly pushPop: readonly NvtxRange[];
  /** Start/end ranges of the process. */
  readonly startEnd: readonly NvtxRange[];
}

export interface NvtxRange {
  /** Empty for NVTX's default domain. */
  readonly domain: string;
  readonly name: string;
}

export const NO_RANGES: NvtxState = { pushPop: [], startEnd: [] };
