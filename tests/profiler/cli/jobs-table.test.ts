import { expect, test } from "vitest";
import { jobsTable, type SweptJob } from "../../../src/profiler/cli/jobs-table.ts";

const PAGE = {
  directory: "/w/s",
  readable: (path: string) => path.replace("/w/", ""),
  concurrentJobs: [],
};

const job = (number: number, times: object | null, values: object = {}): SweptJob => ({
  number,
  swept: { device: "cpu", "infer.batch_size": String(2 ** number), ...values },
  status: times === null ? "failed" : "completed",
  result: times && {
    collector: "recorder",
    report: `/w/s/${number}/report.md`,
    regions: {},
    total_ms: null,
    wall_ms: null,
    ...times,
  },
});

test("a row per job: what differs, the time, the report; then how to see more", () => {
  const jobs = [job(0, { total_ms: 12.5 }), job(1, { total_ms: 7 }), job(2, null)];
  expect(jobsTable(jobs, PAGE)).toBe(
    [
      "",
      "Jobs of the sweep, by recorder; ms: time of kernels or CPU operations",
      "Job  infer.batch_size      ms  Report",
      "#0   1                 12.500  s/0/report.md",
      "#1   2                  7.000  s/1/report.md",
      "#2   4                 failed",
      "Regions by jobs, the best job if each ran repeatedly, and how they scale: deep-profile report s",
      "",
    ].join("\n"),
  );
});

test("jobs that had the machine not to themselves are named below the one that took the least", () => {
  const jobs = Array.from({ length: 12 }, (_, number) => job(number, { total_ms: 12 - number }));
  const said = (...concurrentJobs: readonly number[]) =>
    jobsTable([...jobs, job(12, null)], { ...PAGE, concurrentJobs: concurrentJobs })
      ?.split("\n")
      .filter((line) => line.includes("ran while"));
  expect(said(0, 3)).toEqual([
    "Jobs #0 and #3 ran while another job of the sweep did, on the same machine: their times include what that cost. Compare jobs that ran alone: hydra.launcher.n_jobs=1, or a node for each on Slurm",
  ]);
  expect(said(...jobs.map(({ number }) => number))?.[0]).toMatch(
    /^Jobs #0, #1, #2, #3, #4, #5, #6, #7 and 4 more ran while/,
  );
  // One without a time may be what it ran beside.
  expect(said(11, 12)?.[0]).toMatch(/^Job #11 ran while .*: its time includes what that cost/);
  expect(said(12)).toEqual([]);
});

test("the command at the end can be pasted", () => {
  const jobs = [job(0, { total_ms: 1 }), job(1, { total_ms: 2 })];
  expect(jobsTable(jobs, { ...PAGE, directory: "/w/my sweep" })).toContain(
    "deep-profile report 'my sweep'\n",
  );
});

test("compares wall times where not every job has the other", () => {
  const text = jobsTable([job(0, { total_ms: 1, wall_ms: 9 }), job(1, { wall_ms: 8 })], PAGE);
  expect(text).toContain("ms: wall time");
  expect(text).toMatch(/#1 .* 8\.000 /);
});

test("says what little there is of jobs without results, and nothing of none", () => {
  expect(jobsTable([job(0, null)], PAGE)).toBe(
    "\nJobs of the sweep\nJob      ms  Report\n#0   failed\n",
  );
  expect(jobsTable([], PAGE)).toBeUndefined();
  const foreign = { ...job(0, null), status: "completed", result: { loss: 1 } };
  expect(jobsTable([foreign], PAGE)).toContain("\n#0    –\n");
});

test("values cannot drive the terminal, and long sweeps are cut", () => {
  const many = Array.from({ length: 60 }, (_, number) =>
    job(number, { total_ms: 1 }, { name: `\u001b[2J${number}\n${"x".repeat(300)}` }),
  );
  const text = jobsTable(many, PAGE) ?? "";
  expect(text).not.toContain("\u001b");
  expect(text).toContain("\nand 20 more\n");
  expect(text.split("\n").length).toBe(46);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(120);
});
