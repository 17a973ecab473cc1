/**
 * The kernels of one process in columns: there can be millions, and an object for each would take three
 * times as much memory. Readers get one object at a time.
 */
import { bytes, createColumn, createLongList, doubles, words } from "./columns.ts";
import type { GpuActivityKind, KernelInstance, KernelList } from "./timeline.ts";

/** The GPU's record of a kernel. Its times may come from another clock than the launch. */
export type ExecutedKernel = Omit<KernelInstance, "launchThreadId" | "launchNs">;

/** A kernel's launch and execution, on the timeline's clock. */
export type PlacedKernel = Pick<
  KernelInstance,
  "launchThreadId" | "launchNs" | "startNs" | "endNs"
>;

export interface KernelTable {
  readonly add: (kernel: ExecutedKernel) => void;
  /**
   * Call once, after all kernels have been added.
   *
   * @param place called for each kernel, in the order in which they were added
   * @returns the kernels in order of their launches
   */
  readonly finish: (
    place: (correlation: number | null, startNs: number, endNs: number) => PlacedKernel,
  ) => KernelList;
}

/** The value for no id in columns of 32-bit ids: CUPTI uses it for no device, context or stream. */
const NONE = 0xffffffff;

const KINDS: readonly GpuActivityKind[] = ["kernel", "memcpy", "memset"];

/** A byte has the kind, and beside it the memory of a copy where that is known. */
const KIND = 3;
const PAGEABLE = 4;
const PINNED = 8;

export function createKernelTable(): KernelTable {
  let length = 0;
  const names = createLongList<string>();
  const kinds = createColumn(bytes);
  const devices = createColumn(words);
  const contexts = createColumn(words, NONE);
  const streams = createColumn(words, NONE);
  const correlations = createColumn(words, NONE);
  const launchThreads = createColumn(words, NONE);
  const launches = createColumn(doubles);
  const starts = createColumn(doubles);
  const ends = createColumn(doubles);
  const sizes = createColumn(doubles, Number.NaN);
  const graphs = createColumn(words, NONE);
  /** The two halves of a 64-bit id. */
  const graphNodes = { low: createColumn(words), high: createColumn(words) };

  const add = (kernel: ExecutedKernel): void => {
    const row = length++;
    names.push(kernel.name);
    const memory = kernel.isPageable === undefined ? 0 : kernel.isPageable ? PAGEABLE : PINNED;
    kinds.set(row, KINDS.indexOf(kernel.kind ?? "kernel") | memory);
    devices.set(row, kernel.device);
    contexts.set(row, kernel.context ?? NONE);
    streams.set(row, kernel.stream ?? NONE);
    correlations.set(row, kernel.correlation ?? NONE);
    starts.set(row, kernel.startNs);
    ends.set(row, kernel.endNs);
    sizes.set(row, kernel.bytes ?? Number.NaN);
    if (kernel.graph === undefined) return;
    const { id, node } = kernel.graph;
    graphs.set(row, id);
    graphNodes.low.set(row, Number(BigInt.asUintN(32, node)));
    graphNodes.high.set(row, Number(BigInt.asUintN(32, node >> 32n)));
  };

  const kernelAt = (row: number): KernelInstance => {
    const kernel: { -readonly [K in keyof KernelInstance]: KernelInstance[K] } = {
      kind: KINDS[kinds.get(row) & KIND] ?? "kernel",
      name: names.at(row) ?? "",
      device: devices.get(row),
      stream: orNull(streams.get(row)),
      launchThreadId: orNull(launchThreads.get(row)),
      launchNs: launches.get(row),
      startNs: starts.get(row),
      endNs: ends.get(row),
    };
    const context = contexts.get(row);
    if (context !== NONE) kernel.context = context;
    const correlation = correlations.get(row);
    if (correlation !== NONE) kernel.correlation = correlation;
    const memory = kinds.get(row) & ~KIND;
    if (memory !== 0) kernel.isPageable = memory === PAGEABLE;
    const size = sizes.get(row);
    if (!Number.isNaN(size)) kernel.bytes = size;
    const id = graphs.get(row);
    if (id !== NONE) {
      const node = (BigInt(graphNodes.high.get(row)) << 32n) | BigInt(graphNodes.low.get(row));
      kernel.graph = { id, node };
    }
    return kernel;
  };

  const finish: KernelTable["finish"] = (place) => {
    for (let row = 0; row < length; row++) {
      const placed = place(orNull(correlations.get(row)), starts.get(row), ends.get(row));
      launchThreads.set(row, placed.launchThreadId ?? NONE);
      launches.set(row, placed.launchNs);
      starts.set(row, placed.startNs);
      ends.set(row, placed.endNs);
    }
    if (length === 0) return [];
    const order = inOrder(length, launches.get);
    return createList(length, order === null ? kernelAt : (place) => kernelAt(order[place] ?? 0));
  };

  return { add, finish };
}

const orNull = (id: number): number | null => (id === NONE ? null : id);

/** The rows sorted by time (stable); null if they are in order already. */
function inOrder(length: number, timeOf: (row: number) => number): Uint32Array | null {
  let row = 1;
  while (row < length && timeOf(row - 1) <= timeOf(row)) row++;
  if (row >= length) return null;
  // A plain array, because typed arrays do not sort nearly ordered rows any faster.
  const rows = Array.from({ length }, (_, row) => row);
  return Uint32Array.from(rows.sort((a, b) => timeOf(a) - timeOf(b)));
}

function createList(length: number, kernelAt: (row: number) => KernelInstance): KernelList {
  return {
    length,
    isOrdered: true,
    at: (row) => (row >= 0 && row < length ? kernelAt(row) : undefined),
    *[Symbol.iterator]() {
      for (let row = 0; row < length; row++) yield kernelAt(row);
    },
  };
}
