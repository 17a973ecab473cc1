import { expect, test } from "vitest";
import { overlappingIntervals } from "../../../src/foundation/system/overlapping-intervals.ts";

const found = (...stays: readonly (readonly [host: string, from: number, until: number])[]) =>
  overlappingIntervals(stays.map(([host, from, until], at) => ({ host, from, until, at }))).map(
    ({ at }) => at,
  );

test("stays one after the other, or on machines of their own, do not overlap", () => {
  expect(found(["a", 0, 5], ["a", 5, 9], ["b", 0, 9], ["a", 9, Number.POSITIVE_INFINITY])).toEqual(
    [],
  );
});

test("those that overlap on a machine are told in their order", () => {
  expect(found(["a", 6, 9], ["b", 0, 9], ["a", 0, 5], ["a", 4, 6])).toEqual([2, 3]);
});

test("a long stay overlaps with all that begin meanwhile", () => {
  expect(found(["a", 0, 100], ["a", 1, 2], ["a", 50, 51], ["a", 100, 101])).toEqual([0, 1, 2]);
});
