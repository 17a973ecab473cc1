import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sweepJobs } from "../../../src/profiler/cli/report-sweep.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hydraconf-jobs-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(file: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), "[]\n");
}

describe("the jobs of a sweep", () => {
  it("stand in the order of their numbers, wherever their overrides are", () => {
    for (const job of ["10", "2", "1/.hydra"]) write(`${job}/overrides.yaml`);
    mkdirSync(join(directory, "notes"));
    expect(sweepJobs(directory)).toEqual(["1", "2", "10"]);
  });

  it("are found where hydra.sweep.subdir has several levels, but not inside of jobs and hidden folders", () => {
    write("multirun.yaml");
    for (const job of ["data=a/b/0", "data=a/b/0/again", "c", ".cache/0"])
      write(`${job}/overrides.yaml`);
    expect(sweepJobs(directory)).toEqual(["c", "data=a/b/0"]);
  });

  it("are not looked for below other directories than those of sweeps", () => {
    write("runs/0/overrides.yaml");
    expect(sweepJobs(directory)).toEqual([]);
  });

  it("count once where a link has a second name for one, and behind a link of their own", () => {
    write("3/overrides.yaml");
    write("elsewhere/4/.hydra/overrides.yaml");
    symlinkSync("3", join(directory, "latest"));
    symlinkSync("elsewhere/4", join(directory, "4"));
    symlinkSync("gone", join(directory, "broken"));
    expect(sweepJobs(directory)).toEqual(["3", "4"]);
  });

  it("are none in a run, in a file, and where nothing is", () => {
    write("0/overrides.yaml");
    expect(sweepJobs(join(directory, "0/overrides.yaml"))).toEqual([]);
    expect(sweepJobs(join(directory, "gone"))).toEqual([]);
    write("run.json");
    expect(sweepJobs(directory)).toEqual([]);
  });
});
