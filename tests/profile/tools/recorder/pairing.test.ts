import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profile/analysis/index.ts";
import { createNotes, type NvtxEvent } from "../../../../src/profile/tools/recorder/events.ts";
import { createPairing } from "../../../../src/profile/tools/recorder/pairing.ts";

const thread = { stream: 0, threadId: 7, timeNs: 5 };
const push = (name: string): NvtxEvent => ({
  kind: "push",
  ...thread,
  domain: "",
  name,
  category: null,
  color: null,
  payload: null,
});
const pop: NvtxEvent = { kind: "pop", ...thread, domain: "" };

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
    ]);
  });
});
