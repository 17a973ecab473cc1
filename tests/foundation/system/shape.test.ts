import { expect, test } from "vitest";
import {
  byName,
  type Check,
  count,
  fits,
  listOf,
  maybe,
  measure,
  nestedUpTo,
  oneOf,
  orNull,
  text,
  time,
  wrongField,
} from "../../../src/foundation/system/shape.ts";

test.each<[string, Check, readonly unknown[], readonly unknown[]]>([
  ["count", count, [0, 7, 2 ** 53 - 1], [-1, 0.5, "1", 2 ** 53, null]],
  ["measure", measure, [0, 0.5], [-0.5, "1", Number.POSITIVE_INFINITY, Number.NaN, null]],
  ["time", time, ["2026-01-01T00:00:00.000Z"], ["soon", 0, null, undefined]],
  ["listOf", listOf(count), [[], [1]], [[1, "a"], { 0: 1 }, "", null]],
  ["byName", byName(text), [{}, { a: "b" }], [{ a: 1 }, ["a"], null, "a"]],
  ["oneOf", oneOf("a", true), ["a", true], ["b", "true", undefined]],
  ["orNull", orNull(text), ["a", null], [undefined, 1]],
  ["maybe", maybe(text), ["a", undefined], [null, 1]],
  ["nestedUpTo", nestedUpTo(2), [1, null, [], [[]], { a: { b: 1 } }], [[[[]]], { a: [{}] }]],
])("%s takes what a file of ours holds, and nothing else", (_, check, taken, refused) => {
  expect([taken.map(check), refused.map(check)]).toEqual([
    taken.map(() => true),
    refused.map(() => false),
  ]);
});

test("the first field that does not fit is named; further fields are allowed", () => {
  const shape = { name: text, size: maybe(count) };
  expect(wrongField({ name: "a", other: 1 }, shape)).toBeUndefined();
  expect(wrongField({ name: "a", size: "1" }, shape)).toBe("size");
  expect(["a", null, ["a"], {}].map((value) => wrongField(value, shape))).toEqual(
    Array(4).fill("name"),
  );
  expect(fits(Object.create({ name: "a" }), shape)).toBe(false);
});
