import type { Timeline } from "../timeline/timeline.ts";

/** Repeated captures are recordings of their own: each has its own clock. */
export function mergeCaptures(timelines: readonly Timeline[]): Timeline {
  const [first] = timelines;
  if (first === undefined)
    return {
      collector: "nsys",
      clock: "nsys session clock",
      originNs: 0n,
      processes: [],
      notes: [],
    };
  if (timelines.length === 1) return first;
  return {
    ...first,
    processes: timelines.flatMap(({ processes }) => processes),
    notes: [
      ...new Set(timelines.flatMap(({ notes }) => notes)),
      `${timelines.length} capture ranges were recorded one after the other`,
    ],
  };
}
