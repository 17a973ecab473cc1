import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../src/engine/values/errors.ts";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";
import { plain } from "./plain-values.ts";

const bytes = (text: string): unknown => plain(readYaml(`!!binary "${text}"`));

describe("!!binary", () => {
  it.each([
    ["aGVsbG8=", "hello"],
    ["aGVs bG8=", "hello"],
    ["aG-Vs#bG8=", "hello"],
    ["aGVsbG8=d29ybGQ=", "hello"],
    ["!!", ""],
    ["", ""],
  ])("decodes %j as Python does", (text, expected) => {
    expect(bytes(text)).toEqual(new TextEncoder().encode(expected));
  });

  it.each(["abc", "a", "YQ=", "é"])("refuses %j", (text) => {
    expect(() => bytes(text)).toThrow(ConfigError);
  });
});

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

describe("a tagged text that is no number", () => {
  it.each([
    ['!!int "x\\ny"', "invalid literal for int() with base 10: 'x\\ny'"],
    ["!!int -1:x", "invalid literal for int() with base 10: 'x'"],
    ["!!int 1_8a", "invalid literal for int() with base 10: '18a'"],
    ["!!int 08", "invalid literal for int() with base 8: '08'"],
    ["!!int 0b12", "invalid literal for int() with base 2: '12'"],
    ["!!int -0xG", "invalid literal for int() with base 16: 'G'"],
    ["!!float -nULL_", "could not convert string to float: 'null'"],
    ["!!float '1:\\n'", "could not convert string to float: '\\\\n'"],
  ])("%s: names what Python could not read", (text, message) => {
    expect(() => readYaml(text)).toThrow(expect.objectContaining({ message }));
  });
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
