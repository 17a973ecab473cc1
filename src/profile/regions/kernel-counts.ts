/**
 * Calls and time by group and kernel, in columns: a run can have as many names as launches, and an
 * object in a map for each name of each group takes several times as much memory.
 */
import { type Column, createColumn, doubles, words } from "../columns/column.ts";
import type { KernelNumber } from "./kernel-names.ts";

export interface KernelCounts {
  readonly add: (group: number, kernel: KernelNumber, ns: number) => void;
  /** What was added so far, each kernel of a group once, in order of first appearance. */
  readonly byGroup: () => GroupedCounts;
}

export type CountVisitor = (kernel: KernelNumber, calls: number, ns: number) => void;

export interface GroupedCounts {
  readonly forEach: (group: number, visit: CountVisitor) => void;
}

/** A row for each pair of a group and a kernel. */
interface Columns {
  readonly groups: Column;
  readonly kernels: Column;
  readonly calls: Column;
  readonly times: Column;
}

const FIRST_SLOTS = 2048;
/** Of slots: 64 bytes. */
const LINE_BITS = 4;
const IN_LINE = (1 << LINE_BITS) - 1;

/**
 * Where the pair stands in `slots`, or the free place where it belongs: a hash table with open
 * addressing, never more than half full, of 1 + a row or 0.
 */
function slotOf(
  slots: Uint32Array,
  { groups, kernels }: Columns,
  group: number,
  kernel: KernelNumber,
): number {
  const mask = slots.length - 1;
  // Kernels with neighbouring numbers share a line of the processor's cache: they are often launched one after another.
  const mixed = Math.imul(Math.imul(group, 0x85ebca6b) ^ (kernel >>> LINE_BITS), 0x9e3779b1);
  let slot = ((mixed >>> Math.clz32(mask >>> LINE_BITS)) << LINE_BITS) | (kernel & IN_LINE);
  for (;;) {
    const entry = slots[slot] ?? 0;
    if (entry === 0 || (kernels.get(entry - 1) === kernel && groups.get(entry - 1) === group))
      return slot;
    slot = (slot + 1) & mask;
  }
}

export function createKernelCounts(): KernelCounts {
  const columns: Columns = {
    groups: createColumn(words),
    kernels: createColumn(words),
    calls: createColumn(words),
    times: createColumn(doubles),
  };
  const { groups, kernels, calls, times } = columns;
  let slots = new Uint32Array(FIRST_SLOTS);
  let rows = 0;

  const grow = (): void => {
    const larger = new Uint32Array(2 * slots.length);
    for (let row = 0; row < rows; row++)
      larger[slotOf(larger, columns, groups.get(row), kernels.get(row))] = row + 1;
    slots = larger;
  };

  return {
    add(group, kernel, ns) {
      if (2 * rows === slots.length) grow();
      const slot = slotOf(slots, columns, group, kernel);
      let row = (slots[slot] ?? 0) - 1;
      if (row < 0) {
        row = rows++;
        slots[slot] = rows;
        groups.set(row, group);
        kernels.set(row, kernel);
      }
      calls.set(row, calls.get(row) + 1);
      times.set(row, times.get(row) + ns);
    },
    byGroup: () => grouped(columns, rows),
  };
}

/** The rows of each group side by side: `order` from `starts[group]` to `starts[group + 1]`. */
function grouped({ groups, kernels, calls, times }: Columns, rows: number): GroupedCounts {
  let count = 0;
  for (let row = 0; row < rows; row++) count = Math.max(count, groups.get(row) + 1);
  const starts = new Uint32Array(count + 1);
  for (let row = 0; row < rows; row++) increment(starts, groups.get(row) + 1);
  for (let group = 0; group < count; group++)
    starts[group + 1] = (starts[group + 1] ?? 0) + (starts[group] ?? 0);
  const next = starts.slice();
  const order = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) order[increment(next, groups.get(row))] = row;
  return {
    forEach(group, visit) {
      const end = starts[group + 1] ?? 0;
      for (let at = starts[group] ?? 0; at < end; at++) {
        const row = order[at] ?? 0;
        visit(kernels.get(row), calls.get(row), times.get(row));
      }
    },
  };
}

/** Returns what was there before. */
function increment(counts: Uint32Array, at: number): number {
  const before = counts[at] ?? 0;
  counts[at] = before + 1;
  return before;
}
