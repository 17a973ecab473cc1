import { describe, expect, it } from "vitest";
import { createResolveContext } from "../../../src/values/interpolation/context.ts";
import { IN_PLACE, resolveTree } from "../../../src/values/interpolation/resolve-tree.ts";
import { mergeNodes } from "../../../src/values/merge.ts";
import type { ConfigNode, NodeType } from "../../../src/values/node.ts";
import { child, list, map, scalar } from "../../../src/values/node.ts";
import { pyStr } from "../../../src/values/python-text.ts";
import { ORIGIN, yaml } from "../trees.ts";

const INT: NodeType = { kind: "int" };
const STR: NodeType = { kind: "str" };
const COLOR: NodeType = { kind: "enum", name: "Color", members: ["RED"] };
const NUMBER_OR_TEXT: NodeType = { kind: "union", members: [INT, STR] };
const OBJECT = { kind: "object", name: "D", fields: new Map([["v", INT]]) } as const;
const listOf = (element: NodeType) => ({ kind: "list", element }) as const;
const mapOf = (element: NodeType, key: NodeType = STR): NodeType => ({ kind: "map", key, element });

const objectOf = (name: string): ConfigNode => ({
  ...yaml("v: 5"),
  type: { kind: "object", name, fields: new Map([["v", INT]]) },
});
const listed = (item: ConfigNode): ConfigNode => list([item], ORIGIN);
const named = (value: ConfigNode): ConfigNode => map([["a", value]], ORIGIN);

/** A tree in which the field of a type is to be, or refers to, a value: as both `merge` and `resolve` take it. */
const merged = (type: NodeType, value: ConfigNode): ConfigNode => {
  const object = { kind: "object", name: "C", fields: new Map([["f", type]]) } as const;
  const declared = { ...map([["f", { ...scalar("???", ORIGIN), type }]], ORIGIN), type: object };
  return mergeNodes([declared, map([["f", value]], ORIGIN)]);
};
const resolved = (type: NodeType, value: ConfigNode): ConfigNode => {
  const field: ConfigNode = { ...scalar("${x}", ORIGIN), type };
  const tree = map(Object.entries({ f: field, x: value }), ORIGIN);
  return resolveTree(tree, createResolveContext({ env: {} }), IN_PLACE);
};

describe.each([
  ["merged into", merged],
  ["resolved to", resolved],
])("lists and maps within others that are %s a field", (_, put) => {
  const shown = (type: NodeType, value: ConfigNode): string => {
    const field = child(put(type, value), "f");
    return field === undefined ? "" : pyStr(field);
  };

  it.each<[NodeType, string, string]>([
    [listOf(listOf(OBJECT)), "[[{z: 2}]]", "[[{'z': 2}]]"],
    [mapOf(listOf(OBJECT)), "{a: [{v: '3'}]}", "{'a': [{'v': '3'}]}"],
    [
      listOf(mapOf({ ...OBJECT, optional: true })),
      "[{a: {z: 2}, b: }]",
      "[{'a': {'z': 2}, 'b': None}]",
    ],
    [listOf(listOf(INT)), "[[true, '???']]", "[[True, '???']]"],
    [listOf(mapOf(INT, INT)), "[{true: 1}]", "[{True: 1}]"],
    [listOf(listOf(COLOR)), "[[RED]]", "[[<Color.RED: 'RED'>]]"],
    [mapOf(listOf(COLOR)), "{a: [RED]}", "{'a': [<Color.RED: 'RED'>]}"],
    [mapOf(mapOf(COLOR)), "{a: {b: RED}}", "{'a': {'b': <Color.RED: 'RED'>}}"],
    [listOf(mapOf(COLOR)), "[{b: RED}]", "[{'b': <Color.RED: 'RED'>}]"],
    [listOf(listOf(NUMBER_OR_TEXT)), "[[1, a]]", "[[1, 'a']]"],
    [mapOf(listOf(NUMBER_OR_TEXT)), "{a: [1, b]}", "{'a': [1, 'b']}"],
    [mapOf(mapOf(NUMBER_OR_TEXT)), "{a: {b: c}}", "{'a': {'b': 'c'}}"],
    [listOf(listOf({ kind: "any" })), "[[1, {a: 2}]]", "[[1, {'a': 2}]]"],
  ])("are taken as they are: %j takes %s", (type, text, expected) => {
    expect(shown(type, yaml(text))).toBe(expected);
  });

  it("may hold objects of any class, and be one", () => {
    expect(shown(listOf(listOf(OBJECT)), listed(listed(objectOf("F"))))).toBe("[[{'v': 5}]]");
    expect(shown(mapOf(listOf(OBJECT)), named(listed(objectOf("F"))))).toBe("{'a': [{'v': 5}]}");
    expect(shown(listOf(mapOf(OBJECT)), listed(named(objectOf("F"))))).toBe("[{'a': {'v': 5}}]");
    expect(shown(listOf(mapOf(INT)), listed(objectOf("F")))).toBe("[{'v': 5}]");
  });

  it.each<[NodeType, string, string, string]>([
    [
      listOf(listOf(INT)),
      "[['3']]",
      "Value '3' (str) is incompatible with type hint 'int'",
      "f[0][0]",
    ],
    [
      listOf(listOf(INT)),
      "[[{a: 1}]]",
      "'DictConfig' is incompatible with type hint '<class 'int'>'",
      "f[0][0]",
    ],
    [
      listOf(mapOf({ kind: "float" })),
      "[{a: 1}]",
      "Value 1 (int) is incompatible with type hint 'float'",
      "f[0].a",
    ],
    [
      listOf(listOf(listOf(INT))),
      "[{a: 1}]",
      "'DictConfig' is incompatible with type hint 'typing.List[typing.List[int]]'",
      "f[0]",
    ],
    [
      listOf(mapOf({ ...listOf(INT), optional: true })),
      "[[]]",
      "'ListConfig' is incompatible with type hint 'typing.Dict[str, typing.Optional[typing.List[int]]]'",
      "f[0]",
    ],
    [
      listOf(listOf({ kind: "path" })),
      "[[[]]]",
      "'ListConfig' is incompatible with type hint '<class 'pathlib.Path'>'",
      "f[0][0]",
    ],
    [
      listOf(listOf(NUMBER_OR_TEXT)),
      "[[{}]]",
      "'DictConfig' is incompatible with type hint 'typing.Union[int, str]'",
      "f[0][0]",
    ],
    [
      listOf(listOf(COLOR)),
      "[[{}]]",
      "'DictConfig' is incompatible with type hint '<enum 'Color'>'",
      "f[0][0]",
    ],
    [
      listOf(listOf(OBJECT)),
      "[[3]]",
      "Value 3 (int) is incompatible with type hint '<class 'D'>'",
      "f[0][0]",
    ],
    [
      listOf(listOf(INT)),
      "[[null]]",
      "Incompatible value 'None' for field of type 'int'",
      "f[0][0]",
    ],
    [
      listOf(mapOf(INT)),
      "[{2: 3}]",
      "Key 2 (int) is incompatible with key type hint 'str'",
      "f[0].2",
    ],
  ])(
    "are refused where something in them does not fit: %j does not take %s",
    (type, text, message, key) => {
      const details = expect.objectContaining({ message, key });
      expect(() => shown(type, yaml(text))).toThrowError(expect.objectContaining({ details }));
    },
  );

  it("do not take a member of an enum for a text", () => {
    const member: ConfigNode = { ...scalar("RED", ORIGIN), type: COLOR };
    expect(() => shown(listOf(listOf(STR)), listed(listed(member)))).toThrowError(
      "(Color) is incompatible with type hint 'str'",
    );
  });
});
