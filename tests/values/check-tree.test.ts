import { expect, it } from "vitest";
import { checkTree } from "../../src/values/check-tree.ts";
import { list, map } from "../../src/values/node.ts";
import { ORIGIN, value } from "./trees.ts";

it("returns a tree that can be a configuration", () => {
  const node = map([["a", list([value("${b}")], ORIGIN)]], ORIGIN);
  expect(checkTree(node)).toBe(node);
});

it("refuses null keys and broken interpolations, wherever they stand", () => {
  const broken = map([["a", list([value("${b")], ORIGIN)]], ORIGIN);
  expect(() => checkTree(broken)).toThrowError(
    expect.objectContaining({ code: "interpolation.syntax" }),
  );
  expect(() => checkTree(list([map([[null, value(1n)]], ORIGIN)], ORIGIN))).toThrowError(
    expect.objectContaining({ code: "key.invalid_type" }),
  );
});
