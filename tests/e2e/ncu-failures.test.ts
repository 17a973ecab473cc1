import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { samplesOrSkip } from "../shared.ts";
import { runCommand } from "./command.ts";
import { inA, inA1, ncuMachine } from "./ncu-machine.ts";

const { gpu, inHere, notesOf, profile, regionsOf } = ncuMachine("failures of ncu");
const sample = samplesOrSkip("logs of failing ncu");
const logFile = (name: string) => sample?.(name) ?? "";

describe.skipIf(gpu === null)("deep-profile where ncu fails", () => {
  it("falls back to app-range replay where a range cannot be captured", async () => {
    gpu?.plan([
      {
        mode: "range",
        log: "==WARNING== Skipping invalid capture range (Unsupported API during capture).\n==WARNING== No ranges were profiled.\n",
      },
      { mode: "app-range", results: [{ kernel: "", kind: "range", pushPop: inA }] },
    ]);
    const args = [
      ...["pipeline.ncu.ncu_cli.replay_mode=range", "pipeline.ncu.ncu_cli.nvtx.include=A"],
      "pipeline.ncu.ncu_cli.extra_args=[--range-replay-options,enable-greedy-sync,--kill,'no']",
    ];
    const result = await profile([...args, "hydra.run.dir=fallback"]);
    expect(result.code).toBe(0);
    const calls = gpu?.profilingCalls().map((call) => call.join(" "));
    expect(calls).toEqual([
      expect.stringContaining("--range-replay-options enable-greedy-sync --kill no"),
      expect.stringMatching(/--replay-mode app-range (?!.*(?:range-replay|greedy)).* --kill no/),
    ]);
    expect([...regionsOf("fallback").keys()]).toEqual(["A"]);
    expect(notesOf("fallback")).toContain("measured again with app-range replay");
    expect(notesOf("fallback")).toMatch(/measured by ncu [\d.]+ in app-range replay;/);
    const refused = await profile([...args, "pipeline.ncu.fallback=false", "hydra.run.dir=nofall"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("range replay cannot capture");
    expect(refused.stderr).toContain("replay_mode=app-range");
  });

  it("goes down the ladder for each range, and says which step gave its numbers and why", async () => {
    const uncaptured =
      "==WARNING== Skipping invalid capture range (Unsupported API during capture: cuGraphLaunch).\n";
    const ofA1 = { kernel: "gemm", pushPop: inA1 };
    gpu?.plan([
      // A::A1 is measured in a run of its own.
      {
        mode: "range",
        include: "A/",
        results: [{ kernel: "", kind: "range", pushPop: inA }],
        log: uncaptured,
      },
      { mode: "range", include: "A::A1/", log: uncaptured },
      {
        mode: "app-range",
        include: "B/",
        results: [{ kernel: "", kind: "range", pushPop: [{ name: "B" }] }],
      },
      { mode: "app-range", log: "==WARNING== No ranges were profiled.\n" },
      { mode: "kernel", results: [ofA1, ofA1, ofA1] },
    ]);
    const result = await profile([
      ...["pipeline.ncu.ncu_cli.replay_mode=range", "pipeline.ncu.ncu_cli.nvtx.include=[A*,B]"],
      ...["pipeline.ncu.fallback=ladder", "hydra.run.dir=ladder"],
    ]);
    expect(result.code).toBe(0);
    const calls = (gpu?.profilingCalls() ?? []).map((call) => call.join(" "));
    const steps = calls.map((call) => [
      /--replay-mode (\S+)/.exec(call)?.[1],
      ...[...call.matchAll(/--nvtx-include (\S+)/g)].map(([, expression]) => expression),
    ]);
    expect(steps).toEqual([
      ["range", "A/", "B/"],
      ["app-range", "B/"],
      ["range", "A::A1/"],
      ["app-range", "A::A1/"],
      ["kernel", "A::A1/"],
    ]);
    const regions = regionsOf("ladder");
    expect([...regions.keys()].sort()).toEqual(["A", "A > A::A1", "B"]);
    const [a, a1] = [regions.get("A"), regions.get("A > A::A1")];
    // Three kernels of one call, whose times add up.
    expect(a1?.invocations).toBe(1);
    expect(a1?.total_ms).toBeCloseTo(3 * (a?.total_ms ?? 0), 9);
    const notes = notesOf("ladder");
    expect(notes).toMatch(
      /^B: measured by app-range replay, since range replay did not: .*; ncu names cuGraphLaunch$/m,
    );
    expect(notes).toMatch(/^A::A1: measured by app-range replay, since range replay did not: /m);
    expect(notes).toMatch(/^A::A1: measured kernel by kernel, since app-range replay did not: /m);
    expect(notes).toMatch(/measured by ncu [\d.]+ in range and app-range and kernel replay;/);
    const again = await runCommand("deep-profile", ["report", inHere("ladder")], {
      cwd: inHere(),
      env: gpu?.env ?? {},
    });
    expect(again.code).toBe(0);
    expect(regionsOf("ladder").get("A > A::A1")).toEqual(a1);
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
      "a range as a whole",
    ],
    [
      ["pipeline.ncu.ncu_cli.replay_mode=app-range", "pipeline.ncu.top_n_kernels=2"],
      "pipeline.ncu.top_n_kernels: ncu measures a range as a whole",
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
});
