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

it("refuses a key of a list that is no index of an item", () => {
  const node = yaml("[1, '???']");
  expect([1n, 0n, -1n, -2n].map((key) => isMissingAt(node, key))).toEqual([
    true,
    false,
    true,
    false,
  ]);
  const refused = (code: string) => expect.objectContaining({ code });
  expect(() => isMissingAt(node, 2n)).toThrow(refused("key.not_found"));
  expect(() => isMissingAt(node, -3n)).toThrow(refused("key.not_found"));
  expect(() => isMissingAt(node, "1")).toThrow(refused("key.invalid_type"));
});
