/** Interpolations in trees that are merged and updated: what is declared as a map or list is followed. */
import { describe, expect, it } from "vitest";
import { mergeNodes } from "../../../../src/engine/values/edit/merge.ts";
import { updateNode } from "../../../../src/engine/values/edit/update.ts";
import { type ConfigNode, map, type NodeType } from "../../../../src/engine/values/node.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { ORIGIN, show, value, yaml } from "../trees.ts";
import { INT, OBJECT, SERVER, STR, withField } from "../types/typed-trees.ts";

const MAP: NodeType = { kind: "map", key: STR, element: INT };
const LIST: NodeType = { kind: "list", element: INT };

describe("an update through a declared map or list that is an interpolation", () => {
  it("changes what that leads to, where it stands", () => {
    const tree = withField(MAP, "${x}", yaml("{b: 2}"));
    expect(show(updateNode(tree, "f.a", value("s")))).toBe("f: ${x}\nx:\n  b: 2\n  a: s\n");
    expect(show(updateNode(tree, "f.b.c", value(1n)))).toBe("f: ${x}\nx:\n  b:\n    c: 1\n");
    expect(show(tree)).toBe("f: ${x}\nx:\n  b: 2\n");
    const listed = withField(LIST, "${x}", yaml("[1, 2]"));
    expect(show(updateNode(listed, "f.1", value(5n)))).toBe("f: ${x}\nx:\n- 1\n- 5\n");
  });

  it("asks what stands there whether it takes the value", () => {
    const refusal = (tree: ReturnType<typeof withField>, key: string) => {
      try {
        return show(updateNode(tree, key, value(1n)));
      } catch (error) {
        return error;
      }
    };
    const object = { ...map([["v", { ...value(1n), type: INT }]], ORIGIN), type: OBJECT };
    expect(refusal(withField(MAP, "${x}", object), "f.nope")).toMatchObject({
      code: "value.struct",
      details: { key: "x.nope" },
    });
    expect(refusal(withField(LIST, "${x}", yaml("[1]")), "f.1")).toMatchObject({
      code: "key.not_found",
      details: { key: "x[1]" },
    });
    expect(refusal(withField(MAP, "${x}", value("text")), "f.a")).toMatchObject({
      code: "value.wrong_type",
      details: { key: "f" },
    });
    expect(refusal(withField(MAP, "${nope}"), "f.a")).toMatchObject({
      code: "interpolation.not_found",
      details: { key: "f" },
    });
  });

  it("is lost where a resolver has made what is changed", () => {
    const text = "${oc.create:'{a: 1}'}";
    expect(show(updateNode(withField(MAP, text), "f.b", value(2n)))).toBe(
      show(withField(MAP, text)),
    );
  });

  it("leaves a map that is null so where nothing is put into it", () => {
    const tree = mergeNodes([withField({ ...MAP, optional: true }, "???"), yaml("f: null")]);
    expect(show(updateNode(tree, "f", yaml("{}")))).toBe("f: null\nx: null\n");
  });
});

describe("an interpolation that is merged over a declared map or list", () => {
  const optional = (type: NodeType) =>
    mergeNodes([withField({ ...type, optional: true } as NodeType, "???"), yaml("f: null")]);

  it("leads somewhere in the tree that it comes from, where there was null", () => {
    for (const type of [MAP, LIST, OBJECT]) {
      const over = () => mergeNodes([optional(type), yaml("f: ${x}")]);
      expect(over).toThrowError(expect.objectContaining({ code: "interpolation.not_found" }));
      expect(show(mergeNodes([optional(type), yaml("f: ${x}\nx: 1")]))).toBe("f: ${x}\nx: 1\n");
    }
  });

  it("leads to no null where something has to be", () => {
    const over = (type: NodeType) =>
      show(mergeNodes([withField(type, "???"), yaml("f: ${x}\nx: null")]));
    expect(() => over(MAP)).toThrowError("field 'f' is not Optional");
    expect(() => over(OBJECT)).toThrowError("field 'f' is not Optional");
    expect(over(LIST)).toBe("f: ${x}\nx: null\n");
    expect(show(mergeNodes([withField(MAP, "???"), yaml("f: ${x}")]))).toBe("f: ${x}\nx: null\n");
  });
});

describe("an interpolation that is merged over", () => {
  it("is null, and of its type, where it leads to such a map or list", () => {
    const base = mergeNodes([
      withField({ ...LIST, optional: true }, "???", value("${f}")),
      yaml("f: null"),
    ]);
    expect(show(mergeNodes([base, yaml("x: [1]")]))).toBe("f: null\nx:\n- 1\n");
    expect(show(mergeNodes([base, yaml("x: '???'")]))).toBe("f: null\nx: null\n");
    expect(() => mergeNodes([base, yaml("x: {a: 1}")])).toThrowError(
      expect.objectContaining({ code: "merge.incompatible" }),
    );
  });

  it("is written where it stands by the rules for what is put there", () => {
    const objects: NodeType = { kind: "list", element: OBJECT };
    const over = (text: string) => () =>
      mergeNodes([withField(objects, "${x}", yaml(text)), yaml("f: []")]);
    expect(over("[{v: 1}]")).toThrowError("dict is not a subclass of D. value: {'v': 1}");
    expect(over("['${y}']")).toThrowError("str is not a subclass of D. value: ${y}");
    expect(over("[null]")).toThrowError("NoneType is not a subclass of D");
    expect(show(over("['???']")())).toBe("f: []\nx:\n- ???\n");
  });

  it("takes an object of any class in place of one that it led to nowhere", () => {
    const other = { ...map([["v", { ...value(1n), type: INT }]], ORIGIN), type: OBJECT };
    const over = mergeNodes([withField(SERVER, "${nope}"), map([["f", other]], ORIGIN)]);
    expect(show(over)).toBe("f:\n  host: h\n  port: 80\n  v: 1\nx: null\n");
    const context = createResolveContext({ env: {} });
    expect(show(updateNode(withField(SERVER, "${nope}"), "f", other, {}, context))).toBe(
      show(over),
    );
  });
});

describe("what is merged into a map of objects", () => {
  const objects: NodeType = { kind: "map", key: STR, element: { ...OBJECT, optional: true } };
  const over = (text: string) => () =>
    show(mergeNodes([withField(objects, "???"), yaml("f: {a: {v: 1}}"), yaml(`f: {b: ${text}}`)]));

  it("is an object of the class, also under a new key", () => {
    expect(over("3")).toThrowError("int is not a subclass of D. value: 3");
    expect(over("[1]")).toThrowError(expect.objectContaining({ code: "merge.incompatible" }));
    expect(over("{v: 2}")()).toBe("f:\n  a:\n    v: 1\n  b:\n    v: 2\nx: null\n");
    for (const text of ["null", "???", "${x}"])
      expect(over(`'${text}'`.replace("'null'", text))()).toContain(`\n  b: ${text}\n`);
  });
});

describe("a declared map or list that is merged over what is not declared", () => {
  const MAP_OF_INTS: NodeType = { kind: "map", key: STR, element: INT };
  const LIST_OF_INTS: NodeType = { kind: "list", element: INT };
  const over = (text: string, type: NodeType, plain = "???") => {
    const declared =
      plain === "???" || plain === "null"
        ? withField({ ...type, optional: true } as NodeType, "???")
        : mergeNodes([withField(type, "???"), yaml(`f: ${plain}`)]);
    const source = plain === "null" ? mergeNodes([declared, yaml("f: null")]) : declared;
    return show(mergeNodes([yaml(`f: ${text}`), source])).replace("x: null\n", "");
  };

  it.each([
    ["{a: x}", "Value 'x' (str) is incompatible with type hint 'int'"],
    ["{a: '1'}", "Value '1' (str) is incompatible with type hint 'int'"],
    ["{a: [1]}", "'ListConfig' is incompatible with type hint '<class 'int'>'"],
    ["{a: null}", "Incompatible value 'None' for field of type 'int'"],
    ["{1: 1}", "Key 1 (int) is incompatible with key type hint 'str'"],
  ])("refuses %s, which does not fit it as it is", (text, message) => {
    expect(() => over(text, MAP_OF_INTS, "{}")).toThrowError(message);
  });

  it("brings its type along, also into what is below", () => {
    const deep: NodeType = { kind: "map", key: STR, element: MAP_OF_INTS };
    expect(over("{a: 1}", MAP_OF_INTS, "{}")).toBe("f:\n  a: 1\n");
    expect(() => over("{a: {b: x}}", deep, "{}")).toThrowError("type hint 'int'");
    const merged = mergeNodes([
      yaml("f: {a: {b: 1}}"),
      mergeNodes([withField(deep, "???"), yaml("f: {}")]),
      yaml("f: {a: {b: '2'}}"),
    ]);
    expect(show(merged)).toBe("f:\n  a:\n    b: 2\nx: null\n");
  });

  it.each(["???", "null"])("refuses the other kind also where it is %s", (plain) => {
    const refused = expect.objectContaining({ code: "merge.incompatible" });
    expect(() => over("[1]", MAP_OF_INTS, plain)).toThrowError(refused);
    expect(() => over("{a: 1}", LIST_OF_INTS, plain)).toThrowError(refused);
    expect(() => over("[1]", OBJECT, plain)).toThrowError(refused);
  });

  it("replaces what is no map or list where it is missing", () => {
    for (const type of [MAP_OF_INTS, LIST_OF_INTS, OBJECT])
      for (const text of ["3", "null"]) expect(over(text, type)).toBe("f: ???\n");
  });
});

describe("null that is merged over an interpolation", () => {
  const base = withField({ ...OBJECT, optional: true }, "???", value("${f}"));

  it("is of the class of the field that it led to", () => {
    const over = (text: string) => () =>
      show(mergeNodes([base, yaml("f: {v: 7}\nx: null"), yaml(`x: ${text}`)]));
    expect(over("{v: 3}")()).toBe("f:\n  v: 7\nx:\n  v: 3\n");
    expect(over("null")()).toBe("f:\n  v: 7\nx: null\n");
    expect(over("{zz: 3}")).toThrowError("Key 'zz' not in 'D'");
    expect(over("s")).toThrowError("str is not a subclass of D. value: s");
    expect(over("[1]")).toThrowError(expect.objectContaining({ code: "merge.incompatible" }));
  });

  it("is of the class that is declared where it stands, if one is", () => {
    const derived: NodeType = { ...OBJECT, name: "E", bases: ["D"], optional: true };
    const fields = new Map<string, NodeType>([
      ["d", { kind: "map", key: STR, element: { ...OBJECT, optional: true } }],
      ["g", derived],
    ]);
    const given = map(
      [
        ["d", { ...yaml("{a: '${g}'}"), type: fields.get("d") as NodeType } as ConfigNode],
        ["g", { ...yaml("{v: 7}"), type: derived } as ConfigNode],
      ],
      ORIGIN,
    );
    const tree = mergeNodes([
      { ...given, type: { kind: "object", name: "C", fields } },
      yaml("d: {a: null}"),
    ]);
    const other = map([["a", { ...yaml("{v: 1}"), type: OBJECT } as ConfigNode]], ORIGIN);
    expect(show(mergeNodes([tree, map([["d", other]], ORIGIN)]))).toBe(
      "d:\n  a:\n    v: 1\ng:\n  v: 7\n",
    );
  });
});

describe("an object that is merged", () => {
  it("brings its fields whatever `struct` says of the map that it is merged into", () => {
    const other = { ...map([["v", { ...value(1n), type: INT }]], ORIGIN), type: OBJECT };
    const locked = { ...map([["a", yaml("{}")]], ORIGIN), flags: { struct: true } };
    expect(show(mergeNodes([locked, map([["a", other]], ORIGIN)]))).toBe("a:\n  v: 1\n");
    expect(() => mergeNodes([locked, yaml("a: {v: 1}")])).toThrowError("is not in struct");
  });

  it("has values of their own types, which a map takes only where they fit", () => {
    const object = { ...map([["v", { ...value(1n), type: INT }]], ORIGIN), type: OBJECT };
    const floats: NodeType = { kind: "map", key: STR, element: { kind: "float" } };
    const over = () => mergeNodes([withField(floats, "${nope}"), map([["f", object]], ORIGIN)]);
    expect(over).toThrowError("Value 1 (int) is incompatible with type hint 'float'");
  });
});
