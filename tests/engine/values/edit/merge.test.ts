import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { mergeNodes } from "../../../../src/engine/values/edit/merge.ts";
import { ConfigError, isConfigError } from "../../../../src/engine/values/errors.ts";
import {
  type ConfigNode,
  child,
  keyId,
  list,
  type MapNode,
  type NodeType,
} from "../../../../src/engine/values/node.ts";
import { withFlags } from "../../../../src/engine/values/place.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import { growth } from "../../../growth.ts";
import { runs } from "../../../runs.ts";
import { maps, ORIGIN, shapedMaps, show, yaml } from "../trees.ts";

const context = createResolveContext({ env: {} });
const merge = (...texts: readonly string[]): string => show(mergeNodes(texts.map(yaml), context));

describe("mergeNodes", () => {
  it.each([
    { docs: ["a: 1\nb: 2", "c: 3\na: 4"], gives: "a: 4\nb: 2\nc: 3\n" },
    { docs: ["a: {x: 1, y: 2}", "a: {y: 3}"], gives: "a:\n  x: 1\n  'y': 3\n" },
    { docs: ["a: [1, 2, 3]", "a: [4]"], gives: "a:\n- 4\n" },
    { docs: ["a: {x: 1}", "a: 5"], gives: "a: 5\n" },
    { docs: ["a: 5", "a: {x: 1}"], gives: "a:\n  x: 1\n" },
    { docs: ["a: 5", "a: ???"], gives: "a: 5\n" },
    { docs: ["1: a\nb: c", "true: d"], gives: "1: d\nb: c\n" },
    { docs: ["a: ${b}\nb: {x: 1}", "a: {y: 2}"], gives: "a:\n  x: 1\n  'y': 2\nb:\n  x: 1\n" },
    { docs: ["a: ${b}\nb: {x: 1}", "a: 5"], gives: "a: 5\nb:\n  x: 1\n" },
    { docs: ["a: ${nope}", "a: {y: 2}"], gives: "a:\n  'y': 2\n" },
  ])("merges $docs", ({ docs, gives }) => {
    expect(merge(...docs)).toBe(gives);
  });

  it("takes a new map or list into a map of scalars as it is, as OmegaConf does", () => {
    const typed = (text: string): ConfigNode => {
      const node = yaml(text);
      if (node.kind !== "map") throw new Error(text);
      return { ...node, type: { kind: "map", key: { kind: "str" }, element: { kind: "str" } } };
    };
    const over = (first: string, ...texts: readonly string[]) =>
      show(mergeNodes([typed(first), ...texts.map(yaml)], context));
    expect(over("{}", "a: [1, {b: 2}]\nc: {d: 3}\ne: 4")).toBe(
      "a:\n- 1\n- b: 2\nc:\n  d: 3\ne: '4'\n",
    );
    expect(over("{}", "a: [1]", "a: [2]")).toBe("a:\n- 2\n");
    expect(over("{}", "a: [1]", "a: 5")).toBe("a: '5'\n");
    expect(() => over("{a: x}", "a: [1]")).toThrowError("Cannot convert 'ListConfig' to string");
    expect(() => over("{}", "a: [1]", "a: null")).toThrowError("Incompatible value 'None'");
    expect(() => over("{}", "a: [1]", "a: {b: 1}")).toThrowError("Cannot merge DictConfig");
  });

  it("takes maps and lists into a list of scalars as they are, as OmegaConf does", () => {
    const over = (element: NodeType, text: string): string => {
      const type = { kind: "list", element } as const;
      return show(mergeNodes([{ ...list([], ORIGIN), type }, yaml(text)], context));
    };
    expect(over({ kind: "str" }, "[a, [b], {c: 1}, 2]")).toBe("- a\n- - b\n- c: 1\n- '2'\n");
    expect(over({ kind: "int" }, "[[x], 1]")).toBe("- - x\n- 1\n");
    expect(() => over({ kind: "int" }, "[[x], z]")).toThrowError("could not be converted");
    const ints = { kind: "list", element: { kind: "int" } } as const;
    for (const text of ["[{a: 1}]", "[[[1]]]"])
      expect(() => over(ints, text)).toThrowError(ConfigError);
  });

  it("keeps the type of a list that an interpolation leads to, and it refuses what is no list", () => {
    const first = "a: ${oc.dict.values:b}\nb: {x: 1}";
    expect(merge(first, "a: [2]")).toBe("a:\n- 2\nb:\n  x: 1\n");
    expect(merge(first, "a: null")).toBe("a: null\nb:\n  x: 1\n");
    for (const value of ["5", "x", "{y: 1}"])
      expect(() => merge(first, `a: ${value}`)).toThrowError(ConfigError);
    // It is the type of the interpolation that takes its place, too: seen where that is expanded.
    for (const value of ["[3]", "{y: 1}", "5"])
      expect(() => merge(first, "a: ${f}\nf: {z: 1}", `a: ${value}`)).toThrowError(
        expect.objectContaining({ code: "value.wrong_type" }),
      );
    // What stands there already leads nowhere: then it has no type.
    expect(merge("a: ${oc.dict.values:b}", "a: 5")).toBe("a: 5\n");
  });

  it("refuses a list over a map, and names the key", () => {
    expect(() => merge("a: {b: {x: 1}}", "a: {b: [1]}")).toThrowError(
      expect.objectContaining({
        code: "merge.incompatible",
        message: "Cannot merge DictConfig with ListConfig",
        details: expect.objectContaining({ key: "a.b" }),
      }),
    );
  });

  it("heeds struct, with the nearest key", () => {
    const strict = withFlags(yaml("db: {port: 1}"), { struct: true });
    expect(() => mergeNodes([strict, yaml("db: {prot: 2}")], context)).toThrowError(
      expect.objectContaining({
        code: "value.struct",
        details: expect.objectContaining({ key: "db.prot", nearest: "port" }),
      }),
    );
  });

  /** The tree, with the flag at the map or list of a key. */
  function lockedAt(text: string, key: string, readonly = true): MapNode {
    const node = mapOf(yaml(text));
    const entry = node.entries.get(keyId(key));
    if (entry === undefined) throw new Error(`no ${key}`);
    const value = withFlags(entry.value, { readonly });
    return { ...node, entries: new Map(node.entries).set(keyId(key), { ...entry, value }) };
  }

  it("heeds readonly below the root, and lets the root's only pass on", () => {
    const root = withFlags(yaml("a: 1"), { readonly: true });
    expect(mergeNodes([root, yaml("a: 2")], context).flags).toEqual({ readonly: true });
    expect(() => mergeNodes([lockedAt("a: {b: 1}", "a"), yaml("a: {b: 2}")], context)).toThrowError(
      expect.objectContaining({ code: "value.readonly" }),
    );
    const refused = expect.objectContaining({
      code: "value.readonly",
      details: expect.objectContaining({ key: "a" }),
    });
    expect(() => mergeNodes([yaml("a: 1"), root, yaml("a: 2")], context)).toThrowError(refused);
  });

  it("refuses items for a list that is readonly, itself or by the map around it", () => {
    const locked = lockedAt("a: [1]", "a");
    const refused = expect.objectContaining({
      code: "value.readonly",
      details: expect.objectContaining({ key: "a[0]" }),
    });
    expect(() => mergeNodes([locked, yaml("a: [2]")], context)).toThrowError(refused);
    expect(() => mergeNodes([locked, yaml("a: [1]")], context)).toThrowError(refused);
    expect(() =>
      mergeNodes([lockedAt("m: {a: [1]}", "m"), yaml("m: {a: [2]}")], context),
    ).toThrowError(expect.objectContaining({ code: "value.readonly" }));
  });

  // As recorded of OmegaConf 2.4.0.dev14; its release is not public.
  describe("in 1.4", () => {
    const newer = createResolveContext({ env: {}, dialect: DIALECTS["1.4"] });
    const [locked, unlocked, struct] = [
      (text: string) => withFlags(yaml(text), { readonly: true }),
      (text: string) => withFlags(yaml(text), { readonly: false }),
      (text: string) => withFlags(yaml(text), { struct: true }),
    ];

    it.each([
      { of: [yaml("a: 0"), locked("a: 1"), yaml("a: 2")], gives: "a: 2\n", root: true },
      { of: [locked("a: 0"), yaml("b: 1"), yaml("c: 1")], gives: "a: 0\nb: 1\nc: 1\n", root: true },
      { of: [locked("a: 0"), unlocked("b: 1")], gives: "a: 0\nb: 1\n", root: true },
      { of: [yaml("a: 0"), unlocked("b: 1")], gives: "a: 0\nb: 1\n", root: false },
      { of: [lockedAt("a: {}", "a"), yaml("a: {x: 1}")], gives: "a:\n  x: 1\n", a: true },
      { of: [lockedAt("a: [1]", "a"), yaml("a: [2]")], gives: "a:\n- 2\n", a: true },
      {
        of: [yaml("a: {}"), lockedAt("a: {}", "a"), yaml("a: {x: 1}")],
        gives: "a:\n  x: 1\n",
        a: true,
      },
      {
        of: [lockedAt("a: {}", "a"), lockedAt("a: {x: 1}", "a", false)],
        gives: "a:\n  x: 1\n",
        a: true,
      },
      { of: [lockedAt("a: {}", "a"), yaml("a: x")], gives: "a: x\n" },
    ])("merges into what is readonly, which it stays: $gives", ({ of, gives, root, a }) => {
      const merged = mergeNodes(of, newer);
      expect(show(merged)).toBe(gives);
      expect(merged.flags?.readonly).toBe(root);
      expect(child(merged, "a")?.flags?.readonly).toBe(a);
    });

    it("heeds struct there, and refuses a missing value of a readonly config over a value", () => {
      expect(() =>
        mergeNodes([locked("a: 1"), struct("{}"), yaml("a: 2\nb: 3")], newer),
      ).toThrowError(
        expect.objectContaining({
          code: "value.struct",
          details: expect.objectContaining({ key: "b" }),
        }),
      );
      expect(() => mergeNodes([yaml("a: 1"), locked("a: ???")], newer)).toThrowError(
        expect.objectContaining({ code: "value.readonly" }),
      );
    });

    it("merges the same whether or not the maps and lists of the first config are readonly", () => {
      const everywhere = (node: ConfigNode): ConfigNode => {
        if (node.kind === "scalar") return node;
        const within: ConfigNode =
          node.kind === "list"
            ? { ...node, items: node.items.map(everywhere) }
            : {
                ...node,
                entries: new Map(
                  [...node.entries].map(([id, { key, value }]) => [
                    id,
                    { key, value: everywhere(value) },
                  ]),
                ),
              };
        return withFlags(within, { readonly: true });
      };
      const outcome = (nodes: readonly ConfigNode[]): string => {
        try {
          return show(mergeNodes(nodes, newer));
        } catch (error) {
          return isConfigError(error) ? error.code : String(error);
        }
      };
      const layer = maps(["${a}", "${b}", "???"]);
      fc.assert(
        fc.property(layer, layer, layer, (first, second, third) => {
          expect(outcome([everywhere(first), second, third])).toBe(outcome([first, second, third]));
        }),
        { numRuns: runs(200) },
      );
    });
  });

  it("keeps what was overwritten, newest first", () => {
    const merged = mergeNodes([yaml("a: 1"), yaml("a: 2"), yaml("a: 3")], context);
    const values: unknown[] = [];
    for (let node = child(merged, "a"); node !== undefined; node = node.replaced)
      values.push(node.kind === "scalar" ? node.value : node.kind);
    expect(values).toEqual([3n, 2n, 1n]);
  });

  it("keeps the lists that were overwritten, each once, newest first", () => {
    const merged = mergeNodes(
      ["a: [1, 2]", "a: []", "a: [3]", "a: [4, 5]"].map((text) => yaml(text)),
      context,
    );
    const items: unknown[] = [];
    for (let node = child(merged, "a"); node !== undefined; node = node.replaced)
      items.push(toObject(node));
    expect(items).toEqual([[4, 5], [3], [], [1, 2]]);
  });

  it("shares what it does not change and leaves its inputs alone", () => {
    const base = mapOf(yaml("a: {x: {deep: 1}}\nb: {y: 2}"));
    const before = show(base);
    const merged = mergeNodes([base, yaml("b: {y: 3}")], context);
    expect(child(merged, "a")).toBe(child(base, "a"));
    expect(show(base)).toBe(before);
  });

  it.each([
    {
      what: "what it leads to changes later",
      docs: ["a: {x: 1}\nb: ${a}", "a: {y: {deep: 1}}", "b: {z: 3}", "a: {x: 2, y: {deep: 2}}"],
      gives: "a:\n  x: 2\n  'y':\n    deep: 2\nb:\n  x: 1\n  'y':\n    deep: 1\n  z: 3\n",
    },
    {
      what: "it changes later itself",
      docs: ["a: {x: {y: 1}}\nb: ${a}", "a: {z: 1}", "b: {x: {y: 2}}", "b: {x: {y: 3}}"],
      gives: "a:\n  x:\n    'y': 1\n  z: 1\nb:\n  x:\n    'y': 3\n  z: 1\n",
    },
  ])("expands an interpolation as it is at its layer, also where $what", ({ docs, gives }) => {
    expect(merge(...docs)).toBe(gives);
  });

  it("merges many layers as if they came one by one, and changes none of them", () => {
    const layer = maps(["${a}", "${b}", "${c.d}", "x-${a}", "${d.a}", "???"]);
    fc.assert(
      fc.property(fc.array(layer, { minLength: 2, maxLength: 6 }), (layers) => {
        const before = layers.map(show);
        const [first, ...others] = layers;
        const oneByOne = attempt(() =>
          others.reduce<ConfigNode>(
            (tree, other) => mergeNodes([tree, other], context),
            first ?? yaml(""),
          ),
        );
        const atOnce = attempt(() => mergeNodes(layers, context));
        expect(atOnce && show(atOnce)).toBe(oneByOne && show(oneByOne));
        expect(layers.map(show)).toEqual(before);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("takes time in proportion to the layers, however wide the root", async () => {
    const layers = (count: number): ConfigNode[] =>
      Array.from({ length: count }, (_, at) => yaml(`key_${at}: {a: 1, b: [2]}`));
    const bySize = new Map([400, 4000].map((size) => [size, layers(size)]));
    const merge = (size: number) => mergeNodes(bySize.get(size) ?? [], context);
    // A copy of the root per layer would take a hundred times as long.
    expect(await growth(merge, 400)).toBeLessThan(40);
  });

  // A scalar parts two maps that would merge, so the kinds must agree; OmegaConf is no better.
  it("is associative on trees whose kinds agree", () => {
    fc.assert(
      fc.property(shapedMaps(), shapedMaps(), shapedMaps(), (a, b, c) => {
        const left = mergeNodes([mergeNodes([a, b], context), c], context);
        const right = mergeNodes([a, mergeNodes([b, c], context)], context);
        expect(show(left)).toBe(show(right));
        expect(show(mergeNodes([a, b, c], context))).toBe(show(left));
      }),
    );
  });

  it("keeps the position and the object of every key of the first tree", () => {
    fc.assert(
      fc.property(maps(["${a}", "${..b}", "???"]), maps(["${a}", "???"]), (a, b) => {
        const merged = attempt(() => mergeNodes([a, b], context));
        if (merged === null) return;
        const own = keysOf(a);
        expect(keysOf(merged).slice(0, own.length)).toEqual(own);
        const added = keysOf(b).filter((key) => !own.some((known) => keyId(known) === keyId(key)));
        expect(keysOf(merged).slice(own.length)).toEqual(added);
      }),
    );
  });
});

/** Null when the trees do not fit; anything but a coded error fails the test. */
function attempt(run: () => ConfigNode): ConfigNode | null {
  try {
    return run();
  } catch (error) {
    if (isConfigError(error)) return null;
    throw error;
  }
}

function mapOf(node: ConfigNode): MapNode {
  if (node.kind !== "map") throw new Error(`a ${node.kind} where a map was expected`);
  return node;
}

it("keeps the key of a map for an equal one, also in messages", () => {
  const merged = mergeNodes(["1: null", "true: {a: '${nope}'}"].map(yaml), context);
  expect(keysOf(merged)).toEqual([1n]);
  expect(() => resolveTree(merged, context)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ key: "1.a" }) }),
  );
});

const keysOf = (node: ConfigNode) => [...mapOf(node).entries.values()].map((entry) => entry.key);
