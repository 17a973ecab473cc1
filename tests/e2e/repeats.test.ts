import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { combineRuns } from "../../src/profiler/analysis/repeats.ts";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { callCommand } from "../called-command.ts";
import { readBundle, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const profile = (...args: readonly string[]) =>
  callCommand("deep-profile", args, { cwd: here.path });

describe("deep-profile repeats=N", () => {
  it("runs N times after the warm-up, and says how every region varied", async () => {
    const { code } = await profile(
      "workload=nvtx_regions",
      "device=cpu",
      "repeats=3",
      "warmup_runs=2",
      "hydra.run.dir=r",
    );
    expect(code).toBe(0);
    expect(readdirSync(join(here.path, "r/recorder/repeats")).sort()).toEqual(["1", "2", "3"]);
    const [report] = readBundle(join(here.path, "r")).reports;
    expect(report?.regions.length).toBeGreaterThan(0);
    for (const region of report?.regions ?? [])
      expect(region.repeats).toMatchObject({
        runs: 3,
        wall_ms: { mean: expect.any(Number), std: expect.any(Number), stable: expect.any(Boolean) },
      });
    expect(readFileSync(join(here.path, "r/recorder/regions/report.md"), "utf8")).toContain(
      "## Repeated runs",
    );
  });

  it("takes what the workload printed in the run that is shown, also when reports are made again", async () => {
    const small = ["infer.image_size=8", "infer.iterations=2", "device=cpu"];
    const run = join(here.path, "static");
    const { code } = await profile(...small, "repeats=5", "warmup_runs=0", "hydra.run.dir=static");
    expect(code).toBe(0);
    const runs = [1, 2, 3, 4, 5].map((run) => join(here.path, `static/recorder/repeats/${run}`));
    const { shown } = combineRuns(
      runs.map((folder) =>
        buildRegionModel(readRecording(folder), { operationDomains: ["shallow_resnet.ops"] }),
      ),
    );
    // So that each run's document can be told from the others'.
    for (const [index, folder] of runs.entries()) {
      const file = join(folder, "stdout.json");
      const document = JSON.parse(readFileSync(file, "utf8"));
      const timings_ms = { ...document.timings_ms, median: 100 + index };
      writeFileSync(file, JSON.stringify({ ...document, timings_ms }));
    }
    expect((await profile("report", "static")).code).toBe(0);
    expect(readFileSync(join(run, "report.md"), "utf8")).toContain(
      `A pass took ${100 + shown}.00 ms`,
    );
  });

  it("keeps what was measured before a run failed", async () => {
    const program = `test -e second && exit 3; touch second`;
    const result = await profile(
      "repeats=3",
      "warmup_runs=0",
      "hydra.run.dir=f",
      "--",
      "sh",
      "-c",
      program,
    );
    expect(result.code).toBe(1);
    expect(existsSync(join(here.path, "f/recorder/regions/report.json"))).toBe(true);
    const [report] = readBundle(join(here.path, "f")).reports;
    expect(report?.notes).toContain("1 of 3 runs was completed");
    // Nothing of the failed run is in it.
    expect(report?.notes.join("\n")).toContain("the report covers the run that was completed");
    expect(result.stdout).toContain("what follows covers the run that was completed.");
  });

  it("refuses a number of runs that makes no sense", async () => {
    const result = await profile("repeats=0");
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("repeats");
  });
});
