/** `pipeline.ncu.top_n_kernels` with every recording that can choose the kernels. */
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callCommand } from "../called-command.ts";
import { fakeGpu as pretendedDriver } from "../native/fake-gpu.ts";
import { availableClients } from "../native/fixtures.ts";
import { realNcuOrSkip } from "../profiler/tools/ncu/run/real-ncu.ts";
import { globalId, writeExport } from "../profiler/tools/nsys/exports.ts";
import { readBundle, temporaryDirectory } from "./command.ts";
import { fakeGpu } from "./fake-gpu.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const inHere = (...names: readonly string[]) => join(here.path, ...names);

const what = "top_n_kernels from end to end";
const real = realNcuOrSkip(what);
const gpu = real === null ? null : fakeGpu(here.path, real);
const canBuild = availableClients(what).length > 0;

/** What `gpu_program regions` spends most of its GPU time in; then come pool and warm_up. */
const GEMM = "void gemm<float>(float const*, float const*, float*, int)";
const measured = [GEMM, "relu", "pool"].map((kernel) => ({ kernel, pushPop: [{ name: "outer" }] }));

/** nsys saw other times: pool took longest. */
const nsysExport = (withKernels: boolean): string => {
  const kernel = { deviceId: 0, streamId: 7, globalPid: globalId(7) };
  const call = { nameId: 1, globalTid: globalId(7, 7) };
  return writeExport({
    StringIds: ["cudaLaunchKernel", "pool", "relu"].map((value, at) => ({ id: at + 1, value })),
    NVTX_EVENTS: [{ start: 1, end: 900, eventType: 59, text: "outer", globalTid: globalId(7, 7) }],
    ...(withKernels && {
      CUPTI_ACTIVITY_KIND_KERNEL: [
        { ...kernel, start: 30, end: 500, correlationId: 1, demangledName: 2 },
        { ...kernel, start: 500, end: 510, correlationId: 2, demangledName: 3 },
      ],
      CUPTI_ACTIVITY_KIND_RUNTIME: [
        { ...call, start: 20, end: 22, correlationId: 1 },
        { ...call, start: 24, end: 26, correlationId: 2 },
      ],
    }),
  });
};

const onNsys = ["pipeline.nsys.enable=true"];
const withoutRecorder = ["pipeline.recorder.enable=false"];
const gpuOff = ["pipeline.recorder.gpu=off"];

describe.skipIf(gpu === null || !canBuild)("pipeline.ncu.top_n_kernels", () => {
  let program: readonly string[];
  let cupti: string;
  beforeAll(async () => {
    const driver = await pretendedDriver();
    cupti = driver.cupti;
    // Only the program sees the pretended driver: the real ncu, which reads reports, would try it.
    program = ["env", `LD_LIBRARY_PATH=${driver.driverDirectory}`, driver.program, "regions"];
    symlinkSync(
      fileURLToPath(new URL("../fixtures/programs/fake-nsys.mjs", import.meta.url)),
      inHere("fake-bin", "nsys"),
    );
  });

  const environment = (withKernels: boolean) => ({
    ...(gpu?.env ?? {}),
    HYDRACONF_CUPTI_PATH: cupti,
    FAKE_NSYS_SQLITE: nsysExport(withKernels),
  });

  /** Profiles the two kernels that take longest. */
  async function profile(
    run: string,
    overrides: readonly string[],
    { argv = program, nsysSeesKernels = true } = {},
  ) {
    gpu?.plan([{ results: measured }]);
    const result = await callCommand(
      "deep-profile",
      [
        "pipeline.ncu.enable=true",
        "pipeline.ncu.top_n_kernels=2",
        ...overrides,
        `hydra.run.dir=${run}`,
        "--",
        ...argv,
      ],
      { cwd: here.path, env: environment(nsysSeesKernels) },
    );
    expect(result).toMatchObject({ stderr: "", code: 0 });
    const [report] = readBundle(inHere(run), "ncu").reports;
    const [call = []] = gpu?.profilingCalls() ?? [];
    return {
      asked: call[call.indexOf("--kernel-name") + 1],
      isAsked: call.includes("--kernel-name"),
      notes: (report?.notes ?? []).join("\n"),
      region: report?.regions[0],
      files: (name: string) => existsSync(inHere(run, name)),
    };
  }

  it("are the longest of what the recorder recorded; the report says which and why", async () => {
    const { asked, notes, region } = await profile("recorder", []);
    expect(asked).toBe("regex:^(gemm|relu)$");
    expect(notes).toContain(
      `pipeline.ncu.top_n_kernels=2: profiling the kernels with the most GPU time recorded by the recorder: ${GEMM}; relu`,
    );
    // ncu was asked for functions; what it measured beyond that does not count.
    expect(region?.kernels.map((kernel) => kernel.kernel_name).sort()).toEqual(["relu", GEMM]);
    expect(region?.selection).toMatchObject({
      kernel_include_patterns: [],
      kernel_top_names: [GEMM, "relu"],
    });
    const files = [inHere("recorder/ncu/regions/report.json")];
    expect(await callCommand("validate-regions", files, { cwd: here.path })).toMatchObject({
      code: 0,
    });
  });

  it("come from nsys where the recorder before it saw no kernels", async () => {
    const { asked, notes, region, files } = await profile("nsys", [...gpuOff, ...onNsys]);
    expect(asked).toBe("regex:^(pool|relu)$");
    expect(notes).toContain("recorded by nsys: pool; relu");
    expect(region?.selection.kernel_top_names).toEqual(["pool", "relu"]);
    expect(files("ncu/discovery")).toBe(false);
  });

  it.each([
    ["no other collector is on", [...withoutRecorder], true],
    ["nsys saw none", [...withoutRecorder, ...onNsys], false],
  ])("come from a run for this purpose where %s", async (_, overrides, nsysSeesKernels) => {
    const run = `apart-${overrides.length}`;
    const { asked, notes, files } = await profile(run, overrides, { nsysSeesKernels });
    expect(asked).toBe("regex:^(gemm|relu)$");
    expect(notes).toContain("GPU time recorded by the recorder");
    expect(files("ncu/discovery")).toBe(true);
  });

  it("come from the run that looks for regions where there is one", async () => {
    const { asked, files } = await profile("regions", [
      ...withoutRecorder,
      "pipeline.ncu.ncu_cli.nvtx.include=outer",
    ]);
    expect(asked).toBe("regex:^(gemm|relu)$");
    expect(files("ncu/discovery")).toBe(true);
  });

  it("do not keep regions from being chosen in the reports alone", async () => {
    const { region } = await profile("native", [
      "pipeline.ncu.native_nvtx=false",
      "pipeline.ncu.ncu_cli.nvtx.include=outer",
    ]);
    expect(region).toMatchObject({ name: "outer", kernel_count: 2 });
  });

  it.each([
    ["the program launches none", [], ["true"], "the recorder recorded no GPU kernels"],
    [
      "the recorder may not look",
      gpuOff,
      null,
      "the recorder recorded no GPU kernels (pipeline.recorder.gpu=off)",
    ],
  ])("limit nothing where %s, and say so", async (_, overrides, argv, why) => {
    const { isAsked, notes, region } = await profile(`none-${overrides.length}`, overrides, {
      argv: argv ?? program,
    });
    expect(isAsked).toBe(false);
    expect(notes).toContain(
      `pipeline.ncu.top_n_kernels=2 has no effect, and every kernel is profiled: ${why}`,
    );
    expect(region?.kernel_count).toBe(3);
    expect(region?.selection.kernel_top_names).toBeUndefined();
  });

  it.each(["recorder", "nsys", "apart-1"])(
    "are the same when the reports of %s are made again",
    async (run) => {
      const file = (directory: string) =>
        readFileSync(inHere(directory, "ncu/regions/report.json"), "utf8").replace(
          /"generated_at": "[^"]*"/g,
          "",
        );
      cpSync(inHere(run), inHere(`${run}-again`), { recursive: true });
      rmSync(inHere(`${run}-again`, "ncu/regions"), { recursive: true });
      const again = await callCommand("deep-profile", ["report", `${run}-again`], {
        cwd: here.path,
        env: environment(true),
      });
      expect(again.code).toBe(0);
      expect(file(`${run}-again`)).toBe(file(run));
    },
  );
});
