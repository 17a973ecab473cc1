import { describe, expect, it } from "vitest";
import { analyzeScalar } from "../../../../src/engine/values/yaml/scalar-analysis.ts";

describe("analyzeScalar", () => {
  it.each([
    // text, plain, single-quoted, block
    ["", true, true, false],
    ["a b", true, true, true],
    ["a: b", false, true, true],
    [" a", false, true, true],
    ["a ", false, true, false],
    ["a\nb", false, true, true],
    ["a \nb", false, false, false],
    ["a\n b", false, false, true],
    ["a\tb", false, false, false],
    ["\u{10ffff}", false, false, false],
    ["\u{10fffe}", true, true, true],
    ["\ud800", false, false, false],
  ])("of %j", (text, allowPlain, allowSingleQuoted, allowBlock) => {
    expect(analyzeScalar(text)).toMatchObject({ allowPlain, allowSingleQuoted, allowBlock });
  });

  it("counts code points", () => {
    expect(analyzeScalar("a😀b").length).toBe(3);
  });
});
