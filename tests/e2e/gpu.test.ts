import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { callCommand } from "../called-command.ts";
import { fakeGpu } from "../native/fake-gpu.ts";
import { availableClients } from "../native/fixtures.ts";
import { nsightLibrary, profiledProgram, profilerLibrary } from "../native/other-profilers.ts";
import { readBundle, regionsByPath, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const canBuild = availableClients("deep-profile of a program with a GPU").length > 0;

/** Profiles a part of `gpu_program`; kernels of `regions` have round durations. */
async function profile(runDirectory: string, overrides: readonly string[] = [], part = "regions") {
  const { program, driverDirectory, cupti } = await fakeGpu();
  const args = [`hydra.run.dir=${runDirectory}`, ...overrides, "--", program, part];
  const env = { LD_LIBRARY_PATH: driverDirectory, HYDRACONF_CUPTI_PATH: cupti };
  return callCommand("deep-profile", args, { cwd: here.path, env });
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

describe.runIf(canBuild && process.platform === "linux")(
  "deep-profile beside other profilers",
  () => {
    /** Profiles a program with a profiler of its own. */
    async function beside(
      runDirectory: string,
      steps: readonly string[],
      overrides: readonly string[] = [],
      env: Readonly<Record<string, string>> = {},
      before: readonly string[] = [],
    ) {
      const { driverDirectory, cupti } = await fakeGpu();
      const program = await profiledProgram();
      const directory = join(here.path, runDirectory);
      const args = [`hydra.run.dir=${directory}`, ...overrides, "--", ...before, program, ...steps];
      const result = await callCommand("deep-profile", args, {
        cwd: here.path,
        env: { LD_LIBRARY_PATH: driverDirectory, HYDRACONF_CUPTI_PATH: cupti, ...env },
      });
      expect(result).toMatchObject({ code: 0 });
      const regions = regionsByPath(readBundle(directory));
      const report = readFileSync(join(directory, "report.md"), "utf8").replaceAll("\\_", "_");
      // Lines are as wide as the terminal.
      const shown = result.stdout.replace(/\s+/g, " ");
      return { ...result, shown, regions, report };
    }

    const own = async () => {
      const library = await profilerLibrary("kineto");
      return ["load", library, "launch", "early", "start", "launch", "late", "stop"];
    };

    it("says in the report and on the terminal when the program's own profiler took CUPTI", async () => {
      const { stdout, shown, regions, report } = await beside("handed-over", await own());
      expect(stdout).toMatch(/^start 0\nstop 1$/m);
      expect(regions.get("early")).toMatchObject({ kernel_count: 1 });
      expect(regions.get("late")).toMatchObject({ kernel_count: 0 });
      const note =
        /GPU work was recorded for the first \d+\.\d{3} s: then the program's own profiler began \(cuptiSubscribe, called by kineto\S*\), and CUPTI admits one at a time; pipeline\.recorder\.gpu=on keeps it/;
      expect(report).toMatch(note);
      expect(shown).toMatch(note);
    });

    it("keeps CUPTI with gpu=on, and says whom that costs something", async () => {
      const { stdout, regions, report } = await beside("kept", await own(), [
        "pipeline.recorder.gpu=on",
      ]);
      expect(stdout).toMatch(/^start 39\nstop 0$/m);
      expect(regions.get("late")).toMatchObject({ kernel_count: 1 });
      expect(report).toMatch(/the program's own profiler was refused CUPTI after \d+\.\d{3} s/);
    });

    it("leaves the GPU to a tool whose library stands in CUDA_INJECTION64_PATH", async () => {
      const nsight = await nsightLibrary();
      const other = { CUDA_INJECTION64_PATH: nsight };
      const left = await beside("left", ["launch", "early"], [], other);
      expect(left.stdout).toMatch(/^nsight: 1 kernels$/m);
      expect(left.regions.get("early")).toMatchObject({ kernel_count: 0 });
      const note = `GPU work was not recorded: CUDA_INJECTION64_PATH names another tool's library (${nsight}), to which the recorder leaves the GPU; pipeline.recorder.gpu=on replaces it for this run`;
      expect(left.report).toContain(note);
      expect(left.shown).toContain(note);
      const replaced = await beside(
        "replaced",
        ["launch", "early"],
        ["pipeline.recorder.gpu=on"],
        other,
      );
      expect(replaced.regions.get("early")).toMatchObject({ kernel_count: 1 });
      expect(replaced.report).toContain(
        "CUDA_INJECTION64_PATH named another tool's library, which the recorder has replaced",
      );
    });

    const worker = (library: string) => ["env", `NVTX_INJECTION64_PATH=${library}`];

    it("says how many processes had another NVTX library: those that use the GPU say it themselves", async () => {
      const nsight = await nsightLibrary();
      const { shown, report } = await beside("worker", ["launch", "early"], [], {}, worker(nsight));
      const note = `1 process of the run had another injection library (${nsight}): only its GPU work was recorded, and its ranges are missing.`;
      expect(report).toContain(note);
      expect(shown).toContain(note);
    });

    it("sees the others as long as they run", async () => {
      const nsight = await nsightLibrary();
      const enough = join(here.path, "enough");
      const steps = ["range", "early", "wait", enough];
      const note = `1 process of the run had another injection library (${nsight}): nothing of it was recorded.`;
      // It looks twice a second, if this machine lets it.
      let seconds = 1;
      await vi.waitFor(
        async () => {
          rmSync(enough, { force: true });
          const timer = setTimeout(() => writeFileSync(enough, ""), 1000 * seconds++);
          const run = beside(`seen-${seconds}`, steps, [], {}, worker(nsight));
          const { shown, report } = await run.finally(() => clearTimeout(timer));
          expect(existsSync(enough)).toBe(true);
          expect(report).toContain(note);
          expect(shown).toContain(note);
        },
        { timeout: 60_000, interval: 1 },
      );
    }, 90_000);
  },
);
