import fc from "fast-check";
import { expect, test } from "vitest";
import { leavesOf, originLines, pathText } from "../../src/compose/index.ts";
import { readYaml } from "../../src/values/reader.ts";
import { toObject } from "../../src/values/to-object.ts";
import { writeYaml } from "../../src/values/writer.ts";
import { maps } from "../values/trees.ts";

const TREE = readYaml(`
plain: 1
map: {inner: {deep: 2}, none: {}}
list: [3, [4, 5], {six: 6}, []]
quoted: "two\\n\\nlines"
after: 7
`);

test("each line of the YAML goes with the innermost value that begins on it", () => {
  const lines = originLines(TREE);
  expect(lines.map(({ text }) => `${text}\n`).join("")).toBe(writeYaml(TREE));
  expect(lines.map(({ node, text }) => [text, node && toObject(node)])).toEqual([
    ["plain: 1", 1],
    ["map:", { inner: { deep: 2 }, none: {} }],
    ["  inner:", { deep: 2 }],
    ["    deep: 2", 2],
    ["  none: {}", {}],
    ["list:", [3, [4, 5], { six: 6 }, []]],
    ["- 3", 3],
    ["- - 4", 4],
    ["  - 5", 5],
    ["- six: 6", 6],
    ["- []", []],
    // A comment may only stand behind its end.
    ["quoted: 'two", undefined],
    ["", undefined],
    ["", undefined],
    ["  lines'", "two\n\nlines"],
    ["after: 7", 7],
  ]);
});

test("the leaves of a config are its values at their keys, what is empty among them", () => {
  expect(leavesOf(TREE).map(({ node, path }) => [pathText(path), toObject(node)])).toEqual([
    ["plain", 1],
    ["map.inner.deep", 2],
    ["map.none", {}],
    ["list.0", 3],
    ["list.1.0", 4],
    ["list.1.1", 5],
    ["list.2.six", 6],
    ["list.3", []],
    ["quoted", "two\n\nlines"],
    ["after", 7],
  ]);
});

test("every leaf is named on a line of its own, in the order of the text", () => {
  const texts = ["two\n\nlines", "block\n", " blank", "x".repeat(60).concat(" ").repeat(3), ""];
  fc.assert(
    fc.property(maps(texts), (tree) => {
      const lines = originLines(tree);
      expect(lines.map(({ text }) => `${text}\n`).join("")).toBe(writeYaml(tree));
      const leaves = leavesOf(tree).map(({ node }) => node);
      expect(lines.flatMap(({ node }) => (node && leaves.includes(node) ? [node] : []))).toEqual(
        leaves,
      );
    }),
  );
});

test("the lines are those of a text in the order of its keys, where that is asked for", () => {
  const lines = originLines(TREE, { sortKeys: true });
  expect(lines.map(({ text }) => `${text}\n`).join("")).toBe(writeYaml(TREE, { sortKeys: true }));
  expect(lines[0]?.node && toObject(lines[0].node)).toBe(7);
});
