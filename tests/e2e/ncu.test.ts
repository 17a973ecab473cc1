import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { requireNative } from "../../src/profile/native.ts";
import type { NCUProfileRegion, RegionReportBundle } from "../../src/report/document.ts";
import { realNcuOrSkip } from "../profile/ncu/run/real-ncu.ts";
import { listFiles } from "../repo/files.ts";
import { sharedDir } from "../shared.ts";
import { regionsByPath, runCommand, temporaryDirectory } from "./command.ts";
import { fakeGpu } from "./fake-gpu.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const inHere = (name: string) => join(here.path, name);
const logFile = (name: string) => join(sharedDir() ?? "", "samples/nsight", name);

const real = realNcuOrSkip("deep-profile with ncu");
const gpu = real === null ? null : fakeGpu(here.path, real);
const { shallowResnet, info: nativeInfo } = await requireNative(() => {});
/** The program with the regions A, A > A::A1 and B; on the CPU, where the fake GPU cannot help. */
const regions = ["--", shallowResnet, "--device", "cpu", "--program", "regions"];

const design = [
  "model/dummy_shallow_resnet/arch@model=dummy_shallow_resnet.default",
  "model/dummy_shallow_resnet/infer@infer=dummy_shallow_resnet.default",
  "pipeline.ncu.enable=true",
  "pipeline.nsys.enable=false",
  "device=cuda:0",
];

/** The command lines of the design, as they stand there. */
const designLines: readonly (readonly string[])[] = [
  [
    ...design.slice(0, -1),
    "pipeline.ncu.ncu_cli.replay_mode=range",
    "pipeline.ncu.ncu_cli.nvtx.include=*",
    "device=cuda:0",
  ],
  [...design, "pipeline.ncu.ncu_cli.sections=[SpeedOfLight,Occupancy]"],
];

const profile = (args: readonly string[], program: readonly string[] = regions) =>
  runCommand("deep-profile", [...design, ...args, ...program], {
    cwd: here.path,
    env: gpu?.env ?? {},
  });

const bundleOf = (run: string): RegionReportBundle =>
  JSON.parse(readFileSync(join(here.path, run, "ncu/regions/report.json"), "utf8"));
const regionsOf = (run: string): ReadonlyMap<string, NCUProfileRegion> =>
  regionsByPath(bundleOf(run));
const notesOf = (run: string): string => (bundleOf(run).reports[0]?.notes ?? []).join("\n");

const inA = [{ name: "A" }];
const inA1 = [{ name: "A" }, { name: "A::A1" }];
const kernels = [
  { kernel: "gemm", pushPop: inA },
  { kernel: "gemm", pushPop: inA1 },
  { kernel: "pool", pushPop: [{ name: "B" }] },
];
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
      gpu?.plan([
        {
          include: "A/",
          results: [
            // The first API call of A may come when A::A1 is open already.
            { kernel: "", kind: "range", pushPop: inA1 },
            { kernel: "", kind: "range", pushPop: [{ name: "B" }] },
          ],
        },
        { include: "A::A1/", results: [{ kernel: "", kind: "range", pushPop: inA1 }] },
        { log: "==WARNING== No ranges were profiled.\n" },
      ]);
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
    expect(notesOf("nomatch")).toContain("there are: A, B, stem");
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

  it("falls back to app-range replay where a range cannot be captured", async () => {
    gpu?.plan([
      {
        mode: "range",
        log: "==WARNING== Skipping invalid capture range (Unsupported API during capture).\n==WARNING== No ranges were profiled.\n",
      },
      { mode: "app-range", results: [{ kernel: "", kind: "range", pushPop: inA }] },
    ]);
    const args = ["pipeline.ncu.ncu_cli.replay_mode=range", "pipeline.ncu.ncu_cli.nvtx.include=A"];
    const result = await profile([...args, "hydra.run.dir=fallback"]);
    expect(result.code).toBe(0);
    expect(gpu?.profilingCalls()).toHaveLength(2);
    expect([...regionsOf("fallback").keys()]).toEqual(["A"]);
    expect(notesOf("fallback")).toContain("measured again by app-range replay");
    const refused = await profile([...args, "pipeline.ncu.fallback=false", "hydra.run.dir=nofall"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("range replay cannot capture");
    expect(refused.stderr).toContain("replay_mode=app-range");
  });

  it.each([
    ["log-pub-errnvgpuctrperm.txt", 1, "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers"],
    ["log-pub-driver-resource-unavailable.txt", 1, "another tool holds", "dcgmi"],
    ["log-real-no-cuda-driver-range-mode.txt", 1, "no CUDA driver", "--gpus all"],
  ])(
    "explains %s with its remedy, and keeps what the recorder measured",
    async (log, exit, message, remedy) => {
      gpu?.plan([{ logFile: logFile(log), exit }]);
      const run = `failed-${log.slice(4, 12)}`;
      const result = await profile([`hydra.run.dir=${run}`]);
      expect(result.code).toBe(1);
      expect(result.stderr).toContain(message);
      expect(result.stderr).toContain(remedy);
      expect(existsSync(inHere(`${run}/recorder/regions/A/report.json`))).toBe(true);
      expect(readFileSync(inHere(`${run}/report.md`), "utf8")).toContain("## recorder");
    },
  );

  it("keeps the results of a report that ncu could not finish", async () => {
    gpu?.plan([
      {
        results: kernels,
        logFile: logFile("log-pub-failed-kernel-mid-run.txt"),
        exit: 1,
      },
    ]);
    const result = await profile(["hydra.run.dir=partial"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('could not measure "volta_h884gemm_128x256_ldg8_nn"');
    expect(regionsOf("partial").get("A")?.kernel_count).toBe(2);
    expect(notesOf("partial")).toContain("the report covers the 3 results until then");
  });

  it("stops a run of ncu that hangs, goes on with the next, and keeps what was measured", async () => {
    const hanging = `${connected}==PROF== Profiling "reduce" - 0: 0%\n==WARNING== Launching the workload is taking more time than expected. If this continues to hang, terminate the profile and re-try by profiling the range of all related launches using '--replay-mode range'.\n`;
    gpu?.plan([
      {
        include: "A/",
        results: [{ kernel: "", kind: "range", pushPop: inA }],
        log: hanging,
        runs: false,
        hangs: true,
      },
      { include: "A::A1/", results: [{ kernel: "", kind: "range", pushPop: inA1 }] },
    ]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include=[A,A::A1]",
      "pipeline.ncu.timeout_min=0.05",
      "hydra.run.dir=hang",
    ]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("stopped after 0.05 min (pipeline.ncu.timeout_min)");
    expect(result.stderr).toContain('while it measured "reduce"');
    expect(result.stderr).toContain("replay_mode=app-range");
    expect(result.stdout).toContain("takes more time than expected");
    expect(gpu?.profilingCalls()).toHaveLength(2);
    expect([...regionsOf("hang").keys()]).toEqual(["A", "A > A::A1"]);
    expect(notesOf("hang")).toContain("the report covers the 1 results until then");
    expect(notesOf("hang")).toMatch(/ncu warned that "reduce" takes more time/);
  });

  it("does not take exit code 0 for success where nothing was profiled", async () => {
    gpu?.plan([{ logFile: logFile("log-pub-nvtx-no-match-pushpop-hint.txt") }]);
    const result = await profile(["hydra.run.dir=nothing"]);
    expect(result.code).toBe(0);
    expect(notesOf("nothing")).toContain("no matching regions");
    expect(notesOf("nothing")).toContain("ncu profiled no kernels");
  });

  it.each([
    [
      ["pipeline.ncu.ncu_cli.replay_mode=range", "pipeline.ncu.ncu_cli.kernel_name=gemm"],
      "measured as a whole",
    ],
    [["pipeline.ncu.ncu_cli.clock_control=boost"], "no --clock-control boost"],
    [["pipeline.ncu.ncu_cli.extra_args=['--nosuch']"], "no option --nosuch"],
  ])("refuses %s before anything is made", async (args, message) => {
    gpu?.plan([]);
    const result = await profile([...args, "hydra.run.dir=refused"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(message);
    expect(existsSync(inHere("refused"))).toBe(false);
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
    expect(await runCommand("validate-regions", files, { cwd: here.path })).toMatchObject({
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
    expect(await runCommand("validate-regions", files, { cwd: here.path })).toMatchObject({
      code: 0,
    });
  });
});

describe("deep-profile pipeline.ncu.enable=true where it cannot work", () => {
  const env = { PATH: "/usr/bin:/bin", HYDRACONF_NSIGHT: "" };
  const bare = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runCommand("deep-profile", ["pipeline.ncu.enable=true", "hydra.run.dir=bare", ...args], {
      cwd: here.path,
      env: { ...env, ...more },
    });

  it.each(designLines)(
    "refuses the design's command lines, with one error: %s ...",
    async (...line) => {
      const folder = real === null ? "" : real.path.replace(/\/ncu$/, "");
      const args = [...line, "hydra.run.dir=bare"];
      const result = await runCommand("deep-profile", args, {
        cwd: here.path,
        env: { ...env, HYDRACONF_NSIGHT: folder, CUDA_VISIBLE_DEVICES: "" },
      });
      expect(result.code).toBe(1);
      expect(result.stdout).toBe("");
      expect(result.stderr.match(/^ *Hint: /gm)).toHaveLength(1);
      expect(result.stderr).toMatch(
        real === null
          ? /\(ncu\) is not installed/
          : /needs an NVIDIA GPU, and none answers here: .*(?:driver|GPU).*\n *Hint: .*device=cpu/,
      );
      expect(existsSync(inHere("bare"))).toBe(false);
    },
  );

  it("composes the design's third command line", async () => {
    const result = await runCommand("deep-profile", ["runners=stage1.no-static", "--cfg", "job"], {
      cwd: here.path,
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toMatch(/^runners:\n(?: .*\n)*? +enabled: false$/m);
  });

  const installed = existsSync("/usr/bin/ncu");
  if (installed) console.warn("SKIPPED what to install: /usr/bin/ncu is on every PATH here");
  it.skipIf(installed)("says what to install", async () => {
    const result = await bare([]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("Nsight Compute (ncu) is not installed");
    expect(result.stderr).toContain("nsight-compute");
    expect(existsSync(inHere("bare"))).toBe(false);
  });

  describe.skipIf(real === null)("shows with --dry-run what a machine with a GPU would run", () => {
    const dryRun = async (...args: readonly string[]) => {
      const folder = (real?.path ?? "").replace(/\/ncu$/, "");
      const result = await bare(["--dry-run", "--json", ...args], {
        HYDRACONF_NSIGHT: folder,
        HOME: real?.home ?? "",
        CUDA_VISIBLE_DEVICES: "",
      });
      expect(result.code, result.stderr).toBe(0);
      expect(existsSync(inHere("bare"))).toBe(false);
      const { runs, notes } = JSON.parse(result.stdout).jobs[0].plan as {
        runs: readonly { collector: string; pass?: string; command: readonly string[] }[];
        notes: readonly string[];
      };
      return { ncu: runs.filter(({ collector }) => collector === "ncu"), notes: notes.join("\n") };
    };

    it("in range replay, a run per level of nesting, whose regions a run on the CPU tells", async () => {
      const { ncu, notes } = await dryRun(
        ...(designLines[0] ?? []),
        "workload=nvtx_regions",
        "infer.dtype=float16",
      );
      const includes = ncu.map(({ command }) =>
        command.filter((_, at) => command[at - 1] === "--nvtx-include"),
      );
      expect(includes[0]).toEqual(["A/", "B/"]);
      expect(includes.slice(1).flat()).toContain("A::A1/");
      for (const { command } of ncu) {
        expect(command.join(" ")).toContain("--replay-mode range ");
        expect(command.join(" ")).toMatch(/shallow_resnet .*--device cuda:0 .*--dtype float16/);
      }
      expect(notes).toContain(
        "no GPU answers here: this is the plan for a machine with one (cuda:0)",
      );
    });

    it("in kernel replay, for which no regions are needed, of any program", async () => {
      const { ncu, notes } = await dryRun("pipeline.ncu.top_n_kernels=3", "--", "false");
      expect(ncu.map(({ command }) => command.at(-1))).toEqual(["false"]);
      expect(notes).toContain("a recording on that machine tells which kernels");
    });

    it("and says what cannot be told of a program that fails without a GPU", async () => {
      const { ncu, notes } = await dryRun("pipeline.ncu.ncu_cli.nvtx.include=A", "--", "false");
      expect(ncu).toEqual([]);
      expect(notes).toMatch(/depend on the program's regions, .*false ended with exit code 1/);
    });

    it("but not for device=cpu, which no machine can run under ncu", async () => {
      const folder = (real?.path ?? "").replace(/\/ncu$/, "");
      const result = await bare(["--dry-run", "device=cpu"], { HYDRACONF_NSIGHT: folder });
      expect(result.code).toBe(1);
      expect(result.stderr).toContain("device=cpu runs none");
    });
  });

  it.skipIf(real === null).each(["kernel", "application", "range", "app-range"])(
    "explains what the real ncu says without a driver in %s replay, and keeps what was recorded",
    async (mode) => {
      // nvidia-smi lists a GPU, so that ncu is started: the options of the default preset pass its checks.
      const bin = inHere(`smi-${mode}`);
      mkdirSync(bin);
      writeFileSync(
        join(bin, "nvidia-smi"),
        "#!/bin/sh\necho '0, NVIDIA H200, 550.54.15, GPU-1'\n",
      );
      chmodSync(join(bin, "nvidia-smi"), 0o755);
      const run = `no-driver-${mode}`;
      const result = await bare(
        [
          `pipeline.ncu.ncu_cli.replay_mode=${mode}`,
          "pipeline.ncu.ncu_cli.nvtx.include=A",
          `hydra.run.dir=${run}`,
          ...regions,
        ],
        {
          PATH: `${bin}:${process.env["PATH"] ?? ""}`,
          HYDRACONF_NSIGHT: (real?.path ?? "").replace(/\/ncu$/, ""),
          HOME: real?.home ?? "",
        },
      );
      expect(result.code).toBe(1);
      expect(result.stderr).toContain("ncu found no CUDA driver");
      expect(result.stderr).toMatch(/Hint: install NVIDIA's driver .*--gpus all/);
      expect(readFileSync(inHere(`${run}/report.md`), "utf8")).toContain(
        "ncu found no CUDA driver",
      );
      for (const kept of ["recorder/regions/A/report.json", "ncu/cmd.txt", "ncu/logs", "run.json"])
        expect(existsSync(inHere(`${run}/${kept}`)), kept).toBe(true);
    },
  );

  it.skipIf(real === null)("refuses without a GPU, before anything is made", async () => {
    const folder = (real?.path ?? "").replace(/\/ncu$/, "");
    const result = await bare([], { HYDRACONF_NSIGHT: folder });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("needs an NVIDIA GPU");
    expect(result.stderr).toContain("pipeline.ncu.enable=false");
    expect(existsSync(inHere("bare"))).toBe(false);
  });
});
