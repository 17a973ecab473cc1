import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../src/values/errors.ts";
import { readYaml } from "../../../../src/values/reader.ts";
import { plain } from "../plain-values.ts";

describe("!!int", () => {
  it.each<[string, bigint]>([
    ["-0", 0n],
    ["017", 15n],
    ["-0_17", -15n],
    ["0x_fF", 255n],
    ["-0b1_01", -5n],
    ["1:30", 90n],
    ["-190:20:30", -685230n],
    ["1__000_", 1000n],
    ["!!int '0o17'", 15n],
    ["!!int ' 12 '", 12n],
    ["9".repeat(4300), BigInt("9".repeat(4300))],
  ])("reads %s", (text, expected) => {
    expect(plain(readYaml(text))).toBe(expected);
  });

  // The last: Python converts no more than 4300 decimal digits.
  it.each(["!!int x", "!!int ''", "!!int 1.5", "!!int 08", "0x_", "9".repeat(4301)])(
    "refuses %s",
    (text) => {
      expect(() => readYaml(text)).toThrow(ConfigError);
    },
  );
});

describe("!!float", () => {
  it.each<[string, number]>([
    ["1e3", 1000],
    ["1_0.5_", 10.5],
    ["-0.0", -0],
    ["1e400", Number.POSITIVE_INFINITY],
    ["-.Inf", Number.NEGATIVE_INFINITY],
    [".NaN", Number.NaN],
    ["190:20:30.15", 685230.15],
    ["!!float 1", 1],
    ["!!float infinity", Number.POSITIVE_INFINITY],
  ])("reads %s", (text, expected) => {
    expect(plain(readYaml(text))).toBe(expected);
  });

  it("refuses a text that is no number", () => {
    expect(() => readYaml("!!float x")).toThrow(ConfigError);
  });
});
