/** The work of a model, computed from its shapes, compared with what the device can do. */
export interface StaticAnalysis {
  readonly parameters: { readonly count: number; readonly bytes: number };
  readonly layers: readonly LayerWork[];
  /** Null if the workload did not report it. */
  readonly peaks: DevicePeaks | null;
  /** Median wall time of a measured forward pass; null if the tool distorts it. */
  readonly passMs: number | null;
}

/** Work of one layer, computed from its shape, not measured. */
export interface LayerWork {
  readonly name: string;
  /** Operation and shapes, e.g. `conv2d 4x16x64x64 -> 4x16x64x64 k3`. */
  readonly operation: string;
  /** The NVTX range around it. */
  readonly range: string;
  /** Floating-point operations per forward pass; a multiply-add is two. */
  readonly flops: number;
  /** Bytes read and written per forward pass if nothing stayed in a cache. */
  readonly bytes: number;
}

/** The two lines of a roofline; null if unknown for the device. */
export interface DevicePeaks {
  readonly gflops_per_second: number | null;
  readonly gbytes_per_second: number | null;
  /** `measured on this machine`, `properties of the GPU`. */
  readonly source: string;
}

/** The shortest possible time of some work on a device, and what determines it. */
export interface RooflineBound {
  readonly ms: number;
  readonly limit: "arithmetic" | "memory";
}

type Work = Pick<LayerWork, "flops" | "bytes">;

export function rooflineBound(work: Work, peaks: DevicePeaks | null): RooflineBound | null {
  if (peaks === null || peaks.gflops_per_second === null || peaks.gbytes_per_second === null)
    return null;
  const arithmetic = work.flops / peaks.gflops_per_second / 1e6;
  const memory = work.bytes / peaks.gbytes_per_second / 1e6;
  return arithmetic > memory
    ? { ms: arithmetic, limit: "arithmetic" }
    : { ms: memory, limit: "memory" };
}

/** Of one pass: layers run one after the other, so their bounds add up. Null if unknown. */
export function passBoundMs({ layers, peaks }: StaticAnalysis): number | null {
  const bounds = layers.map((layer) => rooflineBound(layer, peaks));
  return bounds.reduce<number | null>(
    (sum, bound) => (sum === null || bound === null ? null : sum + bound.ms),
    0,
  );
}

/**
 * How a measured pass contradicts the peaks, by doing more arithmetic per second than they allow; more
 * bytes per second only mean that data stayed in a cache. Null if it does not.
 */
export function peakContradiction({ layers, peaks, passMs }: StaticAnalysis): string | null {
  if (peaks === null || passMs === null || passMs === 0) return null;
  const { gflops_per_second: peak } = peaks;
  if (peak === null) return null;
  const attained = layers.reduce((sum, { flops }) => sum + flops, 0) / passMs / 1e6;
  if (attained <= peak) return null;
  return `The pass did ${attained.toFixed(1)} GFLOP/s, more than the peak of ${peak.toFixed(1)} GFLOP/s (${peaks.source}): that peak is underestimated, e.g. because the machine was busy or changed its clock, so the bounds derived from it are too long.`;
}
