/** Which kernels of a profile count: by name, and by how long they took elsewhere. */
export { functionNameIn } from "./kernel-name.ts";
export { ncuKernelPattern, parseKernelPattern } from "./pattern.ts";
export {
  createKernelSelection,
  type KernelSelection,
  type KernelSelectionRequest,
  selectsKernels,
} from "./select-kernels.ts";
export { topKernelNames } from "./top-kernels.ts";
