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
import { withFlags } from "../../../../src/engine/values/place.ts";
import { pyStr } from "../../../../src/engine/values/python-text.ts";
import {
  asDeclared,
  createResolveContext,
} from "../../../../src/engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import { missingKeys, selectNode } from "../../../../src/engine/values/resolution/select.ts";
import { ORIGIN, show, value, yaml } from "../trees.ts";
import {
  assign,
  COLOR,
  INT,
  OBJECT,
  SERVER,
  STR,
  typed,
  unlocked,
  withField,
} from "./typed-trees.ts";

const FIT_INT: NodeType = { kind: "int" };
const FIT_STR: NodeType = { kind: "str" };
const FIT_COLOR: NodeType = { kind: "enum", name: "Color", members: ["RED"] };
const NUMBER_OR_TEXT: NodeType = { kind: "union", members: [FIT_INT, FIT_STR] };
const FIT_OBJECT = { kind: "object", name: "D", fields: new Map([["v", FIT_INT]]) } as const;
const listOf = (element: NodeType) => ({ kind: "list", element }) as const;
const mapOf = (element: NodeType, key: NodeType = FIT_STR): NodeType => ({
  kind: "map",
  key,
  element,
});

const objectOf = (name: string): ConfigNode => ({
  ...yaml("v: 5"),
  type: { kind: "object", name, fields: new Map([["v", FIT_INT]]) },
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
    [listOf(listOf(FIT_OBJECT)), "[[{z: 2}]]", "[[{'z': 2}]]"],
    [mapOf(listOf(FIT_OBJECT)), "{a: [{v: '3'}]}", "{'a': [{'v': '3'}]}"],
    [
      listOf(mapOf({ ...FIT_OBJECT, optional: true })),
      "[{a: {z: 2}, b: }]",
      "[{'a': {'z': 2}, 'b': None}]",
    ],
    [listOf(listOf(FIT_INT)), "[[true, '???']]", "[[True, '???']]"],
    [listOf(mapOf(FIT_INT, FIT_INT)), "[{true: 1}]", "[{True: 1}]"],
    [listOf(listOf(FIT_COLOR)), "[[RED]]", "[[<Color.RED: 'RED'>]]"],
    [mapOf(listOf(FIT_COLOR)), "{a: [RED]}", "{'a': [<Color.RED: 'RED'>]}"],
    [mapOf(mapOf(FIT_COLOR)), "{a: {b: RED}}", "{'a': {'b': <Color.RED: 'RED'>}}"],
    [listOf(mapOf(FIT_COLOR)), "[{b: RED}]", "[{'b': <Color.RED: 'RED'>}]"],
    [listOf(listOf(NUMBER_OR_TEXT)), "[[1, a]]", "[[1, 'a']]"],
    [mapOf(listOf(NUMBER_OR_TEXT)), "{a: [1, b]}", "{'a': [1, 'b']}"],
    [mapOf(mapOf(NUMBER_OR_TEXT)), "{a: {b: c}}", "{'a': {'b': 'c'}}"],
    [listOf(listOf({ kind: "any" })), "[[1, {a: 2}]]", "[[1, {'a': 2}]]"],
  ])("are taken as they are: %j takes %s", (type, text, expected) => {
    expect(shown(type, yaml(text))).toBe(expected);
  });

  it("may hold objects of any class, and be one", () => {
    expect(shown(listOf(listOf(FIT_OBJECT)), listed(listed(objectOf("F"))))).toBe("[[{'v': 5}]]");
    expect(shown(mapOf(listOf(FIT_OBJECT)), named(listed(objectOf("F"))))).toBe(
      "{'a': [{'v': 5}]}",
    );
    expect(shown(listOf(mapOf(FIT_OBJECT)), listed(named(objectOf("F"))))).toBe(
      "[{'a': {'v': 5}}]",
    );
    expect(shown(listOf(mapOf(FIT_INT)), listed(objectOf("F")))).toBe("[{'v': 5}]");
  });

  it.each<[NodeType, string, string, string]>([
    [
      listOf(listOf(FIT_INT)),
      "[['3']]",
      "Value '3' (str) is incompatible with type hint 'int'",
      "f[0][0]",
    ],
    [
      listOf(listOf(FIT_INT)),
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
      listOf(listOf(listOf(FIT_INT))),
      "[{a: 1}]",
      "'DictConfig' is incompatible with type hint 'typing.List[typing.List[int]]'",
      "f[0]",
    ],
    [
      listOf(mapOf({ ...listOf(FIT_INT), optional: true })),
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
      listOf(listOf(FIT_COLOR)),
      "[[{}]]",
      "'DictConfig' is incompatible with type hint '<enum 'Color'>'",
      "f[0][0]",
    ],
    [
      listOf(listOf(FIT_OBJECT)),
      "[[3]]",
      "Value 3 (int) is incompatible with type hint '<class 'D'>'",
      "f[0][0]",
    ],
    [
      listOf(listOf(FIT_INT)),
      "[[null]]",
      "Incompatible value 'None' for field of type 'int'",
      "f[0][0]",
    ],
    [
      listOf(mapOf(FIT_INT)),
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
    const member: ConfigNode = { ...scalar("RED", ORIGIN), type: FIT_COLOR };
    expect(() => shown(listOf(listOf(FIT_STR)), listed(listed(member)))).toThrowError(
      "(Color) is incompatible with type hint 'str'",
    );
  });
});

// Interpolations that stand in the place of typed values, and what they lead to.

describe("interpolations in place of objects", () => {
  const objects: NodeType = { kind: "list", element: OBJECT };
  const refused = "Invalid type assigned: str is not a subclass of D. value: ${x}";

  it("are refused in a list of them, however they come there", () => {
    expect(() => assign(objects, "['${x}']")).toThrowError(refused);
    expect(() => updateNode(typed(objects), "f", yaml("['${x}']"))).toThrowError(refused);
    const listed = mergeNodes([typed(objects), yaml("f: [{v: 1}]")]);
    expect(() => updateNode(listed, "f[0]", value("${x}"))).toThrowError(refused);
  });

  it("may stand elsewhere: as a field, in a map, missing in a list, and in lists of anything else", () => {
    const lists: NodeType = { kind: "list", element: { kind: "list", element: INT } };
    expect(show(updateNode(typed(OBJECT), "f", value("${x}")))).toBe("f: ${x}\n");
    expect(assign({ kind: "map", key: STR, element: OBJECT }, "{a: '${x}'}")).toBe("f:\n  a: ${x}");
    expect(assign(objects, "['???']")).toBe("f:\n- ???");
    expect(assign(lists, "['${x}']")).toBe("f:\n- ${x}");
  });
});

const NO_OBJECT = "Invalid type assigned: dict is not a subclass of D.";

/** What `OmegaConf.resolve` makes of an interpolation that stands in a field of a type. */
describe("what an interpolation leads to, written to a field", () => {
  const resolved = (type: NodeType, text: string): string => {
    const tree = mergeNodes([typed(type), yaml("f: ${x}"), yaml(`x: ${text}\ny: 5`)].map(unlocked));
    const node = child(resolveTree(tree, createResolveContext({ env: {} }), IN_PLACE), "f");
    return node === undefined ? "" : pyStr(node);
  };
  const listOf = (element: NodeType): NodeType => ({ kind: "list", element });
  const mapOf = (element: NodeType): NodeType => ({ kind: "map", key: STR, element });

  it.each<[NodeType, string, string]>([
    [listOf(STR), "[1, a]", "['1', 'a']"],
    [listOf(INT), "['${y}']", "[5]"],
    [listOf(INT), "[[1], {v: '2'}, '???']", "[[1], {'v': '2'}, '???']"],
    [listOf(listOf(INT)), "[[1]]", "[[1]]"],
    [mapOf(INT), "{a: '3', b: {c: '4'}}", "{'a': 3, 'b': {'c': '4'}}"],
    [mapOf(OBJECT), "{a: {v: '4'}}", "{'a': {'v': '4'}}"],
  ])("is converted: %j takes %s", (type, text, expected) => {
    expect(resolved(type, text)).toBe(expected);
  });

  it.each<[NodeType, string, string, string]>([
    [listOf(INT), "[1, a]", "Value 'a' of type 'str' could not be converted to Integer", "f[1]"],
    [listOf(OBJECT), "[1]", "Invalid type assigned: int is not a subclass of D. value: 1", "f[0]"],
    [listOf(OBJECT), "[{v: 2}]", `${NO_OBJECT} value: {'v': 2}`, "f[0]"],
    [OBJECT, "{v: '${y}'}", `${NO_OBJECT} value: {'v': 5}`, "f"],
    [OBJECT, "s", "Invalid type assigned: str is not a subclass of D. value: s", "f"],
    [mapOf(OBJECT), "{a: [1]}", "'ListConfig' is incompatible with type hint '<class 'D'>'", "f.a"],
    [mapOf(INT), "{1: 2}", "Key 1 (int) is incompatible with (str)", "f.1"],
  ])("is refused: %j does not take %s", (type, text, message, key) => {
    const details = expect.objectContaining({ message, key });
    expect(() => resolved(type, text)).toThrowError(expect.objectContaining({ details }));
  });

  const place = (type: NodeType, value: ConfigNode): ConfigNode =>
    resolveTree(
      map(
        [
          ["f", { ...scalar("${x}", ORIGIN), type }],
          ["x", value],
        ],
        ORIGIN,
      ),
      createResolveContext({ env: {} }),
      IN_PLACE,
    );
  const objectOf = (name: string, bases: readonly string[] = []): ConfigNode => ({
    ...yaml("v: 3"),
    type: { ...OBJECT, kind: "object", name, bases, fields: new Map([["v", INT]]) },
  });

  it("is an object of the class or of one below it, where the field is one", () => {
    for (const value of [objectOf("D"), objectOf("E", ["D"])])
      expect(show(place(OBJECT, value))).toBe("f:\n  v: 3\nx:\n  v: 3\n");
    expect(() => place(OBJECT, objectOf("F"))).toThrowError("F is not a subclass of D.");
    const listed: ConfigNode = { kind: "list", items: [objectOf("E", ["D"])], origin: ORIGIN };
    expect(show(place(listOf(OBJECT), listed))).toBe("f:\n- v: 3\nx:\n- v: 3\n");
  });

  it("is no object where the field is a map", () => {
    const message = "Cannot assign D to Dict[str, int]";
    expect(() => place(mapOf(INT), objectOf("D"))).toThrowError(message);
  });

  it("has the type of its field, and none where that has none", () => {
    const tree = mergeNodes([typed(INT), yaml("f: 5"), yaml("x: ${f}\nl: ['${f}']")].map(unlocked));
    const context = createResolveContext({ env: {} });
    const written = resolveTree(tree, context, IN_PLACE);
    expect(show(written)).toBe("f: 5\nx: 5\nl:\n- 5\n");
    expect(show(updateNode(written, "x", value("text")))).toContain("x: text\n");
    expect(show(updateNode(written, "l[0]", yaml("{a: 1}")))).toContain("- a: 1\n");
    expect(() => updateNode(written, "f", value("text"))).toThrowError("to Integer");
    const member = mergeNodes([typed(COLOR), yaml("f: RED"), yaml("x: ${f}")].map(unlocked));
    const x = child(resolveTree(member, context, IN_PLACE), "x");
    expect(x && pyStr(x)).toBe("Color.RED");
  });

  it("has the type of a map, list or object that is null", () => {
    const optional: NodeType = { ...SERVER, optional: true };
    const base = mergeNodes([withField(optional, "???", value("${f}")), yaml("f: null")]);
    const resolved = (node: ConfigNode) =>
      resolveTree(node, createResolveContext({ env: {} }), IN_PLACE);
    const over = (text: string) => show(mergeNodes([resolved(base), yaml(text)]));
    expect(over("x: {port: 2}")).toContain("x:\n  host: h\n  port: 2\n");
    expect(() => over("x: {nope: 2}")).toThrow("Key 'nope' not in 'Server'");
    expect(() => over("x: 1")).toThrow("int is not a subclass of Server");
    expect(() => resolved(withFlags(base, { readonly: true }))).toThrow(
      "Cannot change read-only config container",
    );
  });

  it.each<[NodeType, string, string]>([
    [listOf(INT), "text", "f: text\n"],
    [mapOf(INT), "[1]", "f:\n- 1\n"],
    [OBJECT, "5", "f: 5\n"],
    [{ kind: "union", members: [INT, STR] }, "{a: 1}", "f:\n  a: 1\n"],
  ])(
    "is read whatever it is, refused where it is written, or where it is a setting: %j",
    (type, text, expected) => {
      const context = createResolveContext({ env: {} });
      const tree = mergeNodes([typed(type), yaml("f: ${x}"), yaml(`x: ${text}`)].map(unlocked));
      expect(show(resolveTree(tree, context))).toContain(expected);
      expect(missingKeys(tree, context)).toEqual(new Set());
      const refused = expect.objectContaining({ code: "value.wrong_type" });
      expect(() => resolveTree(tree, context, IN_PLACE)).toThrowError(refused);
      expect(() => selectNode(tree, "f", asDeclared(context))).toThrowError(refused);
    },
  );

  it("may be the plain data of a resolver in a list or map", () => {
    const resolver = { name: "made", resolve: () => yaml("[1, '2']") };
    const context = createResolveContext({ env: {}, resolvers: [resolver] });
    const tree = (type: NodeType) => mergeNodes([typed(type), yaml("f: ${made:}")]);
    const written = (type: NodeType) => show(resolveTree(tree(type), context, IN_PLACE));
    expect(written(listOf(INT))).toBe("f:\n- 1\n- 2\n");
    expect(() => written(mapOf(INT))).toThrowError("list is not a subclass of Dict[str, int]");
    expect(() => written({ kind: "any" })).toThrowError("is not a supported primitive type");
  });

  it("is read as it stands", () => {
    const tree = mergeNodes([typed(listOf(STR)), yaml("f: ${x}"), yaml("x: [1]")].map(unlocked));
    expect(show(resolveTree(tree, createResolveContext({ env: {} })))).toBe("f:\n- 1\nx:\n- 1\n");
  });
});
