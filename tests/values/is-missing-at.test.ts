import { expect, it } from "vitest";
import { isMissingAt } from "../../src/values/is-missing-at.ts";
import { yaml } from "./trees.ts";

it("looks at one child, and follows nothing", () => {
  const node = yaml("a: '???'\nb: ${a}\nc.d: '???'\nl: ['???']");
  expect(["a", "b", "c", "c.d", "l", "l.0"].filter((key) => isMissingAt(node, key))).toEqual([
    "a",
    "c.d",
  ]);
});

it("refuses a key of a list that is no index", () => {
  const node = yaml("[1, '???']");
  expect(isMissingAt(node, 1n)).toBe(true);
  expect(isMissingAt(node, 7n)).toBe(false);
  expect(() => isMissingAt(node, "1")).toThrow(
    expect.objectContaining({ code: "key.invalid_type" }),
  );
});
