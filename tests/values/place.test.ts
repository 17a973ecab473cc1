import { expect, it } from "vitest";
import type { Key } from "../../src/values/node.ts";
import { createPlaceIndex, fullKeyOf, pathOf, rootPlace } from "../../src/values/place.ts";
import { yaml } from "./trees.ts";

it.each<{ path: readonly Key[]; key: string }>([
  { path: [], key: "" },
  { path: ["a", "b", "c"], key: "a.b.c" },
  { path: ["l", 0n, 1n], key: "l[0][1]" },
  { path: ["l", 1n, "x"], key: "l[1].x" },
  { path: [true], key: "True" },
])("names the place at $path '$key'", ({ path, key }) => {
  const index = createPlaceIndex();
  let at = rootPlace(yaml("a: {b: {c: 1}}\nl: [[1, 2], {x: 3}]\ntrue: 4"));
  for (const step of path) {
    const child = index.child(at, step);
    if (child === undefined) throw new Error(`nothing at ${String(step)}`);
    // The same place is the same object: resolution compares them.
    expect(index.child(at, step)).toBe(child);
    at = child;
  }
  expect(fullKeyOf(at)).toBe(key);
  expect(pathOf(at)).toEqual(path);
});
