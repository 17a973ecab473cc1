import { describe, expect, it } from "vitest";
import { mergeNodes } from "../../../../src/engine/values/edit/merge.ts";
import { updateNode } from "../../../../src/engine/values/edit/update.ts";
import {
  type ConfigNode,
  child,
  list,
  map,
  type NodeType,
  scalar,
} from "../../../../src/engine/values/node.ts";
import { pyStr } from "../../../../src/engine/values/python-text.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import { ORIGIN, show, value, yaml } from "../trees.ts";
import { assign, COLOR, INT, OBJECT, STR, typed, withField } from "./typed-trees.ts";

it("names the class of the node that would replace a list", () => {
  const type: NodeType = { kind: "list", element: INT };
  const lists = mergeNodes([withField(type, "???"), yaml("f: [1]")]);
  expect(() => mergeNodes([lists, yaml("f: 3")])).toThrowError(
    "Invalid value assigned: AnyNode is not a ListConfig, list or tuple.",
  );
});

describe("typed nodes", () => {
  it.each<[NodeType, string, string]>([
    [INT, "[1]", "Value '[1]' of type 'ListConfig' could not be converted to Integer"],
    [{ kind: "str" }, "{a: 1}", "Cannot convert 'DictConfig' to string: '{'a': 1}'"],
    [
      { kind: "map", key: INT, element: INT },
      "[x]",
      "Invalid type assigned: list is not a subclass of Dict[int, int]. value: ['x']",
    ],
    [
      { kind: "map", key: INT, element: INT, optional: true },
      "abc",
      "Cannot assign str to Dict[int, int]",
    ],
  ])("say what is wrong with a value: %j, %s", (type, text, message) => {
    expect(() => assign(type, text)).toThrow(expect.objectContaining({ message }));
  });

  const member = (type: NodeType, name: string): ConfigNode => ({ ...scalar(name, ORIGIN), type });
  const SIZE: NodeType = { kind: "enum", name: "Size", members: ["S"], values: ["s"] };
  const put = (type: NodeType, given: ConfigNode): ConfigNode => {
    const field = child(mergeNodes([typed(type), map([["f", given]], ORIGIN)]), "f");
    if (field === undefined) throw new Error("no field");
    return field;
  };

  it("take both booleans as keys where whole numbers are, which Python's are", () => {
    const numbered: NodeType = { kind: "map", key: INT, element: INT };
    expect(assign(numbered, "{true: 5, false: 6}")).toBe("f:\n  true: 5\n  false: 6");
    expect(() => assign({ ...numbered, key: { kind: "float" } }, "{false: 6}")).toThrow(
      "Key False (bool) is incompatible with (float)",
    );
  });

  it("take a member of an enum as a text of its own, and else only where its enum stands", () => {
    const red = member(COLOR, "RED");
    expect(pyStr(put(STR, red))).toBe("Color.RED");
    expect(pyStr(put({ kind: "list", element: STR }, list([red], ORIGIN)))).toBe("['Color.RED']");
    expect(pyStr(put({ kind: "list", element: COLOR }, list([red], ORIGIN)))).toBe(
      "[<Color.RED: 1>]",
    );
    const union: NodeType = { kind: "union", members: [COLOR, STR] };
    const held = put(union, red);
    expect(pyStr(held)).toBe("Color.RED");
    // It stays a member where it is merged on, and a text that takes its place is none.
    expect(pyStr(put(union, held))).toBe("Color.RED");
    expect(pyStr(put(STR, held))).toBe("Color.RED");
    expect(pyStr(put(union, value("RED")))).toBe("RED");
    expect(put(union, value("RED")).type).toEqual(union);
  });

  it.each<[NodeType, string]>([
    [INT, "Value 'Color.RED' of type 'Color' could not be converted to Integer"],
    [{ kind: "path" }, "Value 'Color.RED' of type 'Color' could not be converted to Path"],
    [{ kind: "bool" }, "Value 'Color.RED' is not a valid bool (type Color)"],
    [{ kind: "bytes" }, "Value 'Color.RED' of type 'Color' is not of type 'bytes'"],
    [SIZE, "Value Color.RED (Color) is not a valid input for <enum 'Size'>"],
    [
      { kind: "union", members: [SIZE, STR] },
      "Value 'Color.RED' of type 'Color' is incompatible with type hint 'Union[Size, str]'",
    ],
  ])("refuse a member of another enum: %o", (type, message) => {
    expect(() => put(type, member(COLOR, "RED"))).toThrow(expect.objectContaining({ message }));
  });

  it.each<[NodeType, string, string, string]>([
    [COLOR, "1.5", "Value 1.5 (float) is not a valid input for <enum 'Color'>", "f"],
    [COLOR, "true", "Invalid value 'True', expected one of [RED, GREEN]", "f"],
    [
      INT,
      "!!python/object/apply:pathlib.PosixPath [a]",
      "Value 'a' of type 'pathlib.PosixPath' could not be converted to Integer",
      "f",
    ],
    [
      { kind: "union", members: [INT, STR] },
      "null",
      "Value 'None' is incompatible with type hint 'Union[int, str]'",
      "f",
    ],
    [
      { kind: "union", members: [INT, STR] },
      "[1]",
      "Cannot assign container '[1]' of type 'ListConfig' to Union[int, str]",
      "f",
    ],
    [{ kind: "list", element: INT }, "null", "field 'f' is not Optional", "f"],
    [
      { kind: "list", element: INT },
      "1",
      "Invalid value assigned: AnyNode is not a ListConfig, list or tuple.",
      "f",
    ],
    [
      { kind: "list", element: INT },
      "[null]",
      "Invalid type assigned: NoneType is not a subclass of int. value: None",
      "f[0]",
    ],
    [{ kind: "map", key: STR, element: INT }, "{a: null}", "field 'f.a' is not Optional", "f.a"],
    [
      { kind: "map", key: COLOR, element: INT },
      "{1: x}",
      "Value 'x' of type 'str' could not be converted to Integer",
      "f.RED",
    ],
    [
      { kind: "map", key: STR, element: { kind: "list", element: INT } },
      "{a: 1}",
      "Value 1 (int) is incompatible with type hint 'typing.List[int]'",
      "f.a",
    ],
    [
      { kind: "map", key: STR, element: OBJECT },
      "{a: [1]}",
      "Cannot merge DictConfig with ListConfig",
      "f.a",
    ],
  ])("say what is wrong with what is merged: %o, %s", (type, text, message, key) => {
    const details = expect.objectContaining({ message, key });
    expect(() => assign(type, text)).toThrow(expect.objectContaining({ details }));
  });

  it.each<[NodeType, string, string]>([
    [INT, "[1]", "Value '[1]' of type 'list' could not be converted to Integer"],
    [STR, "{a: 1}", "Cannot convert 'dict' to string: '{'a': 1}'"],
    [COLOR, "[1]", "Value [1] (list) is not a valid input for <enum 'Color'>"],
    [INT, "null", "field 'f' is not Optional"],
    [
      { kind: "list", element: INT },
      "true",
      "Invalid value assigned: bool is not a ListConfig, list or tuple.",
    ],
    [{ kind: "list", element: INT }, "{a: 1}", "Cannot merge DictConfig with ListConfig"],
    [{ kind: "map", key: STR, element: INT }, "[1]", "Cannot merge DictConfig with ListConfig"],
    [
      { kind: "union", members: [INT, STR] },
      "[1]",
      "Value '[1]' of type 'list' is incompatible with type hint 'Union[int, str]'",
    ],
  ])("say what is wrong with plain data that is set: %o, %s", (type, text, message) => {
    const set = () =>
      updateNode(typed(type), "f", child(yaml(`f: ${text}`), "f") ?? value(null), { plain: true });
    expect(set).toThrow(expect.objectContaining({ message }));
  });

  it("convert all of plain data, and take as they are the maps and lists of a config among scalars", () => {
    const set = (type: NodeType, text: string, plain: boolean) =>
      show(updateNode(typed(type), "f", yaml(text), { merge: false, plain }));
    const lists: NodeType = { kind: "list", element: { kind: "list", element: INT } };
    expect(set(lists, "[['1']]", true)).toBe("f:\n- - 1\n");
    expect(() => set(lists, "[['1']]", false)).toThrow("Value '1' (str) is incompatible");
    expect(set({ kind: "list", element: INT }, "[[x]]", false)).toBe("f:\n- - x\n");
    expect(() => set({ kind: "list", element: INT }, "[[x]]", true)).toThrow(
      "Value '['x']' of type 'list'",
    );
    expect(
      show(updateNode(typed({ kind: "list", element: INT }), "f", yaml("[[x]]"), { plain: true })),
    ).toBe("f:\n- - x\n");
    expect(() => set(OBJECT, "{v: 1}", true)).toThrow(
      "dict is not a subclass of D. value: {'v': 1}",
    );
  });

  it("keep what is said of their field where an object of a class stands", () => {
    const optional: NodeType = { ...OBJECT, optional: true };
    const object: ConfigNode = { ...yaml("v: 1"), type: OBJECT };
    const given = mergeNodes([typed(optional), map([["f", object]], ORIGIN)]);
    expect(show(mergeNodes([given, yaml("f: null")]))).toBe("f: null\n");
    expect(() => mergeNodes([given, yaml("f: ${x}")])).toThrow(
      "Merge error: str is not a subclass of D. value: ${x}",
    );
    const declared = typed({ kind: "map", key: STR, element: INT });
    expect(() => mergeNodes([declared, map([["f", object]], ORIGIN)])).toThrow(
      "Cannot assign D to Dict[str, int]",
    );
  });

  it("convert what is merged into an object that is missing as they do in one that is there", () => {
    const fields = new Map<string, NodeType>([
      ["n", { kind: "list", element: INT }],
      ["v", INT],
    ]);
    const lists: NodeType = { kind: "object", name: "L", fields };
    expect(show(mergeNodes([typed(lists), yaml("f: {n: ['1']}")]))).toBe("f:\n  'n':\n  - 1\n");
    expect(() => mergeNodes([typed(lists), yaml("f: {v: {n: 1}}")])).toThrow(
      "Value '{'n': 1}' of type 'DictConfig' could not be converted to Integer",
    );
  });

  it("say of a list that what is null is a map, and of what is missing what its class is", () => {
    const optional: NodeType = { ...OBJECT, optional: true };
    const given = mergeNodes([typed(optional), yaml("f: null")]);
    expect(() => mergeNodes([given, yaml("f: [1]")])).toThrow(
      "Cannot merge DictConfig with ListConfig",
    );
    expect(() => mergeNodes([typed(optional), yaml("f: [1]")])).toThrow(
      "Invalid type assigned: list is not a subclass of D. value: [1]",
    );
  });

  it("let an object take the place of one, and a reference that is declared to be one", () => {
    const given = mergeNodes([typed(OBJECT), yaml("f: {v: 1}")]);
    expect(() => updateNode(given, "f", yaml("v: 2"), { merge: false })).toThrow(
      "Invalid type assigned: dict is not a subclass of D. value: {'v': 2}",
    );
    const reference: ConfigNode = { ...scalar("${x}", ORIGIN), type: OBJECT };
    expect(show(mergeNodes([given, map([["f", reference]], ORIGIN)]))).toBe("f: ${x}\n");
  });

  it.each(["'???'", "{v: 1}", "'${f}'", "'${nope}'"])(
    "let no object of another class take the place of %s in a map",
    (old) => {
      const objects = typed({ kind: "map", key: STR, element: OBJECT });
      const given = mergeNodes([objects, yaml(`f: {a: ${old}}`)]);
      const other = { ...map([], ORIGIN), type: { ...OBJECT, name: "E" } };
      const put = (key: string) => show(updateNode(given, key, other, { merge: false }));
      expect(() => put("f.a")).toThrow(
        "Invalid type assigned: E is not a subclass of D. value: {}",
      );
      expect(put("f.b")).toContain("b: {}");
    },
  );

  it("are refused on the way to a key as the map that would have to stand there", () => {
    expect(() => updateNode(typed(INT), "f.a", value(1n))).toThrow(
      "Value '{}' of type 'dict' could not be converted to Integer",
    );
  });

  it("are not made on the way to a key: what is declared must have been given", () => {
    const list: NodeType = { kind: "list", element: INT, optional: true };
    const code = (expected: string) => expect.objectContaining({ code: expected });
    expect(() => updateNode(typed(list), "f.0", value(1n))).toThrow(code("value.missing"));
    const unset = mergeNodes([typed(list), yaml("f: null")]);
    expect(() => updateNode(unset, "f.0", value(1n))).toThrow(code("value.wrong_type"));
  });

  it("take an object's place where any type is declared", () => {
    const inner = typed(INT);
    const open = map([["a", inner]], ORIGIN);
    const closed = typed({ kind: "object", name: "C", fields: new Map([["f", INT]]) });
    expect(show(updateNode(open, "a", value(1n)))).toBe("a: 1\n");
    expect(() => updateNode(closed, "f", value(1n))).toThrow(
      expect.objectContaining({ code: "value.wrong_type" }),
    );
  });

  it.each<[NodeType, string]>([
    [{ kind: "str" }, "[1]"],
    [{ kind: "list", element: INT }, "{a: 1}"],
    [{ kind: "map", key: INT, element: INT }, "[1]"],
    [{ kind: "object", name: "D", fields: new Map() }, "[1]"],
  ])("%j does not take %s that an interpolation leads to, once it is written", (type, other) => {
    const root = mergeNodes([typed(type), yaml("f: '${.f}'")]);
    const around = map(
      [
        ["l", yaml(other)],
        ["o", mergeNodes([root, yaml("f: '${l}'")])],
      ],
      ORIGIN,
    );
    expect(() => resolveTree(around, createResolveContext({ env: {} }), IN_PLACE)).toThrow(
      expect.objectContaining({ code: "value.wrong_type" }),
    );
  });

  it.each<{ type: NodeType; from: string; to: string }>([
    { type: INT, from: "' 1_0 '", to: "f: 10" },
    { type: { kind: "float" }, from: "2", to: "f: 2.0" },
    { type: { kind: "float" }, from: "inf", to: "f: .inf" },
    { type: { kind: "bool" }, from: "'Yes'", to: "f: true" },
    { type: { kind: "bool" }, from: "2", to: "f: true" },
    { type: { kind: "str" }, from: "1.0e-7", to: "f: '1e-07'" },
    { type: { kind: "str", optional: true }, from: "null", to: "f: null" },
    { type: COLOR, from: "Color.GREEN", to: "f: GREEN" },
    { type: COLOR, from: "1", to: "f: RED" },
    { type: { kind: "union", members: [INT, { kind: "str" }] }, from: "'1'", to: "f: '1'" },
    { type: { kind: "list", element: INT }, from: "['1', 2]", to: "f:\n- 1\n- 2" },
    { type: { kind: "map", key: COLOR, element: INT }, from: "{RED: '1'}", to: "f:\n  RED: 1" },
    { type: INT, from: "${x}", to: "f: ${x}" },
    { type: INT, from: "???", to: "f: ???" },
  ])("convert $from to $to", ({ type, from, to }) => {
    expect(assign(type, from)).toBe(to);
  });

  it.each<{ type: NodeType; from: string; code: string }>([
    { type: INT, from: "1.5", code: "value.wrong_type" },
    { type: INT, from: "true", code: "value.wrong_type" },
    { type: INT, from: "null", code: "value.wrong_type" },
    { type: INT, from: "[1]", code: "value.wrong_type" },
    { type: { kind: "bool" }, from: "maybe", code: "value.wrong_type" },
    { type: { kind: "str" }, from: "!!binary aGk=", code: "value.wrong_type" },
    { type: COLOR, from: "BLUE", code: "value.wrong_type" },
    { type: { kind: "union", members: [INT] }, from: "'1'", code: "value.wrong_type" },
    { type: { kind: "list", element: INT }, from: "[a]", code: "value.wrong_type" },
    { type: { kind: "list", element: INT }, from: "{a: 1}", code: "merge.incompatible" },
    { type: { kind: "map", key: INT, element: INT }, from: "{a: 1}", code: "key.invalid_type" },
    {
      type: { kind: "list", element: { kind: "list", element: INT } },
      from: "[['1']]",
      code: "value.wrong_type",
    },
  ])("refuse $from as $code", ({ type, from, code }) => {
    expect(() => assign(type, from)).toThrowError(expect.objectContaining({ code }));
  });

  it("refuse keys that their class does not declare, unless they are forced", () => {
    const object = typed(INT);
    expect(() => updateNode(object, "g", value(1n))).toThrowError(
      expect.objectContaining({ code: "value.struct" }),
    );
    expect(show(updateNode(object, "g", value(1n), { forceAdd: true }))).toBe("f: ???\ng: 1\n");
  });

  it("convert what their interpolation gives", () => {
    const context = createResolveContext({ env: {} });
    const root = mergeNodes([typed(INT), map([["f", value("${oc.decode:\"'7'\"}")]], ORIGIN)]);
    expect(show(resolveTree(root, context))).toBe("f: 7\n");
    const wrong = mergeNodes([typed(INT), map([["f", value("${oc.decode:x}")]], ORIGIN)]);
    expect(() => resolveTree(wrong, context)).toThrowError(
      expect.objectContaining({ code: "value.wrong_type" }),
    );
  });

  it("take what an interpolation gives for what it is, also where it looks like another one or is ???", () => {
    const context = createResolveContext({ env: {} });
    const given = (type: NodeType, text: string) =>
      show(resolveTree(mergeNodes([typed(type), map([["f", value(text)]], ORIGIN)]), context));
    for (const text of ["\\${x}", "${oc.decode:\"'???'\"}"])
      expect(() => given(INT, text)).toThrowError(
        /^While dereferencing interpolation '.*to Integer$/,
      );
    expect(given({ kind: "str" }, "\\${x}")).toBe("f: ${x}\n");
  });
});
