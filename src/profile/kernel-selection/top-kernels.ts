import type { Timeline } from "../timeline/timeline.ts";

/** Names of the kernels with the most GPU time over all recordings, longest first. */
export function topKernelNames(recordings: readonly Timeline[], count: number): readonly string[] {
  const times = new Map<string, number>();
  for (const { kernels } of recordings.flatMap(({ processes }) => processes))
    for (const { kind = "kernel", name, startNs, endNs } of kernels)
      if (kind === "kernel") times.set(name, (times.get(name) ?? 0) + Math.max(endNs - startNs, 0));
  return [...times]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, count)
    .map(([name]) => name);
}
