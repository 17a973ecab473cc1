import { expect, test } from "vitest";
import { remedyForProgram } from "../../../src/profiler/cli/profile-task.ts";

// As people showed them in public: from PyTorch, the CUDA runtime, the loader and cuDNN.
test.each([
  [
    "WARNING: function cuptiSubscribe() failed with error CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)",
    "torch.profiler",
  ],
  ["Error 36: API call is not supported in the installed CUDA driver", "update the driver"],
  ["CUDA driver version is insufficient for CUDA runtime version", "update the driver"],
  [
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    "compute_cap",
  ],
  [
    "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
    "--gpus all",
  ],
  ["RuntimeError: No CUDA GPUs are available", "--gres=gpu:1"],
  [
    "Could not load library libcudnn_ops.so.9: libcudnn_ops.so.9: cannot open shared object file",
    "a single installation",
  ],
  ["Invalid handle. Cannot load symbol cudnnGetVersion", "a single installation"],
  ["torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "smaller batch"],
  ["CUDA error: an illegal memory access was encountered", "compute-sanitizer"],
  ["CUDA error: uncorrectable ECC error encountered", "another GPU"],
])("tells what helps where a program says: %s", (printed, remedy) => {
  expect(remedyForProgram(["Traceback:", printed, "bye"])).toContain(remedy);
});

test("says nothing of what it does not know", () => {
  expect(remedyForProgram(["java.lang.OutOfMemoryError: Java heap space"])).toBeNull();
  expect(remedyForProgram([])).toBeNull();
});

test("takes the last line that it knows: a warning of the start is not why a program gave up", () => {
  const warning = "Could not load dynamic library: libcuda.so.1: cannot open shared object file";
  const cause = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.";
  expect(remedyForProgram([warning, "step 1", cause])).toContain("smaller batch");
});
