import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { fromCode } from "../../../../src/engine/values/origin.ts";
import { fromObject } from "../../../../src/engine/values/plain-objects.ts";
import { type WriteOptions, writeYaml } from "../../../../src/engine/values/yaml/writer.ts";

const written = (value: unknown, options: Omit<WriteOptions, "dialect"> = {}): string =>
  writeYaml(fromObject(value, fromCode("test")), { dialect: DIALECTS["1.4"], ...options });

// All expected texts were printed by PyYAML with libyaml 0.2.5.
describe("writeYaml as libyaml", () => {
  it.each([
    ["an empty key", { "": 1 }, "'': 1\n"],
    ["what is above U+FFFF", { a: "😀" }, 'a: "\\U0001F600"\n'],
    ["NEL", { a: "x\x85y" }, 'a: "x\\Ny"\n'],
    ["a line separator", { a: "x\u2028y" }, "a: 'x\u2028  y'\n"],
    ["a key of 128 bytes", { ["é".repeat(64)]: 1 }, `${"é".repeat(64)}: 1\n`],
    ["a longer key", { ["é".repeat(65)]: 1 }, `? ${"é".repeat(65)}\n: 1\n`],
    ["a key with a carriage return", { "a\r": 1 }, '? "a\\r"\n: 1\n'],
    ["a text as a whole", "a", "a\n"],
  ])("%s", (_, value, text) => {
    expect(written(value)).toBe(text);
  });

  it("folds double quotes in place of a space", () => {
    const long = `\t${"word ".repeat(20)}`;
    expect(written({ a: long })).toBe(
      `a: "\\t${"word ".repeat(15)}word\n  ${"word ".repeat(4)}"\n`,
    );
  });

  it("refuses half a pair of surrogates", () => {
    expect(() => written({ a: "\ud800" })).toThrow(/surrogates not allowed/);
  });
});

describe("brackets", () => {
  const value = { a: [1, { b: 2 }], c: { d: "x" }, e: ["true"], f: [] };

  it.each([
    ["none", "a:\n- 1\n- b: 2\nc:\n  d: x\ne:\n- 'true'\nf: []\n"],
    ["leaves", "a:\n- 1\n- {b: 2}\nc: {d: x}\ne:\n- 'true'\nf: []\n"],
    ["all", "{a: [1, {b: 2}], c: {d: x}, e: ['true'], f: []}\n"],
  ] as const)("around %s", (flow, text) => {
    expect(written(value, { flow })).toBe(text);
  });

  it("quote what would end there", () => {
    expect(written(["a,b", "c:d", "e f"], { flow: "all" })).toBe("['a,b', 'c:d', e f]\n");
  });
});
