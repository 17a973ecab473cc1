import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillTemplate } from "../../../src/app/python/python-template.ts";
import { isConfigError } from "../../../src/values/errors.ts";

describe("fillTemplate", () => {
  test.each([
    ["a $X b", "a 1 b"],
    ["${X}$Y.", "1$2."],
    ["$$X costs $$1", "$X costs $1"],
    ["", ""],
  ])("%j", (template, expected) => {
    expect(fillTemplate(template, { X: "1", Y: "$2" })).toBe(expected);
  });

  test.each(["$Z", "${Z}", "$", "a $ b", "$1", "${}", "${X", "$toString", "$é"])(
    "refuses %j",
    (template) => {
      try {
        fillTemplate(template, { X: "1" });
        expect.unreachable();
      } catch (error) {
        expect(isConfigError(error) && error.code).toBe("app.help_template");
      }
    },
  );

  test("text without dollar signs, and values of any kind, are left alone", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, value) => {
        const plain = text.replaceAll("$", "");
        expect(fillTemplate(`${plain}\${V}${plain}`, { V: value })).toBe(plain + value + plain);
      }),
    );
  });
});
