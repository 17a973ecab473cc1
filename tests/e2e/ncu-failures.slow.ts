import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findExecutable } from "../../src/foundation/system/find-program.ts";
import { callCommand } from "../called-command.ts";
import { buildReport } from "../profiler/tools/ncu/run/report-builder.ts";
import { samplesOrSkip } from "../shared.ts";
import { until } from "../wait.ts";
import { runCommand } from "./command.ts";

import { inA, inA1, kernels, ncuMachine } from "./ncu-machine.ts";

const { cwd, gpu, inHere, notesOf, profile, real, regionsOf, start } = ncuMachine(
  "failures of ncu, rare ones",
);
const zstd = findExecutable("zstd", "/");
const sample = samplesOrSkip("logs of failing ncu");
const logFile = (name: string) => sample?.(name) ?? "";
const connected = "==PROF== Connected to process 45625 (/bin/prog)\n";

describe.skipIf(gpu === null)("deep-profile where ncu fails", () => {
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
    const again = await callCommand("deep-profile", ["report", inHere("ladder")], {
      cwd: inHere(),
      env: gpu?.env ?? {},
    });
    expect(again.code).toBe(0);
    expect(regionsOf("ladder").get("A > A::A1")).toEqual(a1);
  });

  it.each([
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

  it("runs app-range replay once, whatever ncu says of a range there", async () => {
    gpu?.plan([
      {
        mode: "app-range",
        log: "==WARNING== Skipping invalid capture range (RecordStatusUnsupportedMultiContext).\n==WARNING== No ranges were profiled.\n",
      },
    ]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.replay_mode=app-range",
      "pipeline.ncu.ncu_cli.nvtx.include=A",
      "hydra.run.dir=once",
    ]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("several CUDA contexts");
    expect(gpu?.profilingCalls()).toHaveLength(1);
  });

  it("keeps what range replay could capture where app-range replay brings nothing", async () => {
    gpu?.plan([
      {
        mode: "range",
        results: [{ kernel: "", kind: "range", pushPop: inA }],
        log: "==WARNING== Skipping invalid capture range (Unsupported API during capture).\n",
      },
      { mode: "app-range", logFile: logFile("log-pub-driver-resource-unavailable.txt"), exit: 1 },
    ]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include=A",
      "hydra.run.dir=kept",
    ]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("another tool holds");
    expect(gpu?.profilingCalls()).toHaveLength(2);
    expect([...regionsOf("kept").keys()]).toEqual(["A"]);
    expect(notesOf("kept")).toContain("the report has what range replay captured, 1 range");
    expect(notesOf("kept")).toMatch(/measured by ncu [\d.]+ in range replay;/);
    const before = readFileSync(inHere("kept/ncu/regions/report.json"), "utf8");
    expect(
      (await callCommand("deep-profile", ["report", "kept"], { cwd, env: gpu?.env ?? {} })).code,
    ).toBe(0);
    const regions = (text: string) => JSON.parse(text).reports[0].regions;
    const after = readFileSync(inHere("kept/ncu/regions/report.json"), "utf8");
    expect(regions(after)).toEqual(regions(before));
  });

  it("hears what ncu says to standard error alone, and starts no further run that would fail alike", async () => {
    gpu?.plan([
      {
        log: "==ERROR== The application returned an error code (1).\n",
        stderr:
          "==ERROR== Nsight Compute failed to connect to the CUDA driver (stub libcuda.so[.1] on path?).",
        exit: 1,
      },
    ]);
    const result = await profile([
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include=A*",
      "hydra.run.dir=driverless",
    ]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("ncu found no CUDA driver");
    // A and what is inside it need a run each.
    expect(gpu?.profilingCalls()).toHaveLength(1);
  });

  it("tells the cause behind ncu's exit code 9, and keeps the file in which ncu says more", async () => {
    const details = inHere("nsight-compute-a507-931f.log");
    writeFileSync(details, "Failed to optimize backing store");
    gpu?.plan([
      {
        // As people showed it of a slice of a GPU (MIG).
        log: `${connected}==ERROR== An error was reported by the driver\n==ERROR== For more information, see ${details}\n==ERROR== Cannot lock GPU clock frequencies on MIG! Try locking the clocks externally.\n==ERROR== Failed to profile "k" in process 45625\n==ERROR== The application returned an error code (9).\n`,
        exit: 9,
      },
    ]);
    const result = await profile(["hydra.run.dir=slice"]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("ncu is not allowed to lock the GPU's clocks");
    expect(result.stderr).toContain("pipeline.ncu.ncu_cli.clock_control=none");
    expect(result.stderr).not.toContain("exit code 9");
    expect(existsSync(inHere("slice/recorder/regions/A/report.json"))).toBe(true);
    const kept = "ncu/logs/profile/nsight-compute-a507-931f.log";
    expect(readFileSync(inHere(`slice/${kept}`), "utf8")).toBe("Failed to optimize backing store");
    expect(readFileSync(inHere("slice/report.md"), "utf8")).toContain(kept);
  });

  it("opens no pipe that stands where ncu says that it says more", async () => {
    const pipe = inHere("pipe.log");
    execFileSync("mkfifo", [pipe]);
    gpu?.plan([{ log: `${connected}==ERROR== For more information, see ${pipe}\n`, exit: 1 }]);
    expect((await profile(["hydra.run.dir=pipe"])).code).toBe(1);
    expect(existsSync(inHere("pipe/ncu/logs/profile/pipe.log"))).toBe(false);
  });

  it("notes what ncu could not collect in a run that worked", async () => {
    gpu?.plan([
      {
        results: kernels,
        log: `${connected}==WARNING== Unable to access the following 1 metrics: ctc__rx_bytes_data_user.sum.\n`,
      },
    ]);
    expect((await profile(["hydra.run.dir=lacking"])).code).toBe(0);
    expect(notesOf("lacking")).toContain(
      "does not expose these to ncu: ctc__rx_bytes_data_user.sum",
    );
    expect(regionsOf("lacking").get("A")?.kernel_count).toBe(2);
  });

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

  it("forgets what kept ncu from reading its results once it has read them", async () => {
    gpu?.plan([{ results: kernels }]);
    const broken = { FAKE_NCU_UNREADABLE: "the disk is full" };
    const report = async (env: Readonly<Record<string, string>>) => {
      const options = { cwd, env: { ...gpu?.env, ...env } };
      expect((await callCommand("deep-profile", ["report", "unread"], options)).code).toBe(0);
      return notesOf("unread");
    };
    expect((await profile(["hydra.run.dir=unread"], undefined, broken)).code).toBe(0);
    const inRun = notesOf("unread");
    expect(inRun).toMatch(/could not print the metrics of .*the disk is full/);
    expect(inRun).toContain("was read without ncu");
    expect(await report(broken)).toBe(inRun);

    const after = await report({});
    expect(after).not.toContain("the disk is full");
    expect(after).not.toContain("was read without ncu");
    expect(after).toContain("GPU times are from ncu's replay");
    expect(await report(broken)).toBe(inRun);
  });

  it.skipIf(zstd === null)("finds the report that a newer ncu has compressed", async () => {
    const [plain, packed] = [inHere("plain.ncu-rep"), inHere("packed.ncu-repz")];
    writeFileSync(plain, buildReport(real?.template ?? "", kernels));
    execFileSync(zstd ?? "", ["-q", plain, "-o", packed]);
    gpu?.plan([{ report: packed }]);
    expect((await profile(["hydra.run.dir=packed"])).code).toBe(0);
    expect(readdirSync(inHere("packed/ncu"))).toContain("profile.ncu-repz");
    const [inRun, options] = [regionsOf("packed"), { cwd, env: gpu?.env ?? {} }];
    expect([...inRun.keys()]).toEqual(["A", "A > A::A1", "B"]);
    const again = await callCommand("deep-profile", ["report", "packed"], options);
    expect([again.code, regionsOf("packed")]).toEqual([0, inRun]);
    // Reads it in another process, which writes to its standard output.
    const imported = await runCommand("deep-profile", ["import", "packed", "-o", "i"], options);
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining("A::A1")]);
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
      // What ends by itself is not to come near it, on whatever machine.
      "pipeline.ncu.timeout_min=0.3",
      "hydra.run.dir=hang",
    ]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("stopped after 0.3 min (pipeline.ncu.timeout_min)");
    expect(result.stderr).toContain('while it measured "reduce"');
    expect(result.stderr).toContain("replay_mode=app-range");
    expect(result.stdout).toContain("takes longer than expected");
    expect(gpu?.profilingCalls()).toHaveLength(2);
    expect([...regionsOf("hang").keys()]).toEqual(["A", "A > A::A1"]);
    expect(notesOf("hang")).toContain("the report covers the 1 result until then");
    expect(notesOf("hang")).toMatch(/ncu warned that "reduce" takes longer/);
  });

  it("keeps what was measured until Ctrl-C, and starts no further run of ncu", async () => {
    gpu?.plan([
      {
        include: "A/",
        results: [{ kernel: "", kind: "range", pushPop: inA }],
        runs: false,
        hangs: true,
      },
      { include: "A::A1/", results: [{ kernel: "", kind: "range", pushPop: inA1 }] },
    ]);
    const child = start([
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include=[A,A::A1]",
      "hydra.run.dir=interrupted",
    ]);
    child.stdout?.resume();
    child.stderr?.resume();
    await until(() => existsSync(inHere("interrupted/ncu/level-1.ncu-rep")));
    child.kill("SIGINT");
    const [code] = await once(child, "exit");
    expect(code).toBe(130);
    expect(gpu?.profilingCalls()).toHaveLength(1);
    expect([...regionsOf("interrupted").keys()]).toEqual(["A"]);
    expect(notesOf("interrupted")).toMatch(/stopped by SIGINT in level-1: .* 1 result until then/);
  });

  it("forgets that results could not be read at all once they are", async () => {
    writeFileSync(inHere("garbled"), "no report");
    gpu?.plan([{ report: inHere("garbled") }]);
    const ran = await profile(["hydra.run.dir=mended"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("could not print the metrics");
    expect(notesOf("mended")).not.toContain("ncu measured nothing in");
    gpu?.plan([{ results: kernels }]);
    expect((await profile(["hydra.run.dir=sound"])).code).toBe(0);
    copyFileSync(inHere("sound/ncu/profile.ncu-rep"), inHere("mended/ncu/profile.ncu-rep"));
    const options = { cwd, env: gpu?.env ?? {} };
    const again = await callCommand("deep-profile", ["report", "mended"], options);
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining("could not print")]);
    expect(regionsOf("mended").get("A")?.kernel_count).toBe(2);
    for (const file of ["mended/report.md", "mended/ncu/regions/report.json"])
      expect(readFileSync(inHere(file), "utf8")).not.toContain("could not print");
  });
});
