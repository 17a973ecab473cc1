import { expect, it } from "vitest";
import type { Key } from "../../src/values/node.ts";
import { fullKeyOf, type Place, pathOf, rootPlace } from "../../src/values/place.ts";
import { createPlaceIndex } from "../../src/values/place-index.ts";
import { yaml } from "./trees.ts";

it.each<{ path: readonly Key[]; key: string }>([
  { path: [], key: "" },
  { path: ["a", "b", "c"], key: "a.b.c" },
  { path: ["l", 0n, 1n], key: "l[0][1]" },
  { path: ["l", 1n, "x"], key: "l[1].x" },
  { path: [true], key: "True" },
])("names the place at $path '$key'", ({ path, key }) => {
  const index = createPlaceIndex();
  let at: Place | undefined = rootPlace(yaml("a: {b: {c: 1}}\nl: [[1, 2], {x: 3}]\ntrue: 4"));
  for (const step of path) at = at && index.child(at, step);
  if (at === undefined) throw new Error("nothing stands there");
  expect(fullKeyOf(at)).toBe(key);
  expect(pathOf(at)).toEqual(path);
});
