import { expect, it } from "vitest";
import { splitKey } from "../../src/values/key-path.ts";
import { growth } from "../growth.ts";

it.each([
  { key: "a.b", components: ["a", "b"] },
  { key: "a[b]", components: ["a", "b"] },
  { key: "[a].b[0][1]", components: ["a", "b", "0", "1"] },
  { key: ".a", components: ["", "a"] },
  { key: "..[a]", components: ["", "", "a"] },
  { key: "a..b", components: ["a", "", "b"] },
  { key: "", components: [""] },
  { key: "a.", components: ["a", ""] },
  { key: "a[b.c]d.e", components: ["a", "b.c", "e"] },
  { key: "a[b", components: ["a"] },
  { key: "a[\r\u2028]", components: ["a", "\r\u2028"] },
  { key: "a[\n]", components: ["a"] },
  { key: "a[[b]]c", components: ["a", "[b"] },
  { key: "a[\n[b]", components: ["a", "b"] },
  { key: "a[\n].b]", components: ["a", "b]"] },
  { key: "a[b]c\nd[e", components: ["a", "b"] },
])("splits '$key' into $components", ({ key, components }) => {
  expect(splitKey(key)).toEqual(components);
});

it.each(["[", "[\n]", "[a\n"])("takes no longer for many %j", async (part) => {
  expect(await growth((times) => splitKey(part.repeat(times)), 5000)).toBeLessThan(40);
});
