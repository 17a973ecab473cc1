import fc from "fast-check";
import { expect, it } from "vitest";
import { createColumn, doubles, words } from "../../../src/profile/columns/column.ts";
import { runs } from "../../runs.ts";

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
