import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeUnquoted, quoted, unescapeUnquoted, unquote } from "../../src/overrides/quoting.ts";

const text = fc.string({ unit: fc.constantFrom(..."a\\'\" ,(){}[]:=\té".split("")) });

describe("quoted and unquote", () => {
  it.each([
    ["", "''"],
    ["a'b", "'a\\'b'"],
    ["a\\", "'a\\\\'"],
    ["a\\b", "'a\\b'"],
    ["\\'", "'\\\\\\''"],
  ])("%j <-> %j", (plain, written) => {
    expect(quoted(plain, "'")).toBe(written);
    expect(unquote(written)).toBe(plain);
  });

  it("are inverse for every text and both quotes", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("'" as const, '"' as const), (plain, quote) => {
        expect(unquote(quoted(plain, quote))).toBe(plain);
      }),
    );
  });

  it("take linear time over backslashes", () => {
    const many = `${"\\".repeat(1_000_000)}a`;
    expect(unquote(quoted(many, "'"))).toBe(many);
  });
});

describe("escapeUnquoted", () => {
  it("is undone by unescaping where everything is escaped", () => {
    const special = fc.string({ unit: fc.constantFrom(..."\\ ,(){}[]:=\t".split("")) });
    fc.assert(
      fc.property(special, (plain) => {
        expect(unescapeUnquoted(escapeUnquoted(plain))).toBe(plain);
      }),
    );
  });
});
