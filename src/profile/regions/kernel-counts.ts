/**
 * Calls and time by group and kernel, in columns: a run can have as many names as launches, and an
 * object in a map for each name of each group takes several times as much memory.
 */
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

interface Columns {
  readonly groups: Uint32Array;
  readonly kernels: Uint32Array;
  readonly calls: Uint32Array;
  readonly times: Float64Array;
  /** A hash table with open addressing, never more than half full: 1 + a row, or 0. */
  readonly slots: Uint32Array;
}

const FIRST_ROWS = 1024;

const columnsFor = (rows: number): Columns => ({
  groups: new Uint32Array(rows),
  kernels: new Uint32Array(rows),
  calls: new Uint32Array(rows),
  times: new Float64Array(rows),
  slots: new Uint32Array(2 * rows),
});

/** Where the pair stands in `slots`, or the free place where it belongs. */
function slotOf({ slots, groups, kernels }: Columns, group: number, kernel: KernelNumber): number {
  const mask = slots.length - 1;
  const mixed = Math.imul(Math.imul(group, 0x85ebca6b) ^ kernel, 0x9e3779b1);
  let slot = mixed >>> Math.clz32(mask);
  for (;;) {
    const entry = slots[slot] as number;
    if (entry === 0 || (kernels[entry - 1] === kernel && groups[entry - 1] === group)) return slot;
    slot = (slot + 1) & mask;
  }
}

export function createKernelCounts(): KernelCounts {
  let columns = columnsFor(FIRST_ROWS);
  let rows = 0;

  const grow = (): void => {
    const larger = columnsFor(2 * columns.groups.length);
    larger.groups.set(columns.groups);
    larger.kernels.set(columns.kernels);
    larger.calls.set(columns.calls);
    larger.times.set(columns.times);
    for (let row = 0; row < rows; row++) {
      const [group, kernel] = [larger.groups[row] as number, larger.kernels[row] as number];
      larger.slots[slotOf(larger, group, kernel)] = row + 1;
    }
    columns = larger;
  };

  return {
    add(group, kernel, ns) {
      if (rows === columns.groups.length) grow();
      const slot = slotOf(columns, group, kernel);
      let row = (columns.slots[slot] as number) - 1;
      if (row < 0) {
        row = rows++;
        columns.slots[slot] = rows;
        columns.groups[row] = group;
        columns.kernels[row] = kernel;
      }
      columns.calls[row] = (columns.calls[row] as number) + 1;
      columns.times[row] = (columns.times[row] as number) + ns;
    },
    byGroup: () => grouped(columns, rows),
  };
}

/** The rows of each group side by side: `order` from `starts[group]` to `starts[group + 1]`. */
function grouped({ groups, kernels, calls, times }: Columns, rows: number): GroupedCounts {
  let count = 0;
  for (let row = 0; row < rows; row++) count = Math.max(count, (groups[row] as number) + 1);
  const starts = new Uint32Array(count + 1);
  for (let row = 0; row < rows; row++) (starts[(groups[row] as number) + 1] as number)++;
  for (let group = 0; group < count; group++)
    starts[group + 1] = (starts[group + 1] as number) + (starts[group] as number);
  const next = starts.slice();
  const order = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) order[(next[groups[row] as number] as number)++] = row;
  return {
    forEach(group, visit) {
      const end = starts[group + 1] ?? 0;
      for (let at = starts[group] ?? 0; at < end; at++) {
        const row = order[at] as number;
        visit(kernels[row] as number, calls[row] as number, times[row] as number);
      }
    },
  };
}
