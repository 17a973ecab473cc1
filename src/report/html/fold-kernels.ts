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
  const all = lists.reduce((sum, list) => sum + list.length, 0);
  const counts = all <= limit ? lists.map(({ length }) => length) : longestOf(lists, limit);
  return lists.map((list, index) => fold(list, counts[index] ?? 0));
}

/** How many of each list are among the longest. Of equal ones, those that stand in front in their lists. */
function longestOf(lists: readonly (readonly KernelRecord[])[], limit: number): readonly number[] {
  // A typed array, and no object for each: there can be millions.
  const totals = Float64Array.from(allTotals(lists)).sort();
  const least = totals[totals.length - limit] ?? Number.POSITIVE_INFINITY;
  const counts = lists.map((list) => countWhere(list, ({ total_ms }) => total_ms > least));
  const equal = lists.map((list) => countWhere(list, ({ total_ms }) => total_ms === least));
  let left = limit - counts.reduce((sum, count) => sum + count, 0);
  const ranked = [...counts];
  for (let position = 0; left > 0; position++) {
    let found = false;
    for (let index = 0; index < lists.length && left > 0; index++) {
      const [longer = 0, same = 0] = [counts[index], equal[index]];
      if (position >= longer + same) continue;
      found = true;
      if (position < longer) continue;
      ranked[index] = position + 1;
      left--;
    }
    if (!found) break;
  }
  return ranked;
}

function* allTotals(lists: readonly (readonly KernelRecord[])[]): Generator<number> {
  for (const list of lists) for (const { total_ms } of list) yield total_ms;
}

function countWhere<T>(list: readonly T[], test: (element: T) => boolean): number {
  let count = 0;
  for (const element of list) if (test(element)) count++;
  return count;
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
