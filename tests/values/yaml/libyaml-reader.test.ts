import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../src/values/dialect.ts";
import { toObject } from "../../../src/values/plain-objects.ts";
import { readYaml } from "../../../src/values/yaml/reader.ts";

const read = (text: string): unknown =>
  toObject(readYaml(text, { dialect: DIALECTS["1.4"], env: {} }));

// Compared with PyYAML and libyaml 0.2.5.
describe("readYaml as libyaml", () => {
  it.each([
    ["a tab behind a colon", "a:\tb", { a: "b" }],
    ["a tab in a plain text", "a: b\tc", { a: "b\tc" }],
    ["a lone !", "a: !", { a: "" }],
    ["a byte order mark in front of a line", "a: 1\n\ufeff\n", { a: 1 }],
  ])("takes %s", (_, text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each([
    [
      "a tab in a block scalar's indentation",
      "a: |\n \t\n\tb",
      /tab character where an indentation/,
    ],
    ["an escaped half of a pair", 'a: "\\ud83d"', /invalid Unicode character escape/],
    ["{a:}", "{a:}", /found unexpected ':'/],
    ["an unknown directive", "%FOO\n--- a", /unknown directive name/],
    ["aliases that contain themselves", "&a [*a]", /recursive aliases are not supported/],
  ])("refuses %s", (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
