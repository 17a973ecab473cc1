import { describe, expect, it } from "vitest";
import {
  nextOrder,
  type Order,
  type SortedColumn,
  sortRows,
} from "../../../src/pages/client/row-order.ts";

interface Row {
  readonly name: string | null;
  readonly ms: number | null;
}

const name: SortedColumn<Row> = { key: (row: Row) => row.name };
const ms: SortedColumn<Row> = { key: (row: Row) => row.ms, align: "right" };

describe("a click on a heading", () => {
  const clicks = (column: SortedColumn<Row>) => {
    let order: Order<Row> | null = null;
    return [1, 2, 3].map(() => {
      order = nextOrder(order, column);
      return order?.descending ?? null;
    });
  };

  it("sorts numbers from the largest, then from the smallest, then not at all", () =>
    expect(clicks(ms)).toEqual([true, false, null]));

  it("sorts text from A, then from Z, then not at all", () =>
    expect(clicks(name)).toEqual([false, true, null]));

  it("begins anew at another column", () => {
    const order = { column: ms, descending: true };
    expect(nextOrder(order, name)).toEqual({
      column: name,
      descending: false,
    });
  });
});

describe("sorted rows", () => {
  const rowsOf = (names: readonly (string | null)[]) => names.map((one) => ({ name: one, ms: 1 }));
  const names = (given: readonly (string | null)[], descending: boolean) =>
    sortRows(rowsOf(given), { column: name, descending }).map((row) => row.name);

  it("count as people do: job 10 stands behind job 9", () => {
    expect(names(["job 10", "job 9", "job 1"], false)).toEqual(["job 1", "job 9", "job 10"]);
    expect(names(["job 10", "job 9", "job 1"], true)).toEqual(["job 10", "job 9", "job 1"]);
  });

  it("have what was not measured last, in either order", () => {
    const times = [null, 3, null, 1, 2].map((one) => ({ name: "", ms: one }));
    const sorted = (descending: boolean) =>
      sortRows(times, { column: ms, descending }).map((row) => row.ms);
    expect(sorted(true)).toEqual([3, 2, 1, null, null]);
    expect(sorted(false)).toEqual([1, 2, 3, null, null]);
  });

  it("keep their order where they are equal, and leave the given ones alone", () => {
    const given = ["b", "a", "b"].map((one, at) => ({ name: one, ms: at }));
    const sorted = sortRows(given, { column: name, descending: false });
    expect(sorted.map((row) => row.ms)).toEqual([1, 0, 2]);
    expect(given.map((row) => row.ms)).toEqual([0, 1, 2]);
  });
});

it("sorts values that are written as numbers by their size", () => {
  const rows = ["10", "1e-3", "0.25", "0.5", "2"].map((value) => ({ name: value, ms: null }));
  expect(sortRows(rows, { column: name, descending: false }).map((row) => row.name)).toEqual([
    ...["1e-3", "0.25", "0.5", "2", "10"],
  ]);
});
