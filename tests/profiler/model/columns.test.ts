import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createColumn,
  createIdIndex,
  createLongList,
  doubles,
  words,
} from "../../../src/profiler/model/columns.ts";
import { runs } from "../../runs.ts";

describe("column", () => {
  /** Rows within the first block, at its end, and in blocks behind it. */
  const row = fc.oneof(
    fc.nat(5),
    fc.nat(2).map((at) => 65_536 + at),
    fc.integer({ min: 1_000, max: 1_100 }),
    fc.integer({ min: 65_500, max: 65_600 }),
    fc.integer({ min: 196_600, max: 196_700 }),
  );

  it("holds rows that are alike, and the first that is not, wherever it stands", () => {
    for (const other of [0, 700, 2_999, 3_000, 3_500, 65_535, 65_536]) {
      const column = createColumn(words, 9);
      for (let at = 0; at < 3_000; at++) column.set(at, 5);
      column.set(other, 6);
      for (let at = 0; at < 4_000; at++)
        expect(column.get(at)).toBe(at === other ? 6 : at < 3_000 ? 5 : 9);
      expect(column.get(other)).toBe(6);
    }
  });

  it("holds numbers that do not fit as they are cut, among others or alone", () => {
    for (const rows of [1, 2, 1_025]) {
      const column = createColumn(words, 0xffffffff);
      for (let at = 0; at < rows; at++) column.set(at, at === 1 ? 5 : -1);
      expect(column.get(0)).toBe(0xffffffff);
      expect(column.get(rows)).toBe(0xffffffff);
    }
  });

  it("holds what was set, wherever, and says nothing of the rest", () => {
    const cases = [
      { make: words, absent: 0 },
      { make: words, absent: 0xffffffff },
      { make: doubles, absent: Number.NaN },
    ];
    for (const { make, absent } of cases)
      fc.assert(
        fc.property(
          fc.array(fc.tuple(row, fc.nat(3)), { maxLength: 20 }),
          fc.array(row),
          (set, get) => {
            const column = createColumn(make, absent);
            const model = new Map<number, number>();
            for (const [at, value] of set) {
              column.set(at, value === 3 ? absent : value);
              model.set(at, value === 3 ? absent : value);
              for (const [known, expected] of model) expect(column.get(known)).toBe(expected);
            }
            for (const at of get) expect(column.get(at)).toBe(model.get(at) ?? absent);
          },
        ),
        { numRuns: runs(50) },
      );
  });
});

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

describe("long list", () => {
  it("holds what was added, in order, and nothing behind it", () => {
    const list = createLongList<number>();
    for (let at = 0; at < 20_000; at++) list.push(3 * at);
    expect(list.length()).toBe(20_000);
    for (const at of [0, 8_191, 8_192, 19_999]) expect(list.at(at)).toBe(3 * at);
    expect(list.at(20_000)).toBeUndefined();
    expect(list.at(100_000)).toBeUndefined();
  });
});
