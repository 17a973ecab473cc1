import { constants } from "node:os";
import { beforeAll, describe, expect, it } from "vitest";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../src/profiler/analysis/to-report.ts";
import { context } from "../report/bundles.ts";
import { availableClients, buildFixture } from "./fixtures.ts";
import { record } from "./record.ts";

const clients =
  process.platform === "linux" && process.arch === "x64" ? availableClients("instructions") : [];

describe.runIf(clients.length > 0)("instructions of ranges", () => {
  let program = "";
  let counter = "";
  beforeAll(async () => {
    program = await buildFixture("counted_ranges.cc", "own client");
    counter = await buildFixture("fake_counter.cc", "own client", ["-shared", "-fPIC"]);
  });
  const counted = (variables: Readonly<Record<string, string>> = {}) =>
    record(program, [], {
      HYDRACONF_RECORDER_INSTRUCTIONS: "on",
      LD_PRELOAD: counter,
      ...variables,
    });

  it("are those that the processor counted between opening and closing, or missing", async () => {
    const { outcome, timeline } = await counted();
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    const found = timeline.processes.flatMap(({ ranges }) =>
      ranges.map(({ name, instructions }) => [name, instructions]),
    );
    expect(found).toEqual([
      ["outer", 165],
      ["inner", 50],
      ["inner", 5],
      ["large", 2 ** 40],
      ["switched", 670],
      ["switched while read", 20],
      ["interrupted", null],
      ["before", 4],
      ["after", 6],
      ["without counter", null],
      ["after close", 9],
      ["around child", 2],
      ["started", 11],
      ["handed over", null],
      ["on a thread", 7],
      ["in child", 3],
    ]);
    expect(timeline.notes).toEqual([]);
    expect(timeline.processes[0]?.notes).toEqual([
      expect.stringMatching(
        /ranges whose instructions are missing, since the processor's counter was given to others meanwhile .*: \d$/,
      ),
    ]);
  });

  it("leave no descriptor open, and are not counted unless wanted", async () => {
    const { outcome } = await counted();
    const off = await record(program, [], { LD_PRELOAD: counter });
    expect(off.outcome).toEqual(outcome);
    const ranges = off.timeline.processes.flatMap((process) => process.ranges);
    expect(ranges.every(({ instructions }) => instructions === null)).toBe(true);
    expect(off.timeline.notes).toEqual([]);
  });

  it("have sums in reports, and a total unless some are missing", async () => {
    const { timeline } = await counted();
    const reportOf = (names: readonly string[]) => {
      const processes = timeline.processes.slice(0, 1).map((process) => ({
        ...process,
        ranges: process.ranges.filter(({ name }) => names.includes(name)),
      }));
      const model = buildRegionModel({ ...timeline, processes });
      return toReportBundle(model, context).reports[0];
    };
    const known = reportOf(["outer", "inner", "on a thread", "handed over"]);
    expect(
      known?.regions.map(({ name, instructions, instructions_exclusive }) => [
        name,
        instructions,
        instructions_exclusive,
      ]),
    ).toEqual([
      ["outer", 165, 110],
      ["inner", 55, 55],
      ["handed over", undefined, undefined],
      ["on a thread", 7, 7],
      ["(outside)", undefined, undefined],
    ]);
    // What two threads opened and closed has none, as it has no processor time.
    expect(known?.totals.instructions).toBe(172);
    expect(reportOf(["outer", "inner", "interrupted"])?.totals).not.toHaveProperty("instructions");
  });

  const { EACCES, EPERM, ENOENT, ENOSYS, EMFILE } = constants.errno;
  it.each([
    ["EACCES", { FAKE_COUNTER_ERROR: String(EACCES) }, /\(EACCES.*kernel\.perf_event_paranoid/],
    ["EPERM", { FAKE_COUNTER_ERROR: String(EPERM) }, /\(EPERM.*kernel\.perf_event_paranoid/],
    ["ENOENT", { FAKE_COUNTER_ERROR: String(ENOENT) }, /no counter of them \(ENOENT\).*virtual/],
    ["ENOSYS", { FAKE_COUNTER_ERROR: String(ENOSYS) }, /no perf_event_open.*\(ENOSYS\)/],
    ["EMFILE", { FAKE_COUNTER_ERROR: String(EMFILE) }, /3 threads of 2 processes.*ulimit -n/],
    ["a refused mapping", { FAKE_COUNTER_MAPPING: String(EPERM) }, /3 threads .*ulimit -l/],
    ["a register that may not be read", { FAKE_COUNTER_HIDDEN: "1" }, /cpu\/rdpmc/],
  ])("say why they are missing: %s", async (_, variables, note) => {
    const { outcome, timeline } = await counted(variables);
    expect(outcome).toMatchObject({ code: 0, stderr: "" });
    expect(timeline.notes).toEqual([expect.stringMatching(note)]);
    const ranges = timeline.processes.flatMap((process) => process.ranges);
    expect(ranges).toHaveLength(16);
    expect(ranges.every(({ instructions }) => instructions === null)).toBe(true);
    expect(ranges.some(({ cpuNs }) => typeof cpuNs === "number")).toBe(true);
  });
});
