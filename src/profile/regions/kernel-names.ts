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

export function createKernelNames(): KernelNames {
  const kernels = new Map<number, Map<string, KernelIdentity>>();
  const operations = new Map<string, KernelIdentity>();
  return {
    kernel({ name, device }) {
      let ofDevice = kernels.get(device);
      if (ofDevice === undefined) {
        ofDevice = new Map();
        kernels.set(device, ofDevice);
      }
      return intern(ofDevice, { name, kind: "gpu_kernel", device: deviceName(device) });
    },
    operation: (name) => intern(operations, { name, kind: "cpu_operation", device: "cpu" }),
  };
}

function intern(known: Map<string, KernelIdentity>, identity: KernelIdentity): KernelIdentity {
  const existing = known.get(identity.name);
  if (existing !== undefined) return existing;
  known.set(identity.name, identity);
  return identity;
}
