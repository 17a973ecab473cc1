import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import {
  createNotes,
  type NvtxEvent,
  type PushEvent,
} from "../../../../src/profiler/tools/recorder/events.ts";
import { createPairing } from "../../../../src/profiler/tools/recorder/pairing.ts";

const thread = { stream: 0, threadId: 7, timeNs: 5 };
const push = (name: string): PushEvent => ({
  kind: "push",
  ...thread,
  domain: "",
  name,
  category: null,
  color: null,
  payload: null,
  cpuNs: null,
  counts: null,
});
const pop: NvtxEvent = { kind: "pop", ...thread, domain: "", cpuNs: null, counts: null };

describe("createPairing", () => {
  it("keeps the nesting of ranges that open and close within one tick of the clock", () => {
    const pairing = createPairing(createNotes());
    for (const event of [push("outer"), push("inner"), pop, pop, push("after"), pop])
      pairing.add(event);
    const { ranges, marks } = pairing.finish();
    const model = buildRegionModel({
      collector: "recorder",
      clock: "CLOCK_MONOTONIC",
      originNs: 0n,
      notes: [],
      processes: [
        {
          pid: 1,
          parentPid: null,
          executable: "program",
          startNs: 0,
          endNs: 5,
          finished: true,
          ranges,
          marks,
          kernels: [],
          notes: [],
        },
      ],
    });
    expect(model.scopes[0]?.regions.map(({ path }) => path.join(" > "))).toEqual([
      "outer",
      "outer > inner",
      "after",
      "(outside)",
    ]);
  });

  it("takes processor time and counts from the thread that opened a range", () => {
    const used = (cpuNs: number, faults: number) => ({
      cpuNs,
      counts: [faults, 0, 0, 0] as const,
    });
    const start: NvtxEvent = { ...push("handed over"), ...used(5, 0), kind: "start", rangeId: 1 };
    const elsewhere: NvtxEvent = {
      kind: "end",
      stream: 1,
      threadId: 8,
      timeNs: 5,
      rangeId: 1,
      ...used(1, 0),
    };
    const pairing = createPairing(createNotes());
    const events: readonly NvtxEvent[] = [
      { ...push("open"), ...used(10, 2 ** 32 - 2) },
      { ...push("closed"), ...used(20, 2 ** 32 - 1) },
      start,
      elsewhere,
      { ...pop, ...used(50, 3) },
      { ...push("last"), ...used(70, 4) },
    ];
    for (const event of events) pairing.add(event);
    const { ranges } = pairing.finish();
    expect(ranges.map(({ name, cpuNs, counts }) => [name, cpuNs, counts])).toEqual([
      // Of a range that never closed, what its thread had used at its last event.
      ["open", 60, [6, 0, 0, 0]],
      ["closed", 30, [4, 0, 0, 0]],
      ["handed over", null, null],
      ["last", 0, [0, 0, 0, 0]],
    ]);
  });
});
