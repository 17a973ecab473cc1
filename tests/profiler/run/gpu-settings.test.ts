import { describe, expect, it } from "vitest";
import type { GpuPart } from "../../../src/profiler/machine/native.ts";
import { checkGpuSettings, whyGpuIsUnused } from "../../../src/profiler/run/gpu-settings.ts";
import type { InferConfig } from "../../../src/profiler/tools/profiler-config.ts";

const infer: InferConfig = {
  batch_size: 1,
  image_size: 8,
  batch_norm: "running",
  warmup: 0,
  iterations: 1,
  seed: 0,
  input: null,
  output: null,
  dtype: "float32",
  tf32: false,
  gpu_library: "auto",
  cuda_graph: false,
};
const workload = { kind: "shallow_resnet", program: "forward" } as const;

const gpu = (...libraries: ("cudnn" | "cuda")[]): GpuPart => ({
  built: libraries.length > 0,
  targets: "sm_90+compute_90",
  libraries,
  reason: libraries.includes("cudnn") ? null : "no cuDNN",
});

const check = (changes: Partial<InferConfig>, device: string, part: GpuPart) => () =>
  checkGpuSettings({ workload, infer: { ...infer, ...changes } }, device, part);

describe("checkGpuSettings", () => {
  it.each([
    [{}, "cpu", gpu()],
    [{}, "cuda:0", gpu("cuda")],
    [{ dtype: "float16", cuda_graph: true }, "cuda:0", gpu("cuda")],
    [{ tf32: true }, "cuda:0", gpu("cudnn", "cuda")],
    [{ gpu_library: "cuda" }, "cuda:1", gpu("cudnn", "cuda")],
  ] as const)("lets %j run on %s", (changes, device, part) => {
    expect(check(changes, device, part)).not.toThrow();
  });

  it.each([
    [{ dtype: "float16" }, "cpu", gpu("cuda"), "infer.dtype", "is only for GPUs"],
    [{ cuda_graph: true }, "cpu", gpu("cuda"), "infer.cuda_graph", "is only for GPUs"],
    [{}, "cuda:0", gpu(), "device", "built without a GPU backend: no cuDNN"],
    [{ gpu_library: "cudnn" }, "cuda:0", gpu("cuda"), "infer.gpu_library", "without cuDNN"],
    [{ tf32: true }, "cuda:0", gpu("cuda"), "infer.tf32", "only cuDNN"],
    [
      { tf32: true, gpu_library: "cuda" },
      "cuda:0",
      gpu("cudnn", "cuda"),
      "infer.tf32",
      "only cuDNN",
    ],
  ] as const)("refuses %j on %s", (changes, device, part, key, message) => {
    expect(check(changes, device, part)).toThrow(
      expect.objectContaining({
        code: "profile.device",
        message: expect.stringContaining(message),
        details: expect.objectContaining({ key }),
      }),
    );
  });

  it("leaves programs of others alone", () => {
    const command = { kind: "command", command: ["prog"] } as const;
    const run = () =>
      checkGpuSettings({ workload: command, infer: { ...infer, tf32: true } }, "cpu", gpu());
    expect(run).not.toThrow();
  });
});

describe("whyGpuIsUnused", () => {
  const h200 = { index: 0, name: "NVIDIA H200", driverVersion: "580" };
  const none: GpuPart = { built: false, targets: null, libraries: [], reason: "no nvcc" };
  const why = (part: GpuPart, changes: Partial<Parameters<typeof whyGpuIsUnused>[0]>) =>
    whyGpuIsUnused({ workload, device: "auto", ...changes }, [h200], part);

  it("names the GPU that is unused without being asked to, the reason, and how to build for it", () => {
    expect(why(none, {})).toMatch(
      /^it runs on the CPU, not on NVIDIA H200: .* without a GPU backend \(no nvcc\); if nvcc is installed, HYDRACONF_CUDA=1 /,
    );
  });

  it("says nothing where the GPU is used, not wanted, not there, or the program's own matter", () => {
    const command = { kind: "command", command: ["train"], cwd: null } as const;
    expect(why(gpu("cuda"), {})).toBeNull();
    expect(why(none, { device: "cpu" })).toBeNull();
    expect(why(none, { workload: command })).toBeNull();
    expect(whyGpuIsUnused({ workload, device: "auto" }, [], none)).toBeNull();
  });
});
