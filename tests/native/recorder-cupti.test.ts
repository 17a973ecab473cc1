import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, onTestFinished, test } from "vitest";
import { fakeGpu } from "./fake-gpu.ts";
import { availableClients, buildFixture, cuptiInclude } from "./fixtures.ts";
import { bare, onlyProcess, summary, work } from "./gpu-recording.ts";
import { nativeProgram } from "./programs.ts";

const canBuild = availableClients("the recorder and CUPTI").length > 0;

test.runIf(process.platform === "linux")(
  "the recorder is linked with nothing of CUDA: the driver and CUPTI are found at run time, if at all",
  async () => {
    const { stdout } = await execa("readelf", ["-d", await nativeProgram("region_recorder.so")]);
    const needed = [...stdout.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name]) => name);
    expect(needed.join()).toContain("libc.");
    expect(needed.join()).not.toMatch(/cuda|cupti|nv/i);
  },
);

describe.runIf(canBuild)(
  "what keeps the recorder from the GPU is noted, and ranges recorded",
  () => {
    const busy =
      "another tool already uses CUPTI in this process: ncu, nsys, or the program's own profiler";
    test.each([
      ["Subscribe=39", `cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (${busy})`],
      [
        "Subscribe=15",
        "cuptiSubscribe: unknown error (CUPTI reaches no GPU through the driver: nvidia-smi must list one)",
      ],
      ["Subscribe=12", `cuptiSubscribe: CUPTI_ERROR_MAX_LIMIT_REACHED (${busy})`],
      ["ActivityRegisterCallbacks=999", "cuptiActivityRegisterCallbacks: unknown error"],
      [
        "EnableCallback=1",
        "cuptiEnableCallback: unknown error (this CUPTI does not match the driver;",
      ],
      [
        "ActivityEnable:10=35",
        "cuptiActivityEnable(CONCURRENT_KERNEL): CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (the driver",
      ],
      ["GetVersion=15", "HYDRACONF_CUPTI_PATH names no libcupti that can be used: "],
    ])("%s", async (failure, message) => {
      const process = await onlyProcess(["regions"], { FAKE_CUPTI_FAIL: failure });
      expect([...process.kernels]).toEqual([]);
      expect(process.ranges.map(({ name }) => name)).toEqual(["outer", "inner"]);
      expect(process.notes).toHaveLength(1);
      expect(bare(process.notes)[0]).toContain(`GPU kernels were not recorded: ${message}`);
    });

    test("a kind of work that cannot be had leaves the others", async () => {
      const process = await onlyProcess(["regions"], { FAKE_CUPTI_FAIL: "ActivityEnable:2=999" });
      expect(summary(process)).toEqual(work.filter(([kind]) => kind !== "memset"));
      expect(bare(process.notes)).toEqual([
        "some GPU work was not recorded: cuptiActivityEnable(MEMSET): unknown error",
      ]);
    });

    test("a clock that cannot be replaced is lined up instead", async () => {
      const process = await onlyProcess(["regions"], {
        FAKE_CUPTI_FAIL: "ActivityRegisterTimestampCallback=999",
      });
      expect(summary(process)).toEqual(work);
      expect(process.notes).toEqual([]);
      for (const { launchNs, startNs } of process.kernels)
        expect(startNs).toBeGreaterThan(launchNs);
    });

    test("no libcupti: says where to get one", async () => {
      const process = await onlyProcess(["regions"], {
        HYDRACONF_CUPTI_PATH: undefined,
        // No CUPTI is old enough for this driver.
        FAKE_DRIVER_VERSION: "9020",
      });
      expect(bare(process.notes)).toEqual([
        "GPU kernels were not recorded: no libcupti for a driver of CUDA 9.2 was found; it is part of the CUDA toolkit and of the Python package nvidia-cuda-cupti, and HYDRACONF_CUPTI_PATH names one elsewhere",
      ]);
    });

    test("libcupti is found by directory and on the linker's path", async () => {
      const { cupti, driverDirectory } = await fakeGpu();
      const directory = join(cupti, "..");
      const byDirectory = await onlyProcess(["plain"], { HYDRACONF_CUPTI_PATH: directory });
      expect(byDirectory.kernels).toHaveLength(1);
      const byLinker = await onlyProcess(["plain"], {
        HYDRACONF_CUPTI_PATH: undefined,
        LD_LIBRARY_PATH: `${driverDirectory}:${directory}`,
      });
      expect(byLinker.kernels).toHaveLength(1);
    });

    test("libcupti is found in a toolkit that keeps it for this kind of machine only", async () => {
      const { cupti } = await fakeGpu();
      const directory = mkdtempSync(join(tmpdir(), "cupti-"));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const targets = process.arch === "arm64" ? ["sbsa-linux", "aarch64-linux"] : ["x86_64-linux"];
      for (const target of targets) {
        const toolkit = join(directory, target);
        mkdirSync(join(toolkit, "targets", target, "lib"), { recursive: true });
        // So old that no toolkit of this machine has it.
        symlinkSync(cupti, join(toolkit, "targets", target, "lib", "libcupti.so.10.0"));
        for (const variable of ["CUDA_HOME", "CONDA_PREFIX"]) {
          const { kernels } = await onlyProcess(["plain"], {
            HYDRACONF_CUPTI_PATH: undefined,
            FAKE_DRIVER_VERSION: "10000",
            [variable]: toolkit,
          });
          expect(kernels, `${variable}, ${target}`).toHaveLength(1);
        }
      }
    });

    test("libcupti is found among the packages of an environment, and of a python3 on PATH", async () => {
      const { cupti } = await fakeGpu();
      const directory = mkdtempSync(join(tmpdir(), "cupti-"));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const packages = {
        venv: "lib/python3.12/site-packages/nvidia/cu13/lib",
        system: "lib/python3/dist-packages/nvidia/cuda_cupti/lib",
      };
      // So old that no toolkit of this machine has it.
      const old = { HYDRACONF_CUPTI_PATH: undefined, FAKE_DRIVER_VERSION: "10000" };
      for (const [root, folder] of Object.entries(packages)) {
        mkdirSync(join(directory, root, folder), { recursive: true });
        symlinkSync(cupti, join(directory, root, folder, "libcupti.so.10.0"));
        mkdirSync(join(directory, root, "bin"));
        writeFileSync(join(directory, root, "bin", "python3"), "#!/bin/sh\n", { mode: 0o755 });
      }
      const venv = join(directory, "venv");
      const inEnvironment = await onlyProcess(["plain"], { ...old, VIRTUAL_ENV: venv });
      expect(inEnvironment.kernels).toHaveLength(1);
      for (const root of [venv, join(directory, "system")]) {
        const PATH = `/nowhere/bin:relative:${join(root, "bin")}:`;
        const onPath = await onlyProcess(["plain"], { ...old, VIRTUAL_ENV: undefined, PATH });
        expect(onPath.kernels, root).toHaveLength(1);
      }
    });
  },
);

describe.runIf(canBuild)("beside NVIDIA's own CUPTI", () => {
  const include = cuptiInclude();
  const library = ["../lib64", "../extras/CUPTI/lib64"]
    .map((folder) => join(include ?? "", folder, "libcupti.so.13"))
    .find((path) => existsSync(path));

  test("our description of it agrees with its headers in every number", async () => {
    if (include === null) {
      console.warn("SKIPPED the check of cupti/abi.hpp: no CUPTI headers (NVTX_ROOT names them)");
      return;
    }
    // Its static assertions are the test.
    const built = buildFixture("cupti_check.cc", "nvtx3 headers", ["-c", "-isystem", include]);
    await expect(built).resolves.toBeTruthy();
  });

  test("it is loaded, asked, and its refusal to work without a GPU is noted", async () => {
    if (library === undefined) {
      console.warn("SKIPPED the run with NVIDIA's CUPTI: no libcupti.so.13 beside the headers");
      return;
    }
    const process = await onlyProcess(["regions"], { HYDRACONF_CUPTI_PATH: library });
    expect(process.ranges).toHaveLength(2);
    expect(bare(process.notes)).toEqual([
      expect.stringMatching(/^GPU kernels were not recorded: cuptiSubscribe: CUPTI_ERROR_\w+/),
    ]);
  });
});
