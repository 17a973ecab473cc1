import type { KernelInstance } from "../timeline.ts";

/** Kernels of one name on one device, or CPU operations of one name: one row of a kernel list. */
export interface KernelIdentity {
  readonly name: string;
  readonly kind: "gpu_kernel" | "cpu_operation";
  /** `cuda:N` or `cpu`. */
  readonly device: string;
}

/** Gives equal kernels the same object, so that tallies are keyed by identity and stay small. */
export interface KernelNames {
  kernel(instance: KernelInstance): KernelIdentity;
  operation(name: string): KernelIdentity;
}

/** Of a CUDA device index. */
export const deviceName = (index: number): string => `cuda:${index}`;

interface KernelsOfDevice {
  /** One text for all its kernels: it is compared for each. */
  readonly device: string;
  readonly byName: Map<string, KernelIdentity>;
}

export function createKernelNames(): KernelNames {
  const kernels = new Map<number, KernelsOfDevice>();
  const operations = new Map<string, KernelIdentity>();
  return {
    kernel({ name, device }) {
      let ofDevice = kernels.get(device);
      if (ofDevice === undefined) {
        ofDevice = { device: deviceName(device), byName: new Map() };
        kernels.set(device, ofDevice);
      }
      let identity = ofDevice.byName.get(name);
      if (identity === undefined) {
        identity = { name, kind: "gpu_kernel", device: ofDevice.device };
        ofDevice.byName.set(name, identity);
      }
      return identity;
    },
    operation(name) {
      let identity = operations.get(name);
      if (identity === undefined) {
        identity = { name, kind: "cpu_operation", device: "cpu" };
        operations.set(name, identity);
      }
      return identity;
    },
  };
}
