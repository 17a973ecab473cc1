/** Region attribution as its definition reads, with no care for time: every event asks every range. */
import type { ProcessTimeline, RangeInstance } from "../../../src/profiler/model/timeline.ts";

export interface OracleRegion {
  readonly path: readonly string[];
  /** Of the ranges on the path. */
  readonly domains: readonly string[];
  readonly kind: string;
  invocations: number;
  kernelNs: number;
  exclusiveKernelNs: number;
  kernelCount: number;
  wallNs: number;
  exclusiveWallNs: number;
}

/** Times are small integers here, so that wall times can be counted unit by unit. */
export function oracleRegions(process: ProcessTimeline): Map<string, OracleRegion> {
  const { ranges } = process;
  const last = Math.max(
    process.endNs,
    0,
    ...ranges.map(({ startNs, endNs }) => endNs ?? startNs),
    ...[...process.kernels].map(({ launchNs }) => launchNs),
  );
  const endOf = (range: RangeInstance) => range.endNs ?? last;
  const isOpen = (range: RangeInstance, timeNs: number) =>
    range.startNs <= timeNs && (range.endNs === null || range.endNs > timeNs);
  const sees = (range: RangeInstance, threadId: number) =>
    range.kind === "start_end" || range.threadId === threadId;

  const visibleAtOpening = new Map(
    ranges.map((range, index) => [
      range,
      ranges
        .slice(0, index)
        .filter(
          (other) =>
            isOpen(other, range.startNs) &&
            sees(other, range.threadId) &&
            endOf(other) >= endOf(range),
        ),
    ]),
  );
  const around = (range: RangeInstance) => visibleAtOpening.get(range) ?? [];
  const keyOf = (range: RangeInstance) =>
    JSON.stringify([
      [...around(range), range].map(({ name }) => name),
      [...around(range), range].map(({ domain }) => domain),
      range.kind,
    ]);

  const regions = new Map<string, OracleRegion>();
  const regionOf = (key: string): OracleRegion => {
    const [path, domains, kind] = JSON.parse(key);
    const region = regions.get(key) ?? {
      path,
      domains,
      kind,
      invocations: 0,
      kernelNs: 0,
      exclusiveKernelNs: 0,
      kernelCount: 0,
      wallNs: 0,
      exclusiveWallNs: 0,
    };
    regions.set(key, region);
    return region;
  };

  for (const range of ranges) {
    const key = keyOf(range);
    const region = regionOf(key);
    region.invocations++;
    const inside = ranges.filter((other) => around(other).includes(range));
    const recursion = around(range).filter((other) => keyOf(other) === key);
    for (let t = range.startNs; t < endOf(range); t++) {
      const covers = (other: RangeInstance) => other.startNs <= t && t < endOf(other);
      if (!recursion.some(covers)) region.wallNs++;
      if (!inside.some(covers)) region.exclusiveWallNs++;
    }
  }
  for (const kernel of process.kernels) {
    const visible = ranges.filter(
      (range) =>
        kernel.launchThreadId !== null &&
        isOpen(range, kernel.launchNs) &&
        sees(range, kernel.launchThreadId),
    );
    const ns = kernel.endNs - kernel.startNs;
    const owner = visible.at(-1);
    const outside = JSON.stringify([["(outside)"], [""], "outside"]);
    const ownerKey = owner === undefined ? outside : keyOf(owner);
    for (const key of new Set([...visible.map(keyOf), ownerKey])) {
      regionOf(key).kernelNs += ns;
      regionOf(key).kernelCount++;
    }
    regionOf(ownerKey).exclusiveKernelNs += ns;
  }
  return regions;
}
