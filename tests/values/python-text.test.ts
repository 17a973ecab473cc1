import { expect, it } from "vitest";
import type { ConfigNode, ScalarValue } from "../../src/values/node.ts";
import { scalar } from "../../src/values/node.ts";
import { pyRepr, pyStr, pyTypeName } from "../../src/values/python-text.ts";
import { ORIGIN, yaml } from "./trees.ts";

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
