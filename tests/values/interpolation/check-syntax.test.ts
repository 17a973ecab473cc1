import { describe, expect, it } from "vitest";
import { checkSyntax } from "../../../src/values/interpolation/check-syntax.ts";
import { createResolveContext } from "../../../src/values/interpolation/context.ts";
import { parseInterpolation } from "../../../src/values/interpolation/parser.ts";
import { mergeNodes } from "../../../src/values/merge.ts";
import { createConfig } from "../../../src/values/reader.ts";
import { selectNode } from "../../../src/values/select.ts";

const SYNTAX = expect.objectContaining({ code: "interpolation.syntax" });

describe("a text that the grammar refuses", () => {
  it.each(["${:x}", "x ${ : a , b } y", "${f:\nx}", "${\ff:x\n}", "${a}${:0.1}"])(
    "may stand in a config: %j",
    (text) => {
      expect(() => parseInterpolation(text)).toThrow(SYNTAX);
      expect(() => checkSyntax(text)).not.toThrow();
    },
  );

  it.each(["${:}", "${:é}", "${:x}${", "${a:b\u00a0}", "${:'x'}", "${:x", "${a:b c}${:[1]}"])(
    "may not stand in a config: %j",
    (text) => {
      expect(() => checkSyntax(text)).toThrow(SYNTAX);
    },
  );

  it("fails where it is resolved, and where errors of interpolations are looked away from", () => {
    const root = createConfig("a: ${:x}\nb: ${a}");
    const context = createResolveContext();
    expect(() => selectNode(root, "a", context)).toThrow(SYNTAX);
    expect(() => selectNode(root, "a", context, { throwOnResolutionFailure: false })).toThrow(
      SYNTAX,
    );
    expect(selectNode(root, "b", context, { throwOnResolutionFailure: false })).toBeUndefined();
    expect(() => mergeNodes([root, createConfig("a: 1")])).toThrow(SYNTAX);
  });

  it("takes no time that grows with the square of its length", () => {
    for (const text of [
      `\${${" ".repeat(100_000)}é}`,
      `${"${a}".repeat(20_000)}\${é`,
      `\${f:${"a,".repeat(50_000)}é}`,
    ])
      expect(() => checkSyntax(text, () => parseInterpolation("${"))).toThrow(SYNTAX);
  });
});
