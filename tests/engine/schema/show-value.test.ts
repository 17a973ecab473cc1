import { expect, test } from "vitest";
import { showBoth, showValue } from "../../../src/engine/schema/show-value.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

const node = (text: string) => readYaml(text);

test("a value stands on one line, and a long one is cut", () => {
  expect(showValue(node("{a: [1, 1.0, x, null, true]}"))).toBe('{a: [1, 1.0, "x", null, true]}');
  expect(showValue(node("x".repeat(200)))).toBe(`"${"x".repeat(116)}...`);
});

test("two short values are shown whole", () => {
  expect(showBoth(node("[a, b]"), node("[a, c]"))).toEqual(['["a", "b"]', '["a", "c"]']);
});

test.each([
  ["deep inside", `[${"x, ".repeat(60)}a, y]`, `[${"x, ".repeat(60)}b, y]`],
  ["at the start", `[a, ${"x, ".repeat(60)}]`, `[b, ${"x, ".repeat(60)}]`],
  ["where one goes on", "x".repeat(150), "x".repeat(160)],
])("two long values are shown where they differ: %s", (_, before, after) => {
  const [a, b] = showBoth(node(before), node(after));
  expect(a).not.toBe(b);
  expect(Math.max(a.length, b.length)).toBeLessThanOrEqual(120);
});

test("what they share before is shown as far as it helps to find the place", () => {
  const list = (value: string) => node(`[${"x, ".repeat(60)}--lr, ${value}]`);
  expect(showBoth(list("0.1"), list("0.2"))).toEqual([
    '...x", "x", "x", "--lr", 0.1]',
    '...x", "x", "x", "--lr", 0.2]',
  ]);
});
