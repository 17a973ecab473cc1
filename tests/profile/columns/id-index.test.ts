import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createIdIndex } from "../../../src/profile/columns/id-index.ts";

const TOP = 2 ** 32 - 1;

/** The index beside the plainest means of numbering. */
function twoIndices() {
  const index = createIdIndex();
  const known = new Map<number, number>();
  return {
    add(id: number) {
      const number = known.get(id) ?? known.size;
      known.set(id, number);
      if (index.add(id) !== number) expect.fail(`${id} is not number ${number}`);
    },
    check(others: readonly number[]) {
      expect(index.size()).toBe(known.size);
      const ids = [...known.keys(), ...others];
      expect(ids.map(index.find)).toEqual(ids.map((id) => known.get(id) ?? null));
    },
  };
}

describe("an index of ids", () => {
  it("numbers ids of any size in order of their first appearance", () => {
    const id = fc.oneof(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 65_500, max: 65_700 }),
      fc.integer({ min: 0, max: TOP }),
      fc.constant(TOP),
    );
    fc.assert(
      fc.property(fc.array(id, { maxLength: 200 }), fc.array(id), (ids, others) => {
        const index = twoIndices();
        for (const one of ids) index.add(one);
        index.check(others);
      }),
    );
  });

  it.each([
    ["that count up", (at: number) => at + 1],
    ["that count up in steps", (at: number) => 7 * at],
    ["that count up from far away", (at: number) => 3_000_000_000 + at],
    ["that count down", (at: number) => 5_000_000 - at],
    ["in no order", (at: number) => Math.imul(at, 0x9e3779b1) >>> 0],
  ])("finds each of 20,000 ids %s", (_, idOf) => {
    const index = twoIndices();
    for (let at = 0; at < 20_000; at++) index.add(idOf(at));
    for (let at = 0; at < 20_000; at += 3) index.add(idOf(at));
    index.check([4, TOP]);
  });

  it("finds an id that was added when it had no row, once there are rows for it", () => {
    const index = twoIndices();
    index.add(100_000);
    for (let id = 0; id < 20_000; id++) index.add(id);
    index.check([100_001]);
    index.add(100_000);
  });
});
