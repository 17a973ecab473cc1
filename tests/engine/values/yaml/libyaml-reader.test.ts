import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";

const read = (text: string): unknown =>
  toObject(readYaml(text, { dialect: DIALECTS["1.4"], env: {} }));

// Compared with PyYAML and libyaml 0.2.5.
describe("readYaml as libyaml", () => {
  it.each([
    ["a tab behind a colon", "a:\tb", { a: "b" }],
    ["a tab in a plain text", "a: b\tc", { a: "b\tc" }],
    ["a lone !", "a: !", { a: "" }],
    ["a question mark in a plain text in brackets", "a: [b?, c ? d]", { a: ["b?", "c ? d"] }],
    ["a tag with more behind a second !", "a: !<!> b\nc: !!str 1", { a: "b", c: "1" }],
    ["a byte order mark in front of a line", "a: 1\n\ufeff\n", { a: 1 }],
  ])("takes %s", (_, text, value) => {
    expect(read(text)).toEqual(value);
  });

  // Texts of libyaml 0.2.5, where PyYAML has others.
  it.each([
    ["f: {g: ???}", "while parsing a flow node: did not find expected node content"],
    ["a: [1", "did not find expected ',' or ']' at the end (line 2, column 1)"],
    ["a: 1\n b: 2", "mapping values are not allowed in this context"],
    ["a: - b", "block sequence entries are not allowed in this context"],
    ["a: 1\n}", "did not find expected key"],
    ["- a\nb: 1", "did not find expected '-' indicator"],
    ["@a", "found character that cannot start any token"],
    ["* a", "while scanning an alias (from line 1, column 1): did not find expected alphabetic"],
    ['"\\u12G4"', "while parsing a quoted scalar"],
    ["a: |0\n x", "found an indentation indicator equal to 0"],
    ["a: |x\n x", "did not find expected comment or line break"],
  ])("says of %j: %s", (text, words) => {
    expect(() => read(text)).toThrow(words);
  });

  it.each([
    [
      "a tab in a block scalar's indentation",
      "a: |\n \t\n\tb",
      /tab character where an indentation/,
    ],
    ["an escaped half of a pair", 'a: "\\ud83d"', /invalid Unicode character escape/],
    ["a tag that a bracket follows", "a: [!]", /did not find expected whitespace or line break/],
    ["? without a key in a list", "[?]", /did not find expected ',' or ']' at the end \(line 2, /],
    ["a version of YAML after 1.2", "%YAML 1.3\n---\na: 1", /incompatible YAML document/],
    ["half a pair", "é: \ud83d", /'utf-8' codec can't encode character '\\ud83d' in position 3/],
    ["two halves", "\udc00\ud83d", /can't encode characters in position 0-1/],
    ["a control character", "a: \x01", /#x0001: control characters are not allowed/],
    ["{a:}", "{a:}", /found unexpected ':'/],
    ["an unknown directive", "%FOO\n--- a", /unknown directive name/],
    ["aliases that contain themselves", "&a [*a]", /recursive aliases are not supported/],
  ])("refuses %s", (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
