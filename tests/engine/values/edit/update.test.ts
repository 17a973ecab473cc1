import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEFAULT_DIALECT } from "../../../../src/engine/values/dialect.ts";
import { type Copies, createCopies } from "../../../../src/engine/values/edit/draft.ts";
import { mergeNodes } from "../../../../src/engine/values/edit/merge.ts";
import {
  fromDotlist,
  mergeDotlist,
  type UpdateOptions,
  updateNode,
} from "../../../../src/engine/values/edit/update.ts";
import { ConfigError } from "../../../../src/engine/values/errors.ts";
import { createBudget, DEFAULT_LIMITS } from "../../../../src/engine/values/limits.ts";
import { type ConfigNode, child, type NodeType } from "../../../../src/engine/values/node.ts";
import { withFlags } from "../../../../src/engine/values/place.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { growth } from "../../../growth.ts";
import { runs } from "../../../runs.ts";
import { maps, show, value, yaml } from "../trees.ts";
import { INT, onlyField, STR, withField } from "../types/typed-trees.ts";

const root = yaml("a: {b: 1, c: {d: 2}}\nl: [1, {x: 2}]\ns: text");

describe("updateNode", () => {
  it.each<{ key: string; to: string; options?: UpdateOptions; gives: string }>([
    { key: "a.b", to: "5", gives: "a: {b: 5, c: {d: 2}}\nl: [1, {x: 2}]\ns: text" },
    { key: "l[1].x", to: "5", gives: "a: {b: 1, c: {d: 2}}\nl: [1, {x: 5}]\ns: text" },
    { key: "l[1].y", to: "5", gives: "a: {b: 1, c: {d: 2}}\nl: [1, {x: 2, y: 5}]\ns: text" },
    { key: "l.-1", to: "5", gives: "a: {b: 1, c: {d: 2}}\nl: [1, 5]\ns: text" },
    { key: "s.x.z", to: "5", gives: "a: {b: 1, c: {d: 2}}\nl: [1, {x: 2}]\ns: {x: {z: 5}}" },
    { key: "a.c", to: "{e: 3}", gives: "a: {b: 1, c: {d: 2, e: 3}}\nl: [1, {x: 2}]\ns: text" },
    {
      key: "a.c",
      to: "{e: 3}",
      options: { merge: false },
      gives: "a: {b: 1, c: {e: 3}}\nl: [1, {x: 2}]\ns: text",
    },
  ])("sets $key to $to", ({ key, to, options, gives }) => {
    const node = to.startsWith("{") ? yaml(to) : value(BigInt(to));
    expect(show(updateNode(root, key, node, options))).toBe(show(yaml(gives)));
  });

  it("puts what is added into a declared map that is null, where OmegaConf ends with an AttributeError", () => {
    const type: NodeType = { kind: "map", key: STR, element: INT, optional: true };
    const empty = mergeNodes([withField(type, "???"), yaml("f: null")]);
    const added = updateNode(empty, "f", yaml("{a: 1}"), { forceAdd: true, plain: true });
    expect(onlyField(added)).toBe("f:\n  a: 1\n");
  });

  it.each([
    { key: "l.5", code: "key.not_found", named: "l[5]" },
    { key: "l.x", code: "key.invalid_type", named: "l[x]" },
    { key: "a.new", code: "value.struct", named: "a.new" },
    { key: "new.x", code: "value.struct", named: "new" },
  ])("refuses $key in struct mode", ({ key, code, named }) => {
    const strict = withFlags(root, { struct: true });
    expect(() => updateNode(strict, key, value(1n))).toThrowError(
      expect.objectContaining({ code, details: expect.objectContaining({ key: named }) }),
    );
  });

  it("adds by force where struct forbids it, and struct holds again afterwards", () => {
    const strict = withFlags(root, { struct: true });
    const changed = updateNode(strict, "a.n.m", value(1n), { forceAdd: true });
    expect(child(child(changed, "a") ?? changed, "n")).toMatchObject({ kind: "map" });
    expect(() => updateNode(changed, "a.o", value(1n))).toThrowError(
      expect.objectContaining({ code: "value.struct" }),
    );
  });

  it("leaves the old root alone and shares what it did not touch", () => {
    const before = show(root);
    const changed = updateNode(root, "a.b", value(9n));
    expect(show(root)).toBe(before);
    expect(child(changed, "l")).toBe(child(root, "l"));
  });

  it("keeps the old value as replaced", () => {
    const changed = updateNode(root, "s", value(1n));
    expect(child(changed, "s")?.replaced).toBe(child(root, "s"));
  });

  it("refuses broken interpolations and keys without end", () => {
    expect(() => updateNode(root, "s", value("${"))).toThrowError(
      expect.objectContaining({ code: "interpolation.syntax" }),
    );
    expect(() => updateNode(root, "a.".repeat(5000), value(1n))).toThrowError(
      expect.objectContaining({ code: "key.invalid_type" }),
    );
  });
});

interface Update {
  readonly key: string;
  readonly to: ConfigNode;
  readonly options: UpdateOptions;
}

describe("updates that follow each other", () => {
  const updates: fc.Arbitrary<readonly Update[]> = fc.array(
    fc.record({
      key: fc.constantFrom("a", "b", "a.b", "a.c.d", "b.a", "c.a.b", "a.b.c", "d[0]", "d"),
      to: fc.oneof(maps(["${a}", "${b.a}", "???"]), fc.constant(yaml("[1, {x: 2}]"))),
      options: fc.record({ merge: fc.boolean(), forceAdd: fc.boolean() }),
    }),
    { minLength: 2, maxLength: 8 },
  );

  const newCopies = () => createCopies(createBudget(DEFAULT_LIMITS), DEFAULT_DIALECT);

  /** The tree with origins and what was replaced, or the error that ended the series. */
  function series(start: ConfigNode, all: readonly Update[], copies: () => Copies) {
    const context = createResolveContext({ env: {} });
    try {
      return all.reduce(
        (tree, { key, to, options }) => updateNode(tree, key, to, options, context, copies()),
        start,
      );
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { code: error.code, message: error.message, key: error.details.key };
    }
  }

  it("come to the same when they share their copies, and leave the first root alone", () => {
    fc.assert(
      fc.property(maps(["${a}", "${b}"]), fc.boolean(), updates, (tree, struct, all) => {
        const start = withFlags(tree, { struct });
        const before = show(start);
        const copies = newCopies();
        const shared = series(start, all, () => copies);
        expect(shared).toStrictEqual(series(start, all, newCopies));
        expect(show(start)).toBe(before);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("take time in proportion to their number then, however wide the root", async () => {
    const set = (count: number) => {
      const copies = newCopies();
      const context = createResolveContext({ env: {} });
      let tree = yaml("{}");
      for (let at = 0; at < count; at++)
        tree = updateNode(tree, `key_${at}`, value("x"), {}, context, copies);
      return tree;
    };
    // A copy of the root per update would take a hundred times as long.
    expect(await growth(set, 500)).toBeLessThan(40);
  });
});

describe("dotlist", () => {
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
});
