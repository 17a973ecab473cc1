import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { NO_MATCHING_REGIONS } from "../../src/profiler/analysis/scope.ts";
import { callCommand } from "../called-command.ts";
import { countingGpu } from "../native/count-ranges.ts";
import { availableClients } from "../native/fixtures.ts";
import { readBundle, regionsByPath, runCommand, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const canBuild = availableClients("counters of ranges").length > 0;

const SCRIPT = "0>outer 0k100 0>inner 0k10 0K20 0< 0k7 0< 0>outer 0k3 0< 0k5";
const SUMS = "pipeline.counters.metrics=[gpu__time_duration.sum,fake__kernels.sum]";

async function profile(
  runDirectory: string,
  overrides: readonly string[],
  env: Readonly<Record<string, string>> = {},
  workload: (program: string) => readonly string[] = (program) => [program, "script", SCRIPT],
) {
  const { program, driverDirectory, cupti } = await countingGpu();
  const bin = join(here.path, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "nvidia-smi"), "#!/bin/sh\necho '0, Pretended GPU, 575.0'\n");
  chmodSync(join(bin, "nvidia-smi"), 0o755);
  const args = [
    `hydra.run.dir=${runDirectory}`,
    "pipeline.counters.enable=true",
    "pipeline.recorder.enable=false",
    ...overrides,
    "--",
    ...workload(program),
  ];
  return callCommand("deep-profile", args, {
    cwd: here.path,
    env: {
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      LD_LIBRARY_PATH: driverDirectory,
      HYDRACONF_CUPTI_PATH: cupti,
      FAKE_HOST_PASSES: "1",
      FAKE_CUPTI_VIOLATIONS: join(here.path, "violations"),
      ...env,
    },
  });
}

const regionsIn = (run: string) => {
  const bundle = readBundle(join(here.path, run), "counters");
  return { bundle, regions: regionsByPath(bundle) };
};

const notesOf = (run: string) => regionsIn(run).bundle.reports[0]?.notes ?? [];

const valuesOf = (run: string, path: string) =>
  Object.fromEntries(
    Object.entries(regionsIn(run).regions.get(path)?.metrics ?? {}).map(([name, { value }]) => [
      name,
      value,
    ]),
  );

describe.runIf(canBuild)("deep-profile with counters", () => {
  it("runs the program once for metrics that are sums, and sums them for the ranges around", async () => {
    const result = await profile("sums", [SUMS]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.match(/^done$/gm)).toHaveLength(1);
    const { bundle, regions } = regionsIn("sums");
    expect(bundle.reports[0]?.collector.name).toBe("counters");
    expect(valuesOf("sums", "outer")).toEqual({
      "gpu__time_duration.sum": 140,
      "fake__kernels.sum": 5,
    });
    expect(valuesOf("sums", "outer > inner")).toEqual({
      "gpu__time_duration.sum": 30,
      "fake__kernels.sum": 2,
    });
    expect(regions.get("outer")).toMatchObject({ total_ms: 0.00014, kernel_count: 0 });
    expect(notesOf("sums")).toContainEqual(
      "read by CUPTI's Range Profiler on XX100, in 1 run of the program: 1 pass, all levels of nesting at once, since each metric is a sum",
    );
  });

  it("makes the same reports again from the run's files, without CUPTI", async () => {
    const before = readFileSync(join(here.path, "sums/counters/regions/report.json"), "utf8");
    const result = await runCommand("deep-profile", ["report", "sums"], {
      cwd: here.path,
      env: { HYDRACONF_CUPTI_PATH: "/nowhere" },
    });
    expect(result.code, result.stderr).toBe(0);
    const after = readFileSync(join(here.path, "sums/counters/regions/report.json"), "utf8");
    const untimed = (text: string) => text.replace(/"generated_at": ?"[^"]*"/g, "");
    expect(untimed(after)).toBe(untimed(before));
  });

  it("runs it once for each level of nesting if a metric is no sum", async () => {
    const share = "pipeline.counters.metrics=[gpu__time_duration.sum,fake__share.pct]";
    const result = await profile("levels", [share]);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.match(/^done$/gm)).toHaveLength(2);
    expect(valuesOf("levels", "outer > inner")["gpu__time_duration.sum"]).toBe(30);
    // Weighted by time: 100,000 a kernel and nanosecond.
    expect(valuesOf("levels", "outer")["fake__share.pct"]).toBeCloseTo((100_000 * 5) / 140, 6);
    const [aggregate, ...others] = regionsIn("levels").bundle.reports;
    expect(aggregate?.regions.map(({ name }) => name)).toEqual(["outer", "inner"]);
    expect(others.filter(({ scope }) => scope.startsWith("process:"))).toHaveLength(1);
  });

  it("runs it once for each pass, and never the kernels", async () => {
    const result = await profile("passes", [SUMS], { FAKE_HOST_PASSES: "2" });
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.match(/^done$/gm)).toHaveLength(2);
    expect(valuesOf("passes", "outer")).toEqual({
      "gpu__time_duration.sum": 140,
      "fake__kernels.sum": 5,
    });
  });

  /** Two processes: the shell's `$0` is the program. */
  const two = (line: string, pipe: string) => (program: string) => [
    ...["sh", "-c", line, program],
    ...["0>a 0k100 0<", "0>b 0k10 0<"].map((script, at) =>
      pipe === "" ? script : `${script} 0${at === 0 ? "i" : "o"}${pipe}`,
    ),
  ];

  it("joins the passes of processes that run one after the other", async () => {
    const result = await profile(
      "in-turn",
      [SUMS],
      { FAKE_HOST_PASSES: "2" },
      two('"$0" script "$1" && "$0" script "$2"', ""),
    );
    expect(result.code, result.stderr).toBe(0);
    expect(valuesOf("in-turn", "a")["gpu__time_duration.sum"]).toBe(100);
    expect(valuesOf("in-turn", "b")["gpu__time_duration.sum"]).toBe(10);
  });

  it("joins no passes of processes that run at the same time, and says so", async () => {
    execFileSync("mkfifo", [join(here.path, "pipe")]);
    const both = two('"$0" script "$1" & "$0" script "$2"; wait', "pipe");
    await profile("together", [SUMS], { FAKE_HOST_PASSES: "2" }, both);
    expect([...regionsIn("together").regions.keys()]).toEqual([]);
    expect(notesOf("together")).toContainEqual(
      expect.stringContaining("several processes of the program measured at the same time"),
    );
    expect(notesOf("together")).toContainEqual(
      expect.stringContaining("no counters of the regions that match"),
    );
    expect(notesOf("together")).not.toContain(NO_MATCHING_REGIONS);
    const once = await profile("together-once", [SUMS], {}, both);
    expect(once.code, once.stderr).toBe(0);
    expect(valuesOf("together-once", "a")["gpu__time_duration.sum"]).toBe(100);
    expect(valuesOf("together-once", "b")["gpu__time_duration.sum"]).toBe(10);
  });

  it("does not begin what most_runs does not allow, and says how many runs it takes", async () => {
    const share = "pipeline.counters.metrics=[fake__share.pct]";
    const twoPasses = { FAKE_HOST_PASSES: "2" };
    const refused = await profile("few", [share, "pipeline.counters.most_runs=1"], twoPasses);
    expect(refused.code).toBe(1);
    expect(refused.stdout).not.toContain("done");
    expect(refused.stderr).toContain(
      "the metrics take 2 runs of the program for each level of nesting, and pipeline.counters.most_runs=1 allows fewer",
    );
    const hint = /Hint: (pipeline\.counters\.most_runs=\d+)/.exec(refused.stderr)?.[1] ?? "";
    const result = await profile("enough", [share, hint], twoPasses);
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.match(/^done$/gm)).toHaveLength(2);
    expect(notesOf("enough")).toContainEqual(
      expect.stringContaining("ranges below level 1 of 2 have no counters"),
    );
  });

  it("measures what is asked for", async () => {
    await profile("chosen", [SUMS, "pipeline.counters.include=[inner]"]);
    const { regions } = regionsIn("chosen");
    expect([...regions.keys()]).toEqual(["outer > inner"]);
    await profile("unmatched", [SUMS, "pipeline.counters.include=[nowhere]"]);
    expect(notesOf("unmatched")).toContain(NO_MATCHING_REGIONS);
  });

  it("tells what cannot be measured, with the remedy, and fails", async () => {
    const result = await profile("refused", [SUMS], {
      FAKE_CUPTI_FAIL: "RangeProfilerEnable=35",
    });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(
      "no counters were read: cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (the driver restricts performance counters to administrators",
    );
    const unknown = await profile("unknown", ["pipeline.counters.metrics=[dram__bytes.sum]"]);
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toContain("XX100 has no metric 'dram__bytes.sum'");
  });

  const onOneDevice = (program: string) => [program, "script", SCRIPT.replace("0K20 ", "")];
  const TIMELINE = [
    "pipeline.counters.timeline=true",
    "pipeline.counters.timeline_metrics=[fake__kernels.sum,fake__share.pct]",
  ];

  it("samples whole devices at an interval, as rows of the timeline and numbers of regions", async () => {
    const result = await profile(
      "samples",
      [...TIMELINE, "pipeline.report.trace=true"],
      {},
      onOneDevice,
    );
    expect(result.code, result.stderr).toBe(0);
    expect(result.stdout.match(/^done$/gm)).toHaveLength(1);
    const { regions } = regionsIn("samples");
    const outer = regions.get("outer");
    expect(outer?.counters?.map(({ name, domain, unit }) => [name, domain, unit])).toEqual([
      ["fake__kernels.sum.per_second", "cuda:0", "/s"],
      ["fake__share.pct", "cuda:0", "%"],
    ]);
    expect(outer?.wall_ms).toBeGreaterThan(0);
    // Of the script's launches on that device, and the end.
    expect(notesOf("samples")).toContainEqual(
      expect.stringMatching(
        /^counters of cuda:0 .* on XX100: 6 samples, every 200 µs\. They are of the whole device/,
      ),
    );
    const answer = await callCommand(
      "deep-profile",
      ["query", "samples", "timeline", "--collector", "counters", "--json"],
      { cwd: here.path },
    );
    expect(answer.code, answer.stderr).toBe(0);
    const trace = readFileSync(join(here.path, "samples/counters/trace.json"), "utf8");
    expect(trace.match(/"ph":"C","name":"fake__share\.pct"/g)).toHaveLength(6);
  });

  it("makes them again from the run's files, without CUPTI", async () => {
    const file = join(here.path, "samples/counters/regions/report.json");
    const untimed = () => readFileSync(file, "utf8").replace(/"generated_at": ?"[^"]*"/g, "");
    const before = untimed();
    const result = await callCommand("deep-profile", ["report", "samples"], {
      cwd: here.path,
      env: { HYDRACONF_CUPTI_PATH: "/nowhere" },
    });
    expect(result.code, result.stderr).toBe(0);
    expect(untimed()).toBe(before);
  });

  it("places samples by the clock that CUPTI used, or says that it cannot", async () => {
    await profile("realtime", TIMELINE, { FAKE_PM_CLOCK: "realtime" });
    expect(
      regionsIn("realtime")
        .regions.get("outer")
        ?.counters?.map(({ name }) => name),
    ).toEqual([
      "fake__kernels.sum.per_second (cuda:0)",
      "fake__share.pct (cuda:0)",
      "fake__kernels.sum.per_second (cuda:1)",
      "fake__share.pct (cuda:1)",
    ]);
    const none = await profile("no-clock", TIMELINE, { FAKE_PM_CLOCK: "none" });
    expect(none.code, none.stderr).toBe(0);
    expect(regionsIn("no-clock").regions.get("outer")?.counters).toBeUndefined();
    expect(notesOf("no-clock")).toContainEqual(
      expect.stringContaining("6 samples of counters cannot be placed"),
    );
  });

  it("keeps the samples of CUPTI's files, and no file that has none", async () => {
    const kept = (run: string) => readdirSync(join(here.path, run, "counters/results"));
    const full = await profile("no-samples", TIMELINE, { FAKE_PM: "full" }, onOneDevice);
    expect(full.code, full.stderr).toBe(0);
    expect(notesOf("no-samples")).toContainEqual(
      expect.stringMatching(/^counters of cuda:0 .*: 0 samples/),
    );
    expect(kept("no-samples")).toEqual([]);
    await profile("unread", TIMELINE, { FAKE_CUPTI_FAIL: "PmSamplingGetCounterDataInfo=35" });
    expect(kept("unread")).toEqual([]);
    expect(kept("samples")).toEqual(["device-0-0.counters.samples"]);
  });

  it("samples in one pass alone, and says what to leave out", async () => {
    const result = await profile("sampled-twice", TIMELINE, { FAKE_HOST_PASSES: "2" });
    expect(result.code).toBe(1);
    expect(result.stdout).not.toContain("done");
    expect(result.stderr).toContain(
      "the metrics take 2 passes on XX100, and a device is sampled in one",
    );
    expect(result.stderr).toContain("leave out what takes several alone: fake__kernels.sum");
    const ranges = await profile("by-ranges", [...TIMELINE, "pipeline.counters.include=[inner]"]);
    expect(ranges.code).toBe(1);
    expect(ranges.stderr).toContain("samples of a whole device are not taken by ranges");
    const hint = /Hint: (pipeline\.recorder\.include)/.exec(ranges.stderr)?.[1] ?? "";
    const chosen = await profile("by-regions", [...TIMELINE, `${hint}=[inner]`]);
    expect(chosen.code, chosen.stderr).toBe(0);
    const { regions } = regionsIn("by-regions");
    expect([...regions.keys()]).toEqual(["outer > inner", "(outside)"]);
    expect(regions.get("outer > inner")?.counters).toHaveLength(4);
  });

  it("tells why there are no samples, and fails", async () => {
    const result = await profile("unsampled", TIMELINE, { FAKE_CUPTI_FAIL: "PmSamplingEnable=35" });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(
      "no counters were read: cuptiPmSamplingEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
    );
  });

  it("keeps CUPTI's rules in all of this", () => {
    expect(() => readFileSync(join(here.path, "violations"))).toThrow();
  });
});
