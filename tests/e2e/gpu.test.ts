import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fakeGpu } from "../native/fake-gpu.ts";
import { availableClients } from "../native/fixtures.ts";
import { readBundle, regionsByPath, runCommand, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const canBuild = availableClients("deep-profile of a program with a GPU").length > 0;

/** Profiles a part of `gpu_program`; kernels of `regions` have round durations. */
async function profile(runDirectory: string, overrides: readonly string[] = [], part = "regions") {
  const { program, driverDirectory, cupti } = await fakeGpu();
  const args = [`hydra.run.dir=${runDirectory}`, ...overrides, "--", program, part];
  const env = { LD_LIBRARY_PATH: driverDirectory, HYDRACONF_CUPTI_PATH: cupti };
  return runCommand("deep-profile", args, { cwd: here.path, env });
}

describe.runIf(canBuild)("deep-profile without any Nsight tool", () => {
  it("gives the kernels of a program without NVTX, into which the driver alone loads it", async () => {
    expect(await profile("plain", [], "plain")).toMatchObject({ code: 0 });
    const [report] = readBundle(join(here.path, "plain")).reports;
    expect(report?.totals).toMatchObject({ outside_kernel_count: 1 });
  });

  it("gives kernels and GPU time per region", async () => {
    const result = await profile("gpu");
    expect(result).toMatchObject({ code: 0 });
    const directory = join(here.path, "gpu");
    const bundle = readBundle(directory);
    expect(bundle.reports.map(({ scope }) => scope.replace(/:\d+$/, ":N"))).toEqual([
      "aggregate",
      "process:N",
      "device:cuda:N",
      "device:cuda:N",
    ]);
    const [aggregate] = bundle.reports;
    expect(aggregate?.collector).toMatchObject({ name: "recorder", kernel_clock: "gpu" });
    expect(aggregate?.totals).toMatchObject({
      kernel_count: 6,
      total_ms: 0.424,
      outside_ms: 0.001,
      outside_kernel_count: 1,
    });
    const regions = regionsByPath(bundle);
    const outer = regions.get("outer");
    expect(outer).toMatchObject({ kernel_count: 5, total_ms: 0.423, exclusive_ms: 0.1 });
    expect(outer?.metrics).toEqual({
      memory_copy_time: { value: 0.05, unit: "ms" },
      memory_copy_bytes: { value: 4096 + 2 ** 20, unit: "byte" },
      memory_set_time: { value: 0.005, unit: "ms" },
      synchronization_time: { value: 0.07, unit: "ms" },
    });
    const inner = regions.get("outer > inner");
    expect(inner).toMatchObject({ kernel_count: 4, total_ms: 0.323, exclusive_ms: 0.323 });
    expect(inner?.kernels).toEqual([
      {
        kernel_name: "void gemm<float>(float const*, float const*, float*, int)",
        kind: "gpu_kernel",
        total_ms: 0.3,
        calls: 1,
        mean_ms: 0.3,
        device: "cuda:1",
      },
      {
        kernel_name: "relu",
        kind: "gpu_kernel",
        total_ms: 0.021,
        calls: 2,
        mean_ms: 0.0105,
        device: "cuda:0",
      },
      {
        kernel_name: "pool",
        kind: "gpu_kernel",
        total_ms: 0.002,
        calls: 1,
        mean_ms: 0.002,
        device: "cuda:0",
      },
    ]);
    expect(readFileSync(join(directory, "kernels.md"), "utf8")).toContain("gemm");
  });

  it("records ranges alone when the GPU is switched off", async () => {
    const result = await profile("off", ["pipeline.recorder.gpu=off"]);
    expect(result).toMatchObject({ code: 0 });
    const regions = regionsByPath(readBundle(join(here.path, "off")));
    expect(regions.get("outer > inner")).toMatchObject({ kernel_count: 0, total_ms: null });
  });
});
