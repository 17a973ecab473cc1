import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesGlob, parseGlob } from "../../../src/foundation/text/glob.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";

const matches = (pattern: string, text: string) => matchesGlob(parseGlob(pattern), text);

describe("globs", () => {
  it.each([
    ["*", "", true],
    ["", "", true],
    ["", "x", false],
    ["a*", "ba", false],
    ["*a", "ab", false],
    ["**a", "a", true],
    ["?", "", false],
    ["?", "😀", true],
    ["[ab]", "a", false],
    ["[ab]", "[ab]", true],
    ["\\*", "\\x", true],
    ["a*b*c", "aXcYb", false],
    ["a*a", "a", false],
  ])("%j on %j: %j", (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it("match what the regular expression of the same meaning matches", () => {
    const letters = (from: string) =>
      fc.array(fc.constantFrom(...from), { maxLength: 8 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(letters("ab*?"), letters("ab"), (pattern, text) => {
        const meaning = pattern.replaceAll("*", ".*").replaceAll("?", ".");
        expect(matches(pattern, text)).toBe(new RegExp(`^${meaning}$`).test(text));
      }),
      { numRuns: runs(2000) },
    );
  });

  it("take time in proportion to the text, however many stars there are", async () => {
    const search = (length: number) => matches("*a*a*a*a*a*b", "a".repeat(length));
    expect(await growth(search, 20_000)).toBeLessThan(40);
  });
});
