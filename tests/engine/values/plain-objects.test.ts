import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { map, scalar } from "../../../src/engine/values/node.ts";
import { fromObject, toObject } from "../../../src/engine/values/plain-objects.ts";
import { ORIGIN, show, value, yaml } from "./trees.ts";

describe("from object", () => {
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
});

describe("to object", () => {
  it("gives plain data, with bigints only where a number would lie", () => {
    expect(toObject(yaml("a: [1, 2.5, true, null, x]\nbig: 9007199254740993"))).toEqual({
      a: [1, 2.5, true, null, "x"],
      big: 9007199254740993n,
    });
  });

  it("takes no key for more than a key", () => {
    const object = toObject(yaml("__proto__: {polluted: 1}\nconstructor: 2\n1: x\ntrue: y"));
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
    expect(Object.keys(object as object)).toEqual(["1", "__proto__", "constructor"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("writes paths as text and leaves bytes alone", () => {
    const bytes = new Uint8Array([1, 2]);
    const node = map(
      [
        ["p", scalar({ path: "a/b" }, ORIGIN)],
        ["b", scalar(bytes, ORIGIN)],
      ],
      ORIGIN,
    );
    expect(toObject(node)).toEqual({ p: "a/b", b: bytes });
  });
});
