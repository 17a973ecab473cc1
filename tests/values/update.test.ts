import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBudget } from "../../src/values/budget.ts";
import { type Copies, createCopies } from "../../src/values/draft.ts";
import { ConfigError } from "../../src/values/errors.ts";
import { withFlags } from "../../src/values/flags.ts";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { DEFAULT_LIMITS } from "../../src/values/limits.ts";
import { mergeNodes } from "../../src/values/merge.ts";
import { type ConfigNode, child, type NodeType } from "../../src/values/node.ts";
import type { UpdateOptions } from "../../src/values/update.ts";
import { updateNode } from "../../src/values/update.ts";
import { growth } from "../growth.ts";
import { runs } from "../runs.ts";
import { maps, show, value, yaml } from "./trees.ts";
import { INT, onlyField, STR, withField } from "./types/typed-trees.ts";

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

  const newCopies = () => createCopies(createBudget(DEFAULT_LIMITS));

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
