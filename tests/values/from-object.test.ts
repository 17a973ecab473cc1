import fc from "fast-check";
import { expect, it } from "vitest";
import { fromObject } from "../../src/values/from-object.ts";
import { toObject } from "../../src/values/to-object.ts";
import { ORIGIN, show, value } from "./trees.ts";

it("takes plain data, maps and nodes", () => {
  const node = fromObject(
    { a: [1, -0, 1.5, undefined], m: new Map([[2, "two"]]), x: value("node") },
    ORIGIN,
  );
  expect(show(node)).toBe("a:\n- 1\n- -0.0\n- 1.5\n- null\nm:\n  2: two\nx: node\n");
});

it("is the inverse of toObject on JSON", () => {
  fc.assert(
    fc.property(
      fc.jsonValue().filter((json) => !JSON.stringify(json).includes("-0")),
      (json) => {
        expect(toObject(fromObject(json, ORIGIN))).toEqual(json);
      },
    ),
  );
});

it.each([
  { what: "functions", data: { a: { b: () => 1 } }, key: "a.b" },
  { what: "dates", data: { a: new Date(0) }, key: "a" },
  { what: "symbols", data: [Symbol("x")], key: "0" },
])("refuses $what and says where", ({ data, key }) => {
  expect(() => fromObject(data, ORIGIN)).toThrowError(
    expect.objectContaining({
      code: "value.wrong_type",
      details: expect.objectContaining({ key }),
    }),
  );
});

it("refuses data that contains itself or never ends", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  let deep: unknown = 1;
  for (let level = 0; level < 5000; level++) deep = [deep];
  for (const data of [cyclic, deep])
    expect(() => fromObject(data, ORIGIN)).toThrowError(
      expect.objectContaining({ code: "value.wrong_type" }),
    );
  // The same object twice is no cycle.
  const shared = { x: 1 };
  expect(show(fromObject([shared, shared], ORIGIN))).toBe("- x: 1\n- x: 1\n");
});
