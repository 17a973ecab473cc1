/** Which kernels of a profile count: by name, and by how long they took elsewhere. */
export { functionNameIn } from "../../report/selection/kernel-name.ts";
export { parseKernelPattern } from "../../report/selection/kernel-pattern.ts";
export { ncuKernelPattern } from "./ncu-pattern.ts";
export {
  createKernelSelection,
  type KernelSelection,
  type KernelSelectionRequest,
  selectsKernels,
} from "./select-kernels.ts";
export { topKernelNames } from "./top-kernels.ts";
