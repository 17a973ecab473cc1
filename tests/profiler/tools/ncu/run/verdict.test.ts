import { describe, expect, it } from "vitest";
import { recogniseFailures } from "../../../../../src/profiler/tools/ncu/run/failures.ts";
import type { PassRun } from "../../../../../src/profiler/tools/ncu/run/run-pass.ts";
import { judge } from "../../../../../src/profiler/tools/ncu/run/verdict.ts";

const run: PassRun = {
  pass: { name: "profile", mode: "kernel", include: [], exclude: [], labels: null },
  outcome: {
    argv: ["/opt/ncu"],
    exitCode: 0,
    signal: null,
    startError: null,
    interruptedBy: null,
    durationMs: 1,
    stdoutFile: "",
    stderrFile: "",
    stderrTail: "",
  },
  report: "/run/ncu/profile.ncu-rep",
  log: { finished: 3, current: null, percent: 0, warnings: [], errors: [], kernels: [] },
  failures: [],
  timedOut: false,
  notes: [],
};

describe("judge", () => {
  it("takes a report that could not be read for a failure, not for one that holds nothing", () => {
    const unread = "ncu could not print the metrics of profile.ncu-rep: ENOSPC";
    const { problem, hopeless } = judge(run, { results: 0, unread });
    expect(problem?.message).toBe(`ncu (profile): ${unread}`);
    expect(problem?.details.hint).toContain("deep-profile report");
    expect(hopeless).toBe(false);
    expect(judge(run, { results: 2, unread }).problem?.message).toContain("ENOSPC");
    expect(judge(run, { results: 0, unread: null })).toMatchObject({
      problem: null,
      notes: ["ncu wrote no results in profile"],
    });
    expect(judge(run, { results: 3, unread: null })).toMatchObject({ problem: null, notes: [] });
  });

  it("names the kernels that ran where the filters let none of them pass", () => {
    const failures = recogniseFailures(["==WARNING== No kernels were profiled."]);
    const notesWith = (kernels: readonly string[]) =>
      judge({ ...run, failures, log: { ...run.log, kernels } }, null).notes;
    expect(notesWith([])).toEqual([expect.stringMatching(/^ncu profiled no kernels; .*ncu_cli$/)]);
    expect(notesWith(["gemm", "pool"])).toEqual([
      expect.stringMatching(/kernel_name .*ncu_cli; kernels that ran: gemm; pool$/),
    ]);
    const many = Array.from({ length: 12 }, (_, at) => `k${at}`);
    expect(notesWith(many).join()).toMatch(/; k9 and 2 more$/);
  });

  it("tells of the user's signal, not of what could not be read after it", () => {
    const stopped: PassRun = { ...run, outcome: { ...run.outcome, interruptedBy: "SIGINT" } };
    expect(judge(stopped, { results: 0, unread: "cut" }).problem).toBeNull();
  });
});
