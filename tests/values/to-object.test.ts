import { expect, it } from "vitest";
import { map, scalar } from "../../src/values/node.ts";
import { toObject } from "../../src/values/to-object.ts";
import { ORIGIN, yaml } from "./trees.ts";

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
