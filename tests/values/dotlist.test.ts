import { expect, it } from "vitest";
import { fromDotlist, mergeDotlist } from "../../src/values/dotlist.ts";
import { child } from "../../src/values/node.ts";
import { show, yaml } from "./trees.ts";

it("reads values as YAML, not as overrides", () => {
  const node = fromDotlist(["a.b=017", "c={b:1}", "d", "e=", "f=[1, x]", "a.g=yes"]);
  expect(show(node)).toBe(
    "a:\n  b: 15\n  g: true\nc:\n  b:1: null\nd: null\ne: null\nf:\n- 1\n- x\n",
  );
});

it("applies the texts in order, and remembers them", () => {
  const node = mergeDotlist(yaml("a: 1"), ["a=2", "a=3"]);
  expect(child(node, "a")).toMatchObject({
    value: 3n,
    origin: { kind: "override", text: "a=3", index: 1 },
    replaced: { origin: { text: "a=2", index: 0 } },
  });
});

it("names the keys of what it refuses in a value", () => {
  const key = (expected: string) =>
    expect.objectContaining({ details: expect.objectContaining({ key: expected }) });
  expect(() => fromDotlist(["a.b=[1, '${']"])).toThrow(key("a.b[1]"));
  expect(() => fromDotlist(["a.b={c: {null: 1}}"])).toThrow(key("a.b.c"));
  expect(() => fromDotlist(["a.z=!!set {a}"])).toThrow(key("a.z"));
  expect(() => fromDotlist(["a.z=[1, !!set {a}]"])).toThrow(key("a.z[1]"));
  const list = yaml("l: [1, 2]");
  expect(() => mergeDotlist(list, ["l.0=!!timestamp 2001-12-14"])).toThrow(key("l[0]"));
});

it.each([
  { text: "a=[1", code: "yaml.syntax" },
  { text: "a=${", code: "interpolation.syntax" },
  { text: "a={null: 1}", code: "key.invalid_type" },
  { text: "a=!!set {a}", code: "value.wrong_type" },
])("refuses $text", ({ text, code }) => {
  expect(() => fromDotlist([text])).toThrowError(expect.objectContaining({ code }));
});

it("refuses the key before a value that has no place in a config", () => {
  expect(() => mergeDotlist(yaml("l: [1]"), ["l.7=!!set {a}"])).toThrowError(
    expect.objectContaining({ code: "key.not_found" }),
  );
});
