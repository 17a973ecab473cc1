import type { RangeInstance } from "../timeline/timeline.ts";
import { type Coverage, cover, createCoverage } from "./coverage.ts";

/**
 * Self time of each CPU operation, in nanoseconds: its duration without the operations inside it on
 * its thread. Counted so, a composite operation and its parts can stand in one list and still add
 * up to the time that was spent. Operations come in order of opening.
 */
export function operationSelfTimes(
  operations: readonly RangeInstance[],
  endOf: (range: RangeInstance) => number,
): ReadonlyMap<RangeInstance, number> {
  const openByThread = new Map<number, OpenOperation[]>();
  const all: OpenOperation[] = [];
  for (const range of operations) {
    const open = openByThread.get(range.threadId) ?? [];
    openByThread.set(range.threadId, open);
    while ((open.at(-1)?.endNs ?? Number.POSITIVE_INFINITY) <= range.startNs) open.pop();
    const endNs = endOf(range);
    for (const around of open) cover(around.inner, range.startNs, Math.min(endNs, around.endNs));
    const operation = { range, endNs, inner: createCoverage(range.startNs) };
    open.push(operation);
    all.push(operation);
  }
  return new Map(
    all.map(({ range, endNs, inner }) => [range, endNs - range.startNs - inner.coveredNs]),
  );
}

interface OpenOperation {
  readonly range: RangeInstance;
  readonly endNs: number;
  readonly inner: Coverage;
}
