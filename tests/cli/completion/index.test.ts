import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { quoteForBash, readShellLine } from "../../../src/cli/completion/shells.ts";
import { runs } from "../../runs.ts";

const BREAKS = " \t\n\"'@><=;|&(:";

describe("a line of bash", () => {
  it.each([
    ["", [], "", 0, ""],
    ["a b", ["a"], "b", 0, ""],
    ["a b ", ["a", "b"], "", 0, ""],
    ["a db=my", ["a"], "db=my", 3, ""],
    ["a db@x=my", ["a"], "db@x=my", 5, ""],
    ["a 'db=m y", ["a"], "db=m y", 0, "'"],
    ["a db='m y", ["a"], "db=m y", 3, "'"],
    ['a db="m \\" y', ["a"], 'db=m " y', 3, '"'],
    ['a "x\\y\\', ["a"], "x\\y\\", 0, '"'],
    ["a 'x\\y", ["a"], "x\\y", 0, "'"],
    ["a x\\", ["a"], "x\\", 0, ""],
    ["a  b", ["a"], "b", 0, ""],
    ["a x'm y", ["a"], "xm y", 1, "'"],
    ["a db=m\\ y", ["a"], "db=m y", 3, ""],
    ["a 'x y'=1 z", ["a", "x y=1"], "z", 0, ""],
    ["a x:y", ["a"], "x:y", 2, ""],
  ])("%j", (line, words, word, kept, quote) => {
    expect(readShellLine(line, BREAKS)).toEqual({ words, word, kept, quote });
  });

  it("needs no breaks where the shell has none", () => {
    expect(readShellLine("a db=my", " ").kept).toBe(0);
  });
});

test("what is quoted is read back", () => {
  const text = fc.string({ unit: "grapheme-ascii", minLength: 1 });
  fc.assert(
    fc.property(text, fc.constantFrom("", "'", '"'), (value, quote) => {
      const line = `program ${quote}${quoteForBash(value, quote)}${quote === "" ? "" : quote}`;
      expect(readShellLine(line, BREAKS).word).toBe(value);
    }),
    { numRuns: runs(200) },
  );
});
