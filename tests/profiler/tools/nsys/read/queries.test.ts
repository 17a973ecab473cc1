import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withExport } from "../../../../../src/profiler/tools/nsys/read/database.ts";
import { parseIntegerRows } from "../../../../../src/profiler/tools/nsys/read/queries.ts";
import { runs } from "../../../../runs.ts";
import { writeExport } from "../exports.ts";

/** Columns of a table by both ways of reading it; integers are numbers. */
function readBoth(rows: readonly Readonly<Record<"a" | "b", number | bigint | string | null>>[]) {
  const columns = { a: "a", b: "b", missing: "missing", high: { column: "a", sql: "a >> 32" } };
  return withExport(writeExport({ T: rows }), (database) => {
    const one = [...database.rows("T", columns)].map((row) =>
      Object.values(row).map((value) =>
        typeof value === "bigint" || Number.isInteger(value) ? Number(value) : Number.NaN,
      ),
    );
    const many: number[][] = [];
    for (const { rows: count, numbers: of } of database.integers("T", { columns, rare: {} }))
      for (let row = 0; row < count; row++)
        many.push([of.a, of.b, of.missing, of.high].map((column) => column[row] as number));
    return { one, many };
  });
}

describe("columns of integers", () => {
  const cell = fc.oneof(
    fc.integer(),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
    fc.constantFrom("", "12", "],[", '"', "\\", 'a\\"],[5', "\n"),
  );

  it("are read by the thousand as they are one by one, whatever else stands there", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ a: cell, b: cell }), { minLength: 1 }), (rows) => {
        const { one, many } = readBoth(rows);
        expect(many).toEqual(one);
      }),
      { numRuns: runs(20) },
    );
  });

  it("come all, however many rows there are", () => {
    const rows = Array.from({ length: 10_001 }, (_, at) => ({ a: at * 2 ** 33, b: at % 7 }));
    const { one, many } = readBoth(rows);
    expect(many).toEqual(one);
    expect(many).toHaveLength(10_001);
  });

  it("are none of a table that is not there", () => {
    const count = withExport(
      writeExport({}),
      ({ integers }) => [...integers("T", { columns: { a: "a" }, rare: {} })].length,
    );
    expect(count).toBe(0);
  });
});

it("an integer beyond 2^53 is the nearest number", () => {
  const column = new Float64Array(2);
  const text = new TextEncoder().encode("[9223372036854775807][-9007199254740995]");
  expect(parseIntegerRows(text, [{ numbers: column }])).toBe(2);
  expect([...column]).toEqual([2 ** 63, -9007199254740996]);
});

describe("columns that are asked for apart", () => {
  const HUGE = 2n ** 63n - 1n;
  const rows = Array.from({ length: 5_000 }, (_, at) => ({ a: at % 2 === 0 ? HUGE : null, b: at }));

  it("hold integers of 64 bits as they are", () => {
    const found = withExport(writeExport({ T: rows }), ({ integers }) =>
      [...integers("T", { columns: { a: "a" }, wide: ["a"], rare: {} })].flatMap(
        ({ rows: count, numbers: of, exact }) =>
          Array.from({ length: count }, (_, row) =>
            Number.isNaN(of.a[row]) ? null : exact("a", row),
          ),
      ),
    );
    expect(found).toEqual(rows.map(({ a }) => a));
  });

  it("are of the same rows where few need them, whenever they are asked for", () => {
    const wanted = { columns: { b: "b" }, rare: { again: "b", missing: "missing" } };
    const found = withExport(writeExport({ T: rows }), ({ integers }) => {
      const blocks: { count: number; b: number[]; again: number[]; missing: number }[] = [];
      for (const { rows: count, numbers: of, rare } of integers("T", wanted)) {
        if (blocks.length === 0) rare();
        const [again, missing] = [[...rare().again.slice(0, count)], rare().missing[0] ?? 0];
        blocks.push({ count, b: [...of.b.slice(0, count)], again, missing });
      }
      return blocks;
    });
    expect(found.length).toBeGreaterThan(1);
    for (const { b, again, missing } of found) {
      expect(again).toEqual(b);
      expect(missing).toBeNaN();
    }
    expect(found.flatMap(({ b }) => b)).toEqual(rows.map(({ b }) => b));
  });
});
