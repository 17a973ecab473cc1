import { describe, expect, it } from "vitest";
import { globMatches } from "../../src/overrides/index.ts";

describe("globMatches", () => {
  it.each([
    ["*", ""],
    ["*", ".hidden"],
    ["a*c", "abbc"],
    ["a**c*", "ac"],
    ["*b*c", "abbcc"],
    ["?", "😀"],
    ["a?c", "a/c"],
    ["[abc]x", "bx"],
    ["[a-c0-9]", "7"],
    ["[!a-c]", "d"],
    ["[]]", "]"],
    ["[!]]", "a"],
    ["[a-]", "-"],
    ["[-a]", "-"],
    ["[a-c-e]", "-"],
    ["[", "["],
    ["[!", "[!"],
    ["[]", "[]"],
    ["a.b", "a.b"],
    ["[^a]", "^"],
    ["[\\]", "\\"],
    ["a\nb*", "a\nbc"],
  ])("%j matches %j", (pattern, name) => {
    expect(globMatches(name, pattern)).toBe(true);
  });

  it.each([
    ["", "a"],
    ["a", "A"],
    ["?", ""],
    ["a*c", "acb"],
    ["[c-a]", "b"],
    ["[!a]", "a"],
    ["[a-c-e]", "d"],
    ["a.b", "axb"],
    ["[^a]", "b"],
  ])("%j does not match %j", (pattern, name) => {
    expect(globMatches(name, pattern)).toBe(false);
  });

  it("takes no exponential time over many stars", () => {
    expect(globMatches("a".repeat(5000), `${"*a".repeat(200)}b`)).toBe(false);
  });
});
