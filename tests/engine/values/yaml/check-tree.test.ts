import { expect, it } from "vitest";
import { type ConfigNode, list, map } from "../../../../src/engine/values/node.ts";
import { rootPlace } from "../../../../src/engine/values/place.ts";
import { checkTree } from "../../../../src/engine/values/yaml/check-tree.ts";
import { ORIGIN, value } from "../trees.ts";

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

it("names the key of what it refuses, from where the tree will stand", () => {
  const place = (node: ConfigNode) => {
    const parent = rootPlace(map([["b", node]], ORIGIN));
    return { kind: "place", node, parent, key: "b" } as const;
  };
  const broken = list([map([[1.5, value("${")]], ORIGIN)], ORIGIN);
  expect(() => checkTree(broken)).toThrow(refusal("[0].1.5"));
  expect(() => checkTree(broken, place(broken))).toThrow(refusal("b[0].1.5"));
  const nameless = map([[true, map([[null, value(1n)]], ORIGIN)]], ORIGIN);
  expect(() => checkTree(nameless, place(nameless))).toThrow(refusal("b.True"));
});

const refusal = (key: string): unknown =>
  expect.objectContaining({ details: expect.objectContaining({ key }) });
