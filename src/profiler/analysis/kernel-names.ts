/** The identities of kernels: name, device and kind. */
import { createNameNumbers } from "../../foundation/text/name-numbers.ts";
import type { DeviceName } from "../../report/model/document.ts";
import { createColumn, createLongList, words } from "../model/columns.ts";
import type { KernelInstance } from "../model/timeline.ts";

/** Kernels, or CPU operations, of one name on one device: one row of a kernel list. */
export interface KernelIdentity extends KernelPlace {
  readonly name: string;
}

/** The device and the kind of a kernel. */
export interface KernelPlace {
  readonly kind: "gpu_kernel" | "cpu_operation";
  /** `cuda:N` or `cpu`. */
  readonly device: DeviceName;
}

/** The number of a kernel or operation of a run, starting from 0. */
export type KernelNumber = number;

/** Numbers kernels: there can be as many names as launches, so objects for them would take most of the memory. */
export interface KernelNames {
  readonly kernel: (instance: Pick<KernelInstance, "name" | "device">) => KernelNumber;
  readonly operation: (name: string) => KernelNumber;
  readonly numbered: NumberedNames;
}

/** Looks up what the numbers stand for. */
export interface NumberedNames {
  readonly count: () => number;
  readonly nameOf: (kernel: KernelNumber) => string;
  /** Returns one shared object per place. */
  readonly placeOf: (kernel: KernelNumber) => KernelPlace;
}

/** The name of a CUDA device. */
export const deviceName = (index: number): DeviceName => `cuda:${index}`;

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
  /** Returns the number of the place. */
  readonly addPlace: (place: KernelPlace) => number;
  readonly add: (name: string, place: number) => KernelNumber;
}

/** Separate from the index for finding numbers, which is large and not needed as long. */
function createTable(): NameTable {
  const names = createLongList<string>();
  /** Few, even if a million kernels refer to them. */
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
  return createNameNumbers((name) => add(name, number), nameOf).numberOf;
}
