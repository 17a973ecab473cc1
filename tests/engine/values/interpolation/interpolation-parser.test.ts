import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_DIALECT } from "../../../../src/engine/values/dialect.ts";
import { mergeNodes } from "../../../../src/engine/values/edit/merge.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import {
  checkSyntax,
  parseElement,
  parseInterpolation,
} from "../../../../src/engine/values/interpolation/interpolation-parser.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { selectNode } from "../../../../src/engine/values/resolution/select.ts";
import { createConfig } from "../../../../src/engine/values/yaml/reader.ts";
import { fuzzRuns } from "../../../runs.ts";

describe("parseInterpolation", () => {
  it.each([
    { text: "${a.b[c]}", levels: 0, components: ["a", "b", "c"] },
    { text: "${ ..a }", levels: 2, components: ["a"] },
    { text: "${[a].b}", levels: 0, components: ["a", "b"] },
    { text: "${0$x@y}", levels: 0, components: ["0$x@y"] },
  ])("reads the key of $text", ({ text, levels, components }) => {
    expect(parseInterpolation(text).parts).toEqual([
      expect.objectContaining({ kind: "reference", levels, components }),
    ]);
  });

  it("keeps the parts of a key that is known only when it is evaluated", () => {
    const inner = expect.objectContaining({ kind: "reference", components: ["k"] });
    expect(parseInterpolation("${a.${k}[b]}").parts).toEqual([
      { kind: "reference", parts: ["a", ".", inner, "[", "b", "]"] },
    ]);
  });

  it.each([
    { text: "\\${a}", literal: "${a}" },
    { text: "\\\\\\${a}", literal: "\\${a}" },
    { text: "a\\b$c\\\\d\\${e}", literal: "a\\b$c\\\\d${e}" },
  ])("undoes the escapes of $text", ({ text, literal }) => {
    expect(parseInterpolation(text).parts).toEqual([{ kind: "literal", text: literal }]);
  });

  it("says how to keep what was not meant as an interpolation", () => {
    const hintOf = (text: string) => {
      try {
        parseInterpolation(text);
      } catch (error) {
        return isConfigError(error) ? error.details.hint : undefined;
      }
      return "none is needed";
    };
    expect(hintOf("pass$#${*(d##@E}@*")).toContain("a backslash keeps it as text: \\${");
    expect(hintOf("pass$#\\${*(d##@E}@*")).toBe("none is needed");
    // What lacks its end was begun on purpose.
    expect(hintOf("${a")).toBe("close the interpolation: write ${a}");
    expect(hintOf("x ${a.b/c ${d}")).toBe("close the interpolation: write x ${a.b}/c ${d}");
  });

  it("undoes backslashes only where an interpolation follows", () => {
    expect(parseInterpolation("\\\\x\\\\${a}").parts[0]).toEqual({
      kind: "literal",
      text: "\\\\x\\",
    });
  });

  it("keeps the spelling of arguments, and says which are left out", () => {
    const [use] = parseInterpolation("${f: a , ,{b: 1}}").parts;
    if (use?.kind !== "resolver") throw new Error("not a resolver");
    expect(use.name).toEqual(["f"]);
    expect(use.args.args.map((argument) => argument.source)).toEqual(["a", "", "{b: 1}"]);
    expect(use.args.incomplete).toBe("a , ,{b: 1}");
  });

  it.each([
    { text: "${", at: 2 },
    { text: "${a", at: 3 },
    { text: "${}", at: 2 },
    { text: "${a b}", at: 3 },
    { text: "${f:'x}", at: 7 },
    { text: "${f:[1}", at: 6 },
    { text: "${f:{a}}", at: 6 },
    { text: "${f:é}", at: 4 },
    { text: "${a[0]:x}", at: 6 },
    { text: "${f:'a'b}", at: 7 },
  ])("refuses $text at $at", ({ text, at }) => {
    expect(() => parseInterpolation(text)).toThrowError(
      expect.objectContaining({
        code: "interpolation.syntax",
        details: expect.objectContaining({ origin: expect.objectContaining({ start: at }) }),
      }),
    );
  });

  it("answers every string with a tree or a coded error", () => {
    const tokens = fc.constantFrom(
      ..."${ } { [ ] : , . ' \" \\ \\${ ${a ${f: a 1 1.5 null true é \n @ - _ =".split(" "),
      " ",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(tokens, { maxLength: 30 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const parse of [parseInterpolation, parseElement])
          try {
            parse(text);
          } catch (error) {
            if (!isConfigError(error)) throw error;
            expect(error.code).toBe("interpolation.syntax");
          }
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });

  it.each(["${", "${f:[", "${f:{a:", "${a:${b:"])("refuses endless nesting of %s", (text) => {
    expect(() => parseInterpolation(text.repeat(20_000))).toThrowError(
      expect.objectContaining({ code: "interpolation.syntax" }),
    );
  });
});

describe("parseElement", () => {
  it.each([
    { text: "1_000", value: 1000n },
    { text: "-0", value: 0n },
    { text: "01", value: "01" },
    { text: "1e3", value: 1000 },
    { text: ".5", value: 0.5 },
    { text: "NaN", value: Number.NaN },
    { text: "-inf", value: Number.NEGATIVE_INFINITY },
    { text: "TRUE", value: true },
    { text: "Null", value: null },
    { text: "None", value: "None" },
    { text: "\\,\\ x", value: ", x" },
  ])("reads $text", ({ text, value }) => {
    const element = parseElement(text);
    if (element.kind === "primitive") expect(element.value).toEqual(value);
    else expect(element).toMatchObject({ parts: [{ text: value }] });
  });
});

const SYNTAX = expect.objectContaining({ code: "interpolation.syntax" });

describe("a text that the grammar refuses", () => {
  it.each(["${:x}", "x ${ : a , b } y", "${f:\nx}", "${\ff:x\n}", "${a}${:0.1}"])(
    "may stand in a config: %j",
    (text) => {
      expect(() => parseInterpolation(text)).toThrow(SYNTAX);
      expect(() => checkSyntax(text, DEFAULT_DIALECT)).not.toThrow();
    },
  );

  it.each(["${:}", "${:é}", "${:x}${", "${a:b\u00a0}", "${:'x'}", "${:x", "${a:b c}${:[1]}"])(
    "may not stand in a config: %j",
    (text) => {
      expect(() => checkSyntax(text, DEFAULT_DIALECT)).toThrow(SYNTAX);
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
      expect(() => checkSyntax(text, DEFAULT_DIALECT, () => parseInterpolation("${"))).toThrow(
        SYNTAX,
      );
  });
});
