import type { KernelRecord } from "../document.ts";

export interface FoldedKernels {
  /** Longest first. */
  readonly kept: readonly KernelRecord[];
  /** Sum of the shorter ones; null where all are kept. */
  readonly other: { readonly rows: number; readonly calls: number; readonly total: number } | null;
}

/**
 * Keeps the longest records of all lists together and folds the others into one sum per list.
 *
 * @param limit records kept, over all lists
 */
export function foldKernels(
  lists: readonly (readonly KernelRecord[])[],
  limit: number,
): readonly FoldedKernels[] {
  const places = lists.flatMap((list, index) =>
    list.map((record, position) => ({ index, position, total: record.total_ms })),
  );
  // Lists are sorted, so that equal times are cut off at their ends.
  places.sort((a, b) => b.total - a.total || a.position - b.position || a.index - b.index);
  const counts = lists.map(() => 0);
  for (const { index } of places.slice(0, limit)) counts[index] = (counts[index] ?? 0) + 1;
  return lists.map((list, index) => fold(list, counts[index] ?? 0));
}

function fold(list: readonly KernelRecord[], count: number): FoldedKernels {
  const sorted = [...list].sort((a, b) => b.total_ms - a.total_ms);
  const rest = sorted.slice(count);
  return {
    kept: sorted.slice(0, count),
    other:
      rest.length === 0
        ? null
        : {
            rows: rest.length,
            calls: rest.reduce((sum, { calls }) => sum + calls, 0),
            total: rest.reduce((sum, { total_ms }) => sum + total_ms, 0),
          },
  };
}
