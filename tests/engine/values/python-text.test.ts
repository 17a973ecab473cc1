import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ConfigNode, type ScalarValue, scalar } from "../../../src/engine/values/node.ts";
import {
  floatRepr,
  parsePythonFloat,
  parsePythonInt,
  pyRepr,
  pyStr,
  pyTypeName,
} from "../../../src/engine/values/python-text.ts";
import { ORIGIN, yaml } from "./trees.ts";

describe("python text", () => {
  const bytes = new Uint8Array([0x27, 0x61, 0x00, 0xff, 0x0a]);

  it.each<{ value: ScalarValue; str: string; repr: string; type: string }>([
    { value: null, str: "None", repr: "None", type: "NoneType" },
    { value: true, str: "True", repr: "True", type: "bool" },
    { value: 10n ** 20n, str: `1${"0".repeat(20)}`, repr: `1${"0".repeat(20)}`, type: "int" },
    { value: 1e-7, str: "1e-07", repr: "1e-07", type: "float" },
    { value: 2, str: "2.0", repr: "2.0", type: "float" },
    { value: "it's", str: "it's", repr: `"it's"`, type: "str" },
    { value: `'"`, str: `'"`, repr: `'\\'"'`, type: "str" },
    {
      value: "a\n\t\\\u200b\u{1f600}é",
      str: "a\n\t\\\u200b\u{1f600}é",
      repr: "'a\\n\\t\\\\\\u200b😀é'",
      type: "str",
    },
    { value: bytes, str: `b"'a\\x00\\xff\\n"`, repr: `b"'a\\x00\\xff\\n"`, type: "bytes" },
    { value: { path: "a/b" }, str: "a/b", repr: "PosixPath('a/b')", type: "PosixPath" },
  ])("shows $repr as Python does", ({ value, str, repr, type }) => {
    expect(pyStr(value)).toBe(str);
    expect(pyRepr(scalar(value, ORIGIN))).toBe(repr);
    expect(pyTypeName(value)).toBe(type);
  });

  it("shows containers with the repr of what they hold", () => {
    expect(pyStr(yaml("a: [1, x, null]\n1: {b: 1.5}\nr: ${a}"))).toBe(
      "{'a': [1, 'x', None], 1: {'b': 1.5}, 'r': '${a}'}",
    );
  });

  it("shows enum members with the name of their enum", () => {
    const member: ConfigNode = {
      ...scalar("RED", ORIGIN),
      type: { kind: "enum", name: "Color", members: ["RED"] },
    };
    expect(pyStr(member)).toBe("Color.RED");
  });
});

describe("floatRepr", () => {
  it.each([
    [0, "0.0"],
    [-0, "-0.0"],
    [1, "1.0"],
    [100000, "100000.0"],
    [0.1, "0.1"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1.5e-7, "1.5e-07"],
    [1e15, "1000000000000000.0"],
    [123456789012345680, "1.2345678901234568e+17"],
    [1e16, "1e+16"],
    [9999999999999998, "9999999999999998.0"],
    [1e100, "1e+100"],
    [-1e-300, "-1e-300"],
    [5e-324, "5e-324"],
    [Number.POSITIVE_INFINITY, "inf"],
    [Number.NEGATIVE_INFINITY, "-inf"],
    [Number.NaN, "nan"],
  ])("%d -> %s", (value, text) => {
    expect(floatRepr(value)).toBe(text);
  });

  it("is read back as the same double", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parsePythonFloat(floatRepr(value))).toBe(value);
      }),
    );
  });

  it("always looks like a float, never like an int", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parsePythonInt(floatRepr(value))).toBeNull();
      }),
    );
  });
});

describe("parsePythonInt", () => {
  it.each([
    ["0", 0n],
    ["007", 7n],
    ["-0", 0n],
    ["+12", 12n],
    [" 1\v", 1n],
    ["\u30001", 1n],
    ["1_000_000", 1000000n],
    ["0_0", 0n],
    ["１２", 12n],
    ["٣", 3n],
    ["𝟗", 9n],
    ["𝟘", 0n],
    ["9007199254740993", 9007199254740993n],
    ["1".repeat(4300), BigInt("1".repeat(4300))],
  ])("accepts %j", (text, value) => {
    expect(parsePythonInt(text)).toBe(value);
  });

  it.each([
    "",
    " ",
    "+",
    "+ 1",
    "--1",
    "1__0",
    "_1",
    "1_",
    "1 2",
    "1.0",
    "0x10",
    "1e5",
    "\x1c1",
    "1\u20282",
    "²",
    "1\0",
    "1".repeat(4301),
  ])("refuses %j", (text) => {
    expect(parsePythonInt(text)).toBeNull();
  });
});

describe("parsePythonFloat", () => {
  it.each([
    ["1", 1],
    [".5", 0.5],
    ["5.", 5],
    ["+.5e-3", 0.0005],
    ["1_0e1_0", 1e11],
    ["1e400", Number.POSITIVE_INFINITY],
    ["-1e400", Number.NEGATIVE_INFINITY],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-inF", Number.NEGATIVE_INFINITY],
    ["+NaN", Number.NaN],
    ["-0", -0],
    ["\x851", 1],
    ["１.５", 1.5],
  ])("accepts %j", (text, value) => {
    expect(parsePythonFloat(text)).toBe(value);
  });

  it.each([
    "",
    ".",
    "1._5",
    "1_.5",
    "1e_5",
    "1e",
    "0x1p3",
    "in f",
    "ｉnf",
    "infinit_y",
    "\x1f1",
    "1,5",
  ])("refuses %j", (text) => {
    expect(parsePythonFloat(text)).toBeNull();
  });
});

describe("both", () => {
  it("take linear time over blanks", () => {
    const blanks = `1${" ".repeat(1_000_000)}x`;
    expect([parsePythonInt(blanks), parsePythonFloat(blanks)]).toEqual([null, null]);
  });
});
