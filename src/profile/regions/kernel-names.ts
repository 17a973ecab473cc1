import type { KernelInstance } from "../timeline.ts";

/** Kernels of one name on one device, or CPU operations of one name: one row of a kernel list. */
export interface KernelIdentity {
  readonly name: string;
  readonly kind: "gpu_kernel" | "cpu_operation";
  /** `cuda:N` or `cpu`. */
  readonly device: string;
}

/** One of a run's kernels or operations, numbered from 0. */
export interface NumberedKernel extends KernelIdentity {
  readonly index: number;
}

/** Gives equal kernels the same object, so that tallies are keyed by number and stay small. */
export interface KernelNames {
  kernel(instance: KernelInstance): NumberedKernel;
  operation(name: string): NumberedKernel;
  /** By their number. */
  readonly all: readonly NumberedKernel[];
}

/** Of a CUDA device index. */
export const deviceName = (index: number): string => `cuda:${index}`;

interface KernelsOfDevice {
  /** One text for all its kernels: it is compared for each. */
  readonly device: string;
  readonly byName: Map<string, NumberedKernel>;
}

export function createKernelNames(): KernelNames {
  const kernels = new Map<number, KernelsOfDevice>();
  const operations = new Map<string, NumberedKernel>();
  const all: NumberedKernel[] = [];
  const add = (name: string, kind: KernelIdentity["kind"], device: string): NumberedKernel => {
    const numbered = { name, kind, device, index: all.length };
    all.push(numbered);
    return numbered;
  };
  return {
    all,
    kernel({ name, device }) {
      let ofDevice = kernels.get(device);
      if (ofDevice === undefined) {
        ofDevice = { device: deviceName(device), byName: new Map() };
        kernels.set(device, ofDevice);
      }
      let identity = ofDevice.byName.get(name);
      if (identity === undefined) {
        identity = add(name, "gpu_kernel", ofDevice.device);
        ofDevice.byName.set(name, identity);
      }
      return identity;
    },
    operation(name) {
      let identity = operations.get(name);
      if (identity === undefined) {
        identity = add(name, "cpu_operation", "cpu");
        operations.set(name, identity);
      }
      return identity;
    },
  };
}
