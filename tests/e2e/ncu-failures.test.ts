import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { samplesOrSkip } from "../shared.ts";
import { inA, ncuMachine } from "./ncu-machine.ts";

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

  it.each([
    ["log-pub-errnvgpuctrperm.txt", 1, "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers"],
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
      "pipeline.ncu.top_n_kernels: ncu measures a range or a graph as a whole",
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
