import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readBundle, runCommand, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const profile = (...args: readonly string[]) =>
  runCommand("deep-profile", args, { cwd: here.path });

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
    expect(report?.notes).toContain("1 of 3 runs were made");
  });

  it("refuses a number of runs that makes no sense", async () => {
    const result = await profile("repeats=0");
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("repeats");
  });
});
