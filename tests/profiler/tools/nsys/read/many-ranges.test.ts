import { rmSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../../src/profiler/analysis/build.ts";
import { timelineOfRanks } from "../../../../../src/profiler/analysis/ranks.ts";
import { timelineSlice } from "../../../../../src/profiler/cli/query.ts";
import type { Timeline } from "../../../../../src/profiler/model/timeline.ts";
import { labelsOf } from "../../../../../src/profiler/tools/ncu/run/label-survey.ts";
import { readNsysExport } from "../../../../../src/profiler/tools/nsys/read/read-export.ts";
import { runs } from "../../../../runs.ts";
import { call, globalId, kernel, range, type Tables, writeExport } from "../exports.ts";

/** What is said of a timeline of which so many ranges are kept, but not that others are not. */
function told(timeline: Timeline) {
  const { scopes } = buildRegionModel(timeline, { operationDomains: ["ops"] });
  const { labels, overlap } = labelsOf(timeline, ["ops"]);
  return {
    // What begins at the same time comes in any order.
    slice: timelineSlice(timeline, { fromMs: 0, toMs: null, limit: 100 })
      .events.map((event) => JSON.stringify(event))
      .sort(),
    labels: labels.map((label) => ({
      ...label,
      with: labels.filter((other) => overlap(label, other)).map(({ name }) => name),
    })),
    scopes: scopes.map((scope) => ({
      ...scope,
      notes: scope.notes.filter((note) => !note.includes("timelines and traces have the first")),
    })),
  };
}

const isStreamed = ({ processes }: Timeline) =>
  processes.some(({ allRanges }) => allRanges !== undefined);

function reading<T>(tables: Tables, read: (path: string) => T): T {
  const path = writeExport(tables);
  try {
    return read(path);
  } finally {
    rmSync(dirname(path), { recursive: true });
  }
}

/** Times of few values: that many begin and end at the same one. */
const time = fc.nat(12);
const ranges = fc.array(
  fc.record({
    start: time,
    ns: fc.option(time),
    thread: fc.nat(1),
    process: fc.nat(1),
    type: fc.constantFrom(59, 60),
    name: fc.constantFrom("a", "b", "c"),
    domain: fc.nat(2),
    payload: fc.constantFrom(null, 3, -1),
  }),
  { minLength: 1, maxLength: 12 },
);
const launches = fc.array(fc.record({ at: time, thread: fc.nat(1) }), { maxLength: 5 });

const domains = [1, 2].flatMap((domainId) =>
  [0, 1].map((process) => ({
    ...{ start: 0, end: null, eventType: 75, text: ["io", "ops"][domainId - 1] ?? "" },
    ...{ globalTid: globalId(7 + process, 8), domainId, uint64Value: null },
  })),
);

describe("an export of which not all ranges are kept", () => {
  it("gives the regions, labels and queries of one of which they are", () => {
    fc.assert(
      fc.property(ranges, launches, (all, calls) => {
        const tables: Tables = {
          NVTX_EVENTS: [
            ...domains,
            ...all.map(({ start, ns, thread, process, type, name, domain, payload }) => ({
              ...{ start: 10 + start, end: ns === null ? null : 10 + start + ns },
              ...{ eventType: type, text: name, globalTid: globalId(7 + process, 8 + thread) },
              ...{ domainId: domain, uint64Value: payload },
            })),
          ],
          StringIds: [{ id: 1, value: "kernel" }],
          ...(calls.length > 0 && {
            CUPTI_ACTIVITY_KIND_KERNEL: calls.map(({ at }, number) => ({
              ...kernel,
              ...{ start: 20 + at, end: 25 + at, correlationId: number + 1 },
            })),
            CUPTI_ACTIVITY_KIND_RUNTIME: calls.map(({ at, thread }, number) => ({
              ...call,
              ...{ start: 10 + at, end: 11 + at, correlationId: number + 1 },
              globalTid: globalId(7, 8 + thread),
            })),
          }),
        };
        const read = (most: number) => reading(tables, (path) => readNsysExport(path, most));
        const [whole, cut] = [read(Number.POSITIVE_INFINITY), read(0)];
        expect([isStreamed(whole), isStreamed(cut)]).toEqual([false, true]);
        expect(told(cut)).toEqual(told(whole));
        // As one of several ranks, whose clock is another one.
        const asRank = (timeline: Timeline) =>
          timelineOfRanks([
            { rank: 0, host: "a", timeline: { ...timeline, originNs: 100n } },
            { rank: 1, host: "a", timeline: { ...timeline, originNs: 130n } },
          ]);
        expect(told(asRank(cut))).toEqual(told(asRank(whole)));
      }),
      { numRuns: runs(25) },
    );
  });

  it("says so", () => {
    const tables = { NVTX_EVENTS: [range, { ...range, start: 20, text: "B" }] };
    const [process] = reading(tables, (path) => readNsysExport(path, 1)).processes;
    expect(process?.ranges.map(({ name }) => name)).toEqual(["A"]);
    expect(process?.allRanges?.count).toBe(2);
    expect(process?.notes).toEqual([
      "process 7: timelines and traces have the first 1 of 2 ranges; reports have all",
    ]);
  });
});
