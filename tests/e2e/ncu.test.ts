import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callCommand } from "../called-command.ts";
import { listFiles } from "../repo/files.ts";

import { designLines, inA, kernels, nativeInfo, ncuMachine, rangesByLevel } from "./ncu-machine.ts";

const { bundleOf, cwd, gpu, inHere, notesOf, profile, regionsOf } =
  ncuMachine("deep-profile with ncu");

const connected = "==PROF== Connected to process 45625 (/bin/prog)\n";
const profiled = (name: string) =>
  `${connected}==PROF== Profiling "${name}" - 0: 0%....50%....100% - 9 passes\n==PROF== Disconnected from process 45625\n`;

describe.skipIf(gpu === null)("deep-profile pipeline.ncu.enable=true", () => {
  it.each(["kernel", "application"])(
    "profiles all levels of nesting in one run of %s replay",
    async (mode) => {
      gpu?.plan([{ results: kernels, log: profiled("gemm") }]);
      const run = `run-${mode}`;
      const result = await profile([
        `pipeline.ncu.ncu_cli.replay_mode=${mode}`,
        "pipeline.ncu.ncu_cli.nvtx.include=*",
        `hydra.run.dir=${run}`,
      ]);
      expect(result.stderr).toBe("");
      expect(result.code).toBe(0);
      const calls = gpu?.profilingCalls() ?? [];
      expect(calls).toHaveLength(1);
      expect(calls[0]?.join(" ")).toContain(`--replay-mode ${mode}`);
      expect(calls[0]?.join(" ")).toContain("--nvtx --nvtx-include regex:^.*$/");
      const found = regionsOf(run);
      expect([...found.keys()]).toEqual(["A", "A > A::A1", "B"]);
      expect(found.get("A")).toMatchObject({ kernel_count: 2, parent: null });
      expect(found.get("A > A::A1")).toMatchObject({ kernel_count: 1, parent: "A" });
      // 1600 ns each: what the template's kernel took.
      expect(found.get("A")?.total_ms).toBeCloseTo(0.0032, 9);
      expect(found.get("A")?.metrics["gpu__time_duration.sum"]?.unit).toMatch(/^n?s|nsecond$/);
    },
  );

  it("writes what a run directory holds of ncu", () => {
    for (const name of [
      "ncu/cmd.txt",
      "ncu/profile.ncu-rep",
      "ncu/raw.csv",
      "ncu/details.csv",
      "ncu/sections.txt",
      "ncu/regions/report.json",
      "ncu/regions/B/report.md",
      "ncu/regions/B/raw.csv",
      "ncu/regions/B/sections.txt",
      "recorder/regions/report.json",
      "report.md",
    ])
      expect(existsSync(inHere(join("run-kernel", name))), name).toBe(true);
    expect(readFileSync(inHere("run-kernel/ncu/regions/report.md"), "utf8")).toMatch(
      /^# NCU Region Reports\n/,
    );
    const command = readFileSync(inHere("run-kernel/ncu/cmd.txt"), "utf8");
    expect(command).toContain("--nvtx-include 'regex:^.*$/'");
    expect(command).toContain("--clock-control base --cache-control all");
    const [report] = bundleOf("run-kernel").reports;
    expect(report?.collector).toMatchObject({ name: "ncu", kernel_clock: "gpu" });
    expect(report?.collector.version).toMatch(/^20\d\d\./);
  });

  it.each(["range", "app-range"])(
    "runs once per level of nesting in %s replay, one result per region",
    async (mode) => {
      gpu?.plan(rangesByLevel);
      const run = `run-${mode}`;
      const result = await profile([
        `pipeline.ncu.ncu_cli.replay_mode=${mode}`,
        "pipeline.ncu.ncu_cli.nvtx.include=*",
        `hydra.run.dir=${run}`,
      ]);
      expect(result.stderr).toBe("");
      expect(result.code).toBe(0);
      const calls = gpu?.profilingCalls() ?? [];
      const includes = calls.map((args) =>
        args.filter((_, at) => args[at - 1] === "--nvtx-include"),
      );
      expect(includes[0]).toEqual(["A/", "B/"]);
      // What is inside A or B, and what is inside that, in as many runs as there are levels.
      const inner = ["A::A1/", "block.conv1/", "block.conv2/", "head/", "residual/", "stem/"];
      expect(includes.slice(1).flat().sort()).toEqual(inner);
      const level = (label: string) => includes.findIndex((list) => list.includes(label));
      expect(level("block.conv1/")).toBeGreaterThan(level("residual/"));
      const found = regionsOf(run);
      expect([...found.keys()]).toEqual(["A", "A > A::A1", "B"]);
      for (const region of found.values())
        expect(region).toMatchObject({ kernel_count: 0, kernels: [] });
      expect(existsSync(inHere(`${run}/ncu/level-1.ncu-rep`))).toBe(true);
      expect(notesOf(run)).toContain("ncu measured nothing in stem, residual");
      expect(
        readFileSync(inHere(`${run}/ncu/cmd.txt`), "utf8")
          .trim()
          .split("\n"),
      ).toHaveLength(includes.length);
      for (const name of ["raw.csv", "details.csv", "sections.txt"])
        expect(existsSync(inHere(`${run}/ncu/${name}`)), name).toBe(true);
    },
  );

  it("shows the runs with their command lines in a dry run, and makes nothing", async () => {
    gpu?.plan([]);
    const args = [
      "--dry-run",
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include=[A*,B]",
      "hydra.run.dir=dry",
    ];
    const text = await profile(args);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^ncu \(level-1\): .*--nvtx-include A\/ --nvtx-include B\/ /m);
    expect(text.stdout).toMatch(
      /^ncu \(level-2\): .*--nvtx-include A::A1\/ --export .*\/dry\/ncu\//m,
    );
    const json = await profile([...args, "--json"]);
    const { jobs } = JSON.parse(json.stdout);
    expect(jobs[0].plan.runs.map(({ pass }: { pass?: string }) => pass)).toEqual([
      undefined,
      "level-1",
      "level-2",
    ]);
    expect(gpu?.profilingCalls()).toEqual([]);
    expect(existsSync(inHere("dry"))).toBe(false);
  });

  it("takes every region for nvtx.include: null in a range mode", async () => {
    gpu?.plan([{ results: [{ kernel: "", kind: "range", pushPop: inA }] }]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.replay_mode=app-range",
      "hydra.run.dir=null-range",
    ]);
    expect(result.code).toBe(0);
    expect(gpu?.profilingCalls().length).toBeGreaterThan(1);
    expect(notesOf("null-range")).toContain("ncu measured nothing in");
  });

  it("takes sections by config, and names each that this ncu does not have", async () => {
    gpu?.plan([{ results: kernels }]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.sections=[SpeedOfLight,Ocupancy]",
      "pipeline.ncu.ncu_cli.metrics=[gpu__time_duration.sum,sm__throughptu.avg.pct_of_peak_sustained_elapsed]",
      "hydra.run.dir=sections",
    ]);
    expect(result.code).toBe(0);
    const [call] = gpu?.profilingCalls() ?? [];
    expect(call?.filter((_, at) => call[at - 1] === "--section")).toEqual(["SpeedOfLight"]);
    expect(call?.[(call?.indexOf("--metrics") ?? 0) + 1]).toBe("gpu__time_duration.sum");
    expect(notesOf("sections")).toMatch(/section 'Ocupancy' is left out: .*nearest: Occupancy/);
    expect(notesOf("sections")).toMatch(/metric 'sm__throughptu.*nearest: sm__throughput\)/);
  });

  it("ends before ncu starts where nothing matches, with the labels there are", async () => {
    gpu?.plan([]);
    const args = [
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include=decode*",
    ];
    const result = await profile([...args, "hydra.run.dir=nomatch"]);
    expect(result.code).toBe(0);
    expect(gpu?.profilingCalls()).toEqual([]);
    expect(notesOf("nomatch")).toContain("no matching regions");
    expect(notesOf("nomatch")).toContain("available: A, B, stem");
    const required = await profile([
      ...args,
      "pipeline.ncu.require_match=true",
      "hydra.run.dir=required",
    ]);
    expect(required.code).toBe(1);
    expect(required.stderr).toContain("no matching regions");
    expect(required.stderr).toContain("Available: A, B, stem");
  });

  it("passes expressions of ncu's own on as they stand", async () => {
    gpu?.plan([{ results: kernels }]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.nvtx.include=['regex:^A.*$/','B]']",
      "hydra.run.dir=native",
    ]);
    expect(result.code).toBe(0);
    expect(gpu?.profilingCalls()[0]?.join(" ")).toContain(
      "--nvtx-include regex:^A.*$/ --nvtx-include B] --export",
    );
  });

  it("says in the report which kernels were chosen", async () => {
    gpu?.plan([{ results: kernels }]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.kernel_name=regex:gemm|pool",
      "pipeline.ncu.ncu_cli.kernel_exclude=[pool]",
      "hydra.run.dir=kernels",
    ]);
    expect(result.code).toBe(0);
    expect([...regionsOf("kernels").values()][0]?.selection).toEqual({
      include_patterns: [],
      exclude_patterns: [],
      kernel_include_patterns: ["regex:gemm|pool"],
      kernel_exclude_patterns: ["pool"],
      kernel_name_base: "demangled",
    });
    expect(notesOf("kernels")).toContain("kernels counted: without pool");
    const files = [inHere("kernels/ncu/regions/report.json")];
    expect(await callCommand("validate-regions", files, { cwd })).toMatchObject({
      code: 0,
    });
  });

  it.skipIf(nativeInfo.gpu.built).each(designLines)(
    "tells how to build the GPU backend that a command line of the design needs: %s ...",
    async (...line) => {
      gpu?.plan([]);
      const result = await profile([...line, "hydra.run.dir=no-backend"], []);
      expect(result.code).toBe(1);
      expect(result.stderr).toContain("was built without a GPU backend");
      expect(result.stderr).toContain("HYDRACONF_CUDA=1");
      expect(gpu?.profilingCalls()).toEqual([]);
      rmSync(inHere("no-backend"), { recursive: true, force: true });
    },
  );

  it("writes reports that validate-regions accepts", async () => {
    const files = listFiles(inHere("run-range"), "report.json");
    expect(files.length).toBeGreaterThan(4);
    expect(await callCommand("validate-regions", files, { cwd })).toMatchObject({
      code: 0,
    });
  });
});
