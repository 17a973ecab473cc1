/** Interpolations that stand in the place of typed values, and what they lead to. */
import { describe, expect, it } from "vitest";
import { withFlags } from "../../../src/values/flags.ts";
import { asDeclared, createResolveContext } from "../../../src/values/interpolation/context.ts";
import { IN_PLACE, resolveTree } from "../../../src/values/interpolation/resolve-tree.ts";
import { mergeNodes } from "../../../src/values/merge.ts";
import { missingKeys } from "../../../src/values/missing-keys.ts";
import type { ConfigNode, NodeType } from "../../../src/values/node.ts";
import { child, map, scalar } from "../../../src/values/node.ts";
import { pyStr } from "../../../src/values/python-text.ts";
import { selectNode } from "../../../src/values/select.ts";
import { updateNode } from "../../../src/values/update.ts";
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
