import { createNameNumbers } from "../../text/name-numbers.ts";
import { createColumn, createLongList, words } from "../model/columns.ts";
import type { KernelInstance } from "../model/timeline.ts";

/** Kernels of one name on one device, or CPU operations of one name: one row of a kernel list. */
export interface KernelIdentity extends KernelPlace {
  readonly name: string;
}

/** Where something ran, and what kind of thing it is. */
export interface KernelPlace {
  readonly kind: "gpu_kernel" | "cpu_operation";
  /** `cuda:N` or `cpu`. */
  readonly device: string;
}

/** Of a run's kernels and operations, from 0. */
export type KernelNumber = number;

/** Numbers kernels: there can be as many names as launches, and objects for them would take most of the memory. */
export interface KernelNames {
  readonly kernel: (instance: Pick<KernelInstance, "name" | "device">) => KernelNumber;
  readonly operation: (name: string) => KernelNumber;
  readonly numbered: NumberedNames;
}

/** What the numbers stand for. */
export interface NumberedNames {
  readonly count: () => number;
  readonly nameOf: (kernel: KernelNumber) => string;
  /** The same object for all that ran there. */
  readonly placeOf: (kernel: KernelNumber) => KernelPlace;
}

/** Of a CUDA device index. */
export const deviceName = (index: number): string => `cuda:${index}`;

export function createKernelNames(): KernelNames {
  const table = createTable();
  const operation = numbersOf({ kind: "cpu_operation", device: "cpu" }, table);
  const devices = new Map<number, (name: string) => KernelNumber>();
  return {
    numbered: table,
    operation,
    kernel({ name, device }) {
      let numberOf = devices.get(device);
      if (numberOf === undefined) {
        numberOf = numbersOf({ kind: "gpu_kernel", device: deviceName(device) }, table);
        devices.set(device, numberOf);
      }
      return numberOf(name);
    },
  };
}

interface NameTable extends NumberedNames {
  /** Returns the place's number. */
  readonly addPlace: (place: KernelPlace) => number;
  readonly add: (name: string, place: number) => KernelNumber;
}

/** Apart from what finds numbers: that is large, and need not live as long. */
function createTable(): NameTable {
  const names = createLongList<string>();
  /** There are few, and a million kernels can point at them. */
  const places: KernelPlace[] = [];
  const placeNumbers = createColumn(words);
  return {
    count: names.length,
    nameOf: (kernel) => names.at(kernel) as string,
    placeOf: (kernel) => places[placeNumbers.get(kernel)] as KernelPlace,
    addPlace: (place) => places.push(place) - 1,
    add(name, place) {
      const number = names.length();
      placeNumbers.set(number, place);
      names.push(name);
      return number;
    },
  };
}

function numbersOf(
  place: KernelPlace,
  { add, addPlace, nameOf }: NameTable,
): (name: string) => KernelNumber {
  const number = addPlace(place);
  return createNameNumbers((name) => add(name, number), nameOf).of;
}
