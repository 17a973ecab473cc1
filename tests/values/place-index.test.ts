import { expect, it } from "vitest";
import type { ConfigNode, Key } from "../../src/values/node.ts";
import { keyId, scalar } from "../../src/values/node.ts";
import { fromCode } from "../../src/values/origin.ts";
import { rootPlace } from "../../src/values/place.ts";
import { createPlaceIndex } from "../../src/values/place-index.ts";
import { yaml } from "./trees.ts";

const TREE = yaml("a: ${b}\nb: 2\nl: [1, 3]");

function scalarAt(node: ConfigNode, key: Key) {
  const found = node.kind === "map" ? node.entries.get(keyId(key))?.value : undefined;
  if (found?.kind !== "scalar") throw new Error(`no scalar at ${String(key)}`);
  return found;
}

it("makes each place once, so that resolution can compare them", () => {
  const index = createPlaceIndex();
  const root = rootPlace(TREE);
  const list = index.child(root, "l");
  expect(list).toBeDefined();
  expect(index.child(root, "l")).toBe(list);
  expect([...index.knownBelow(root)]).toEqual([list]);
  expect(index.child(root, "none")).toBeUndefined();
});

it("lets a single pass go through a map, and answers from what that has resolved", () => {
  const index = createPlaceIndex();
  const root = rootPlace(TREE);
  const walk = index.walk(root);
  expect(index.walk(root)).toBeUndefined();
  const visited = walk?.visit("a", scalarAt(TREE, "a"));
  const two = scalar(2n, fromCode("test"));
  if (walk !== undefined) walk.resolved = (id) => (id === "a" ? two : undefined);
  expect(index.child(root, "a")).toMatchObject({ node: two, result: true });
  if (visited !== undefined) walk?.keep(visited);
  expect(index.child(root, "a")).toBe(visited);
});
