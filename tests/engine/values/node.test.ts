import { describe, expect, it } from "vitest";
import { mergeNodes } from "../../../src/engine/values/edit/merge.ts";
import { updateNode } from "../../../src/engine/values/edit/update.ts";
import {
  type ConfigNode,
  type ContainerNode,
  emptyContainer,
  list,
  map,
  type NodeType,
} from "../../../src/engine/values/node.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { pyStr } from "../../../src/engine/values/python-text.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { resolveTree } from "../../../src/engine/values/resolution/resolve-tree.ts";
import { missingKeys } from "../../../src/engine/values/resolution/select.ts";
import { writeYaml } from "../../../src/engine/values/yaml/writer.ts";
import { ORIGIN, show, value, yaml } from "./trees.ts";
import { COLOR, INT, onlyField, SERVER, STR, withField } from "./types/typed-trees.ts";

describe("depth", () => {
  /** A tree that no reader gives: `a: {a: {a: …}}`. */
  function tower(depth: number, leaf: bigint): ConfigNode {
    let node: ConfigNode = value(leaf);
    for (let level = 0; level < depth; level++) node = map([["a", node]], ORIGIN);
    return node;
  }

  const nested = (depth: number): ConfigNode => {
    let node: ConfigNode = value(1n);
    for (let level = 0; level < depth; level++) node = list([node], ORIGIN);
    return node;
  };

  const context = createResolveContext({ env: {} });
  const under = (node: ConfigNode): ConfigNode => map([["a", node]], ORIGIN);

  const passes: Readonly<Record<string, (deep: ConfigNode, other: ConfigNode) => unknown>> = {
    "merge over a tower": (deep, other) => mergeNodes([deep, other]),
    "merge into an empty map": (deep) => mergeNodes([map([], ORIGIN), deep]),
    "merge over an interpolation": (deep, other) =>
      mergeNodes([
        map(
          [
            ["target", deep],
            ["a", value("${target}")],
          ],
          ORIGIN,
        ),
        under(other),
      ]),
    update: (deep) => updateNode(map([], ORIGIN), "a", deep),
    "update by merging": (deep, other) => updateNode(under(deep), "a", other),
    resolve: (deep) => resolveTree(deep, context),
    "missing keys": (deep) => missingKeys(deep, context),
    "plain object": (deep) => toObject(deep),
    text: (deep) => pyStr(deep),
    yaml: (deep) => writeYaml(deep),
  };

  describe.each(Object.entries(passes))("%s", (name, pass) => {
    it("works on trees as deep as the reader gives", () => {
      expect(() => pass(tower(499, 1n), tower(499, 2n))).not.toThrow();
    });

    it.each([5_000, 100_000])("answers a tree of %i levels with a coded error", (depth) => {
      const code = name === "resolve" ? "interpolation.cycle" : "yaml.depth_limit";
      expect(() => pass(tower(depth, 1n), tower(depth, 2n))).toThrowError(
        expect.objectContaining({ code }),
      );
    });
  });

  it("replaces lists of any depth as a whole, without a look inside", () => {
    const merged = mergeNodes([under(nested(5_000)), under(nested(100_000))]);
    expect(merged.kind).toBe("map");
  });
});

const OTHER = { ...SERVER, name: "Other" } satisfies NodeType;

describe("an object that is not there yet", () => {
  it("begins with the defaults of its class where a map is merged over it", () => {
    const made = "f:\n  host: h\n  port: 5432\n";
    const over = (base: ContainerNode): string =>
      onlyField(mergeNodes([base, yaml("f: {port: '5432'}")]));
    expect(over(withField(SERVER, "???"))).toBe(made);
    expect(over(withField(SERVER, "${x}"))).toBe(made);
    expect(onlyField(mergeNodes([withField(SERVER, "???"), yaml("f: {}")]))).toBe(
      "f:\n  host: h\n  port: 80\n",
    );
  });

  it("does so as an item of a list and at a new key of a map", () => {
    const listed = mergeNodes([
      withField({ kind: "list", element: SERVER }, "???"),
      yaml("f: [{}, {port: 1}]"),
    ]);
    expect(onlyField(listed)).toBe("f:\n- host: h\n  port: 80\n- host: h\n  port: 1\n");
    const named = mergeNodes([
      withField({ kind: "map", key: STR, element: SERVER }, "???"),
      yaml("f: {a: {port: 1}}"),
      yaml("f: {b: {}}"),
    ]);
    expect(onlyField(named)).toBe(
      "f:\n  a:\n    host: h\n    port: 1\n  b:\n    host: h\n    port: 80\n",
    );
  });

  it("is made of a missing one that is declared: as an item of a list, and where an interpolation leads nowhere", () => {
    const made = "f:\n- host: h\n  port: 80\n";
    const listType: NodeType = { kind: "list", element: SERVER };
    const missing: ConfigNode = { ...value("???"), type: SERVER };
    const declared = withField(listType, "???");
    const listed = mergeNodes([declared, map([["f", list([missing], ORIGIN)]], ORIGIN)]);
    expect(onlyField(listed)).toBe(made);
    expect(onlyField(mergeNodes([declared, yaml("f: ['???']")]))).toBe("f:\n- ???\n");
    const base = { ...SERVER, name: "Base", fields: new Map([["host", STR]]) } satisfies NodeType;
    const derived = { ...SERVER, bases: ["Base"] } satisfies NodeType;
    const object = mergeNodes([withField(derived, "???"), yaml("f: {port: 1}")]);
    const unset = map([["f", { ...value("???"), type: base } as ConfigNode]], ORIGIN);
    expect(onlyField(mergeNodes([object, unset]))).toBe("f:\n  host: h\n  port: 1\n");
    for (const nowhere of ["${f}", "${nope}"])
      expect(onlyField(mergeNodes([withField(SERVER, nowhere), withField(SERVER, "???")]))).toBe(
        "f:\n  host: h\n  port: 80\n",
      );
    expect(onlyField(mergeNodes([withField(SERVER, "???"), withField(SERVER, "???")]))).toBe(
      "f: ???\n",
    );
    expect(onlyField(mergeNodes([withField(SERVER, "${nope}"), yaml("f: ???")]))).toBe(
      "f: ${nope}\n",
    );
  });

  it("is made by an update, too", () => {
    for (const from of ["???", "${x}"])
      expect(
        onlyField(updateNode(withField(SERVER, from), "f", yaml("{port: 1}"), { plain: true })),
      ).toBe("f:\n  host: h\n  port: 1\n");
  });

  it("is found by whatever key leads to it in a map with keys of a type", () => {
    const base = withField({ kind: "map", key: COLOR, element: SERVER }, "???");
    const over = (text: string) =>
      mergeNodes([base, yaml("f: {RED: {}}"), yaml(`f: {1: ${text}}`)]);
    expect(onlyField(over("{port: 1}"))).toBe("f:\n  RED:\n    host: h\n    port: 1\n");
    expect(() => over("'${x}'")).toThrow("Merge error: str is not a subclass of Server");
  });

  it.each([
    ["[{prt: 1}]", "value.struct", "f[0].prt"],
    ["[{port: x}]", "value.wrong_type", "f[0].port"],
    ["[[1]]", "value.wrong_type", "f[0]"],
  ])("refuses in a list what it refuses elsewhere: %s", (text, code, key) => {
    const base = withField({ kind: "list", element: SERVER }, "???");
    expect(() => mergeNodes([base, yaml(`f: ${text}`)])).toThrow(
      expect.objectContaining({ code, details: expect.objectContaining({ key }) }),
    );
    const stranger = mergeNodes([
      map([["f", list([emptyContainer(OTHER, ORIGIN)], ORIGIN)]], ORIGIN),
    ]);
    expect(() => mergeNodes([base, stranger])).toThrow("Other is not a subclass of Server");
  });
});

describe("an interpolation that is merged over", () => {
  const server = emptyContainer(SERVER, ORIGIN);

  it("is replaced by a scalar, where an object itself would not be", () => {
    const base = map(
      [
        ["a", value("${b}")],
        ["b", server],
      ],
      ORIGIN,
    );
    expect(show(mergeNodes([base, yaml("a: ${b.host}")]))).toContain("a: ${b.host}\n");
    expect(show(mergeNodes([base, yaml("a: 1")]))).toContain("a: 1\n");
    expect(() => mergeNodes([base, yaml("b: 1")])).toThrow("int is not a subclass of Server");
  });

  it("takes only what the field of its target takes, where that is one for objects", () => {
    const base = mergeNodes([withField(SERVER, "???", value("${f}")), yaml("f: {}")]);
    const over = (text: string): string => show(mergeNodes([base, yaml(text)]));
    expect(() => over("x: 1")).toThrow(
      expect.objectContaining({
        message: "Invalid type assigned: int is not a subclass of Server. value: 1",
        details: expect.objectContaining({ key: "x" }),
      }),
    );
    expect(() => over("x: null")).toThrow("not Optional");
    expect(over("x: {}")).toContain("x:\n  host: h\n  port: 80\n");
    expect(() => over("x: []")).toThrow("Cannot merge DictConfig with ListConfig");
    expect(over("x: ${f.host}")).toContain("x: ${f.host}\n");
    expect(over("x: ???")).toContain("x:\n  host: h\n  port: 80\n");
    const optional = { ...SERVER, optional: true } satisfies NodeType;
    const some = mergeNodes([withField(optional, "???", value("${f}")), yaml("f: {}")]);
    expect(show(mergeNodes([some, yaml("x: null")]))).toContain("x: null\n");
  });

  it.each<[NodeType, ConfigNode, string, string]>([
    [SERVER, list([], ORIGIN), "{}", "list is not a subclass of Server"],
    [
      { kind: "union", members: [INT, STR] },
      map([], ORIGIN),
      "1",
      "Cannot assign container '{}' of type 'DictConfig' to Union[int, str]",
    ],
  ])("is expanded to what its type must take: %o", (type, x, text, message) => {
    expect(() => mergeNodes([withField(type, "${x}", x), yaml(`f: ${text}`)])).toThrow(message);
  });

  it("leaves the maps in it what they are, in a map of objects", () => {
    const x = yaml("a: {port: 1}");
    const type: NodeType = { kind: "map", key: STR, element: SERVER };
    const merged = mergeNodes([withField(type, "${x}", x), yaml("f: {a: {}}")]);
    expect(onlyField(merged)).toBe("f:\n  a:\n    port: 1\n");
  });
});
