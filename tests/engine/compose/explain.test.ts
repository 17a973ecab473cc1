import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Cause, leavesOf, originLines, pathText } from "../../../src/engine/compose/index.ts";
import { describeOrigin } from "../../../src/engine/values/origin.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { maps } from "../values/trees.ts";
import { composeFiles } from "./in-memory.ts";

const FILES = {
  config: "defaults:\n- base\n- db@store: pg\n- db@cache: pg\n- _self_\nlr: 2\nstore:\n  port: 7\n",
  base: "defaults: [deep]\nlr: 1\n",
  deep: "lr: 0\nonly: deep\n",
  "db/pg": "port: 5\nhost: here\n",
};

const explain = (key: string, ...overrides: string[]) => {
  const found = composeFiles(FILES, overrides).explain(key);
  if (found === undefined) return undefined;
  const show = ({ origin, broughtInBy }: Cause) => [
    describeOrigin(origin),
    ...broughtInBy.map((step) => step.choice ?? step.configPath),
  ];
  return {
    value: toObject(found.value),
    cause: show(found.cause),
    replaced: found.replaced.map(({ value, cause }) => [toObject(value), ...show(cause)]),
  };
};

const at = (file: string, place: string) => `file:///conf/${file}.yaml:${place}`;

describe("explain", () => {
  it("names the place and every value replaced, newest first", () => {
    expect(explain("lr", "lr=3")).toEqual({
      value: 3,
      cause: ["override 'lr=3'"],
      replaced: [
        [2, at("config", "6:5"), "config"],
        [1, at("base", "2:5"), "config", "base"],
        [0, at("deep", "1:5"), "config", "base", "deep"],
      ],
    });
  });

  it("names every list that was replaced, newest first", () => {
    const files = {
      config: "defaults: [base, _self_]\nlayers: [2]\n",
      base: "defaults: [deep]\nlayers: [1, 1]\n",
      deep: "layers: [0]\n",
    };
    const found = composeFiles(files, ["layers=[3]", "layers=[4]"]).explain("layers");
    expect(found?.replaced.map(({ value }) => toObject(value))).toEqual([[3], [2], [1, 1], [0]]);
    expect(found?.replaced.map(({ cause }) => describeOrigin(cause.origin))).toEqual([
      "override 'layers=[3]'",
      at("config", "2:9"),
      at("base", "2:9"),
      at("deep", "1:9"),
    ]);
  });

  it("tells how a file came in, by the package of the key", () => {
    expect(explain("cache.port")?.cause).toEqual([at("db/pg", "1:7"), "config", "db@cache=pg"]);
    expect(explain("store.host")?.cause).toEqual([at("db/pg", "2:7"), "config", "db@store=pg"]);
    expect(explain("store.port")).toMatchObject({
      value: 7,
      replaced: [[5, at("db/pg", "1:7"), "config", "db@store=pg"]],
    });
  });

  it("explains Hydra's own values", () => {
    expect(explain("hydra.output_subdir")?.cause).toEqual(["schema hydra"]);
    expect(explain("hydra.run.dir", "hydra.run.dir=x")).toMatchObject({
      value: "x",
      replaced: [
        [
          "outputs/${now:%Y-%m-%d}/${now:%H-%M-%S}",
          expect.any(String),
          "hydra/config",
          "hydra/output=default",
        ],
      ],
    });
  });

  it("explains an item of a list by its number", () => {
    expect(explain("list.1", "+list=[a,b]")).toMatchObject({
      value: "b",
      cause: ["override '+list=[a,b]'"],
    });
    for (const none of ["list.2", "list.-1", "list.x"])
      expect(explain(none, "+list=[a,b]"), none).toBeUndefined();
  });

  it("explains a key of any type by its text, a text first", () => {
    const files = { config: "ids: {1: int, false: bool, 2: other, '2': text}" };
    const shown = (key: string) => {
      const found = composeFiles(files).explain(key);
      return found && toObject(found.value);
    };
    expect(["ids.1", "ids.False", "ids.2", "ids.3"].map(shown)).toEqual([
      "int",
      "bool",
      "text",
      undefined,
    ]);
  });

  it("tells the way to a map above the package of its file", () => {
    const files = { config: "defaults: [db@srv.store: pg, _self_]", "db/pg": "port: 5" };
    const cause = composeFiles(files).explain("srv")?.cause;
    expect(cause?.broughtInBy.map(({ choice, package: pkg }) => [choice, pkg])).toEqual([
      [null, ""],
      ["db@srv.store=pg", "srv.store"],
    ]);
  });

  it("does not tell a way that was deleted", () => {
    const files = {
      config: "defaults: [db@_global_: pg, base, _self_]",
      base: "defaults: [/db/pg@_global_, _self_]",
      "db/pg": "port: 5",
    };
    const way = (...overrides: string[]) =>
      composeFiles(files, overrides)
        .explain("port")
        ?.cause.broughtInBy.map(({ choice, configPath }) => choice ?? configPath);
    expect(way()).toEqual(["config", "db@_global_=pg"]);
    expect(way("~db@_global_")).toEqual(["config", "base", "db/pg"]);
  });

  it("knows no key that is not there", () => {
    expect(explain("nope")).toBeUndefined();
    expect(explain("lr.deeper")).toBeUndefined();
  });
});

describe("origins", () => {
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
});
