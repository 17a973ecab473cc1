import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  matchesRange,
  parseRangePattern,
  patternList,
} from "../../../src/report/selection/range-pattern.ts";
import { runs } from "../../runs.ts";

const matches = (pattern: string, name: string, domain = "") =>
  matchesRange(parseRangePattern(pattern), domain, name);

describe("range patterns", () => {
  it.each([
    ["*", "anything at all", true],
    ["*", "", true],
    ["", "", true],
    ["", "x", false],
    ["decode*", "decode", true],
    ["decode*", "decode_step/3", true],
    ["decode*", "predecode", false],
    ["*code*", "predecoder", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["?", "漢", true],
    ["?", "😀", true],
    ["a*b*c", "aXbYbZc", true],
    ["a*b*c", "aXcYb", false],
    ["conv[3x3]", "conv[3x3]", true],
    ["conv[3x3]", "conv3", false],
    ["A::A1", "A::A1", true],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["a\\", "a\\", true],
    ["Decode", "decode", false],
  ])("%j on %j: %j", (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  it("restricts the domain before the first @", () => {
    expect(matches("LLM@*", "x", "LLM")).toBe(true);
    expect(matches("LLM@*", "x", "")).toBe(false);
    expect(matches("L*@d*", "decode", "LLM")).toBe(true);
    expect(matches("@x", "x", "")).toBe(true);
    expect(matches("@x", "x", "LLM")).toBe(false);
    expect(matches("x", "x", "LLM")).toBe(true);
    expect(matches("user\\@host", "user@host", "d")).toBe(true);
    expect(matches("d@user@host", "user@host", "d")).toBe(true);
  });

  it("reads a config setting: nothing, one pattern, a list", () => {
    expect(patternList(null)).toEqual([]);
    expect(patternList("a,b")).toEqual(["a,b"]);
    expect(patternList(["a", "b"])).toEqual(["a", "b"]);
  });

  it("matches as the same regular expression does", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        const regex = [...pattern].map((c) => (c === "*" ? ".*" : c === "?" ? "." : c)).join("");
        expect(matches(pattern, name)).toBe(new RegExp(`^${regex}$`, "u").test(name));
      }),
      { numRuns: runs(2000) },
    );
  });

  it("matches any label with itself escaped, and stays fast on hostile patterns", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, domain) => {
        const literal = (text: string) => text.replaceAll(/[\\*?@]/g, "\\$&");
        expect(matches(`${literal(domain)}@${literal(name)}`, name, domain)).toBe(true);
      }),
    );
    expect(matches(`${"*a".repeat(200)}b`, "a".repeat(5000))).toBe(false);
  });
});
