import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import {
  type ConfigNode,
  child,
  type Key,
  list,
  map,
  scalar,
} from "../../../../src/engine/values/node.ts";
import { withFlags } from "../../../../src/engine/values/place.ts";
import {
  createResolveContext,
  type ResolveContext,
} from "../../../../src/engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import type { Resolver } from "../../../../src/engine/values/resolution/resolver.ts";
import { resolveAt, selectNode } from "../../../../src/engine/values/resolution/select.ts";
import { runs } from "../../../runs.ts";
import { maps, ORIGIN, show, yaml } from "../trees.ts";

const resolve = (text: string, resolvers: readonly Resolver[] = []): string =>
  show(resolveTree(yaml(text), createResolveContext({ env: {}, resolvers })));

const code = (expected: string) => expect.objectContaining({ code: expected });

const resolvedOrNull = (root: ConfigNode, context: ResolveContext): ConfigNode | null => {
  try {
    return resolveTree(root, context, { toMissing: "missing" });
  } catch (error) {
    if (isConfigError(error)) return null;
    throw error;
  }
};

const childrenOf = (node: ConfigNode): readonly (readonly [Key, ConfigNode])[] => {
  if (node.kind === "map") return [...node.entries.values()].map(({ key, value }) => [key, value]);
  return node.kind === "list" ? node.items.map((item, index) => [BigInt(index), item]) : [];
};

/** Where scalars stand that are not missing. */
const scalarPaths = (node: ConfigNode): readonly (readonly Key[])[] =>
  node.kind === "scalar"
    ? node.value === "???"
      ? []
      : [[]]
    : childrenOf(node).flatMap(([key, below]) => scalarPaths(below).map((rest) => [key, ...rest]));

const valueAt = (root: ConfigNode, path: readonly Key[]): unknown => {
  let at: ConfigNode | undefined = root;
  for (const key of path) at = at && child(at, key);
  return at?.kind === "scalar" ? at.value : undefined;
};

describe("resolveTree", () => {
  it.each([
    { text: "a: 1\nb: ${a}", gives: "a: 1\nb: 1\n" },
    { text: "a: {b: '${..c}', d: '${.b}'}\nc: x", gives: "a:\n  b: x\n  d: x\nc: x\n" },
    { text: "a: [1, '${a[0]}', '${.0}']", gives: "a:\n- 1\n- 1\n- 1\n" },
    {
      text: "a: [true, null, 1.0e-7, x]\nb: '<${a}>'",
      gives: "a:\n- true\n- null\n- 1.0e-07\n- x\nb: <[True, None, 1e-07, 'x']>\n",
    },
    { text: "k: b\na: {b: 1}\nc: '${a.${k}}'", gives: "k: b\na:\n  b: 1\nc: 1\n" },
    // What a reference finds resolved already: texts that look like interpolations, maps, null.
    { text: "a: '\\${x}'\nb: ${a}", gives: "a: ${x}\nb: ${x}\n" },
    {
      text: "a: '${m}'\nm: {p: '${.q}', q: 1}\nb: '${a.p}'\nc: '${a}'",
      gives: "a:\n  p: 1\n  q: 1\nm:\n  p: 1\n  q: 1\nb: 1\nc:\n  p: 1\n  q: 1\n",
    },
    {
      text: "z: null\na: ['${z}', '${a[0]}', '${.1}']",
      gives: "z: null\na:\n- null\n- null\n- null\n",
    },
    // Below a map that is referred to, relative keys count from where it really stands.
    {
      text: "a: {x: '${.y}', y: 1}\nb: {r: '${a}', y: 2}".replaceAll("y", "q"),
      gives: "a:\n  x: 1\n  q: 1\nb:\n  r:\n    x: 1\n    q: 1\n  q: 2\n",
    },
  ])("resolves $text", ({ text, gives }) => {
    expect(resolve(text)).toBe(gives);
  });

  it.each([
    { text: "a: ${a}", error: "interpolation.cycle" },
    { text: "a: ${b}\nb: x${a}", error: "interpolation.cycle" },
    { text: "a: {b: '${a}'}", error: "interpolation.cycle" },
    { text: "a: {x: '${b}'}\nb: {y: '${a}'}", error: "interpolation.cycle" },
    { text: "a: ${oc.select:a}", error: "interpolation.cycle" },
    { text: "a: ${nope}", error: "interpolation.not_found" },
    { text: "a: ${..b}", error: "interpolation.not_found" },
    { text: "a: ${m}\nm: ???", error: "interpolation.to_missing" },
    { text: "a: ${b.c}\nb: 1", error: "value.wrong_type" },
    { text: "a: '${b.${i}}'\ni: 1\nb: [1, 2]", error: "value.wrong_type" },
    { text: "a: ${nope:}", error: "resolver.unknown" },
  ])("refuses $text", ({ text, error }) => {
    expect(() => resolve(text)).toThrowError(code(error));
  });

  it.each([
    { text: "a: {b: '${oc.select:a}'}", message: "a.b -> a" },
    { text: "a: {x: '${b}'}\nb: {z: '${a}'}", message: "a.x -> b.z -> a" },
    { text: "a: ['${d}', 1]\nb: ['${a}']\nd: ${b}", message: "a[0] -> b[0] -> a" },
  ])("names what leads back in $text", ({ text, message }) => {
    expect(() => resolve(text)).toThrowError(`Recursive interpolation detected: ${message}`);
  });

  it("names the key that was asked for and the place that failed", () => {
    expect(() => resolve("foo: ${bar}\nbar: ${zoo}")).toThrowError(
      expect.objectContaining({
        details: expect.objectContaining({
          key: "foo",
          origin: expect.objectContaining({ start: "foo: ${bar}\nbar: ".length }),
        }),
      }),
    );
  });

  it.each([
    { of: "a list", text: "l: ['${nope}', 1]\nu: ${first:${l}}", key: "l[0]" },
    { of: "a list, referred to", text: "l: ['${nope}']\nu: ${v}\nv: x${first:${l}}", key: "l[0]" },
    { of: "a map", text: "m: {0: '${oc.env:NOPE}'}\nu: ${first:${m}}", key: "m.0" },
    { of: "what an item leads to", text: "l: ['${n}']\nn: ${nope}\nu: ${first:${l}}", key: "l[0]" },
    { of: "what it is given", text: "m: {a: '${nope}'}\nu: ${first:${m.a}}", key: "u" },
  ])("names the item of $of that a resolver asked for", ({ text, key }) => {
    const first: Resolver = {
      name: "first",
      resolve: ([given], call) => (given && call.child(given, 0n)) ?? null,
    };
    const context = createResolveContext({ env: {}, resolvers: [first] });
    const about = expect.objectContaining({ details: expect.objectContaining({ key }) });
    expect(() => selectNode(yaml(text), "u", context)).toThrowError(about);
  });

  it("shares what it does not change, and shares one result between references", () => {
    const root = yaml("plain: {x: 1}\na: {x: '${plain.x}'}\nr1: ${a}\nr2: ${a}");
    const resolved = resolveTree(root, createResolveContext({ env: {} }));
    expect(child(resolved, "plain")).toBe(child(root, "plain"));
    const [r1, r2] = [child(resolved, "r1"), child(resolved, "r2")];
    if (r1?.kind !== "map" || r2?.kind !== "map") throw new Error("not maps");
    expect(r1.entries).toBe(r2.entries);
    expect(r1.replaced).toBe(child(root, "r1"));
  });

  it("evaluates impure resolvers for every reference, and pure ones once", () => {
    const counter = (pure: boolean): Resolver => {
      let calls = 0n;
      return { name: "count", pure, resolve: () => ++calls };
    };
    const text = "a: ${count:}\nb: ${a}\nc: ${a}";
    expect(resolve(text, [counter(false)])).toBe("a: 1\nb: 2\nc: 3\n");
    expect(resolve(text, [counter(true)])).toBe("a: 1\nb: 1\nc: 1\n");
  });

  it.each([
    { text: "a: ${count:}\nb: ${a}\nc: x${a}", gives: "a: 1\nb: 1\nc: x1\n" },
    // What stands before a value is not resolved by it.
    { text: "b: ${a}\na: ${count:}\nc: ${a}", gives: "b: 1\na: 2\nc: 2\n" },
    { text: "a: ['${count:}', '${.0}', '${count:}']", gives: "a:\n- 1\n- 1\n- 2\n" },
    {
      text: "a: {b: '${count:}'}\nc: ${a}\nd: ${c.b}\ne: x${c}",
      gives: "a:\n  b: 1\nc:\n  b: 1\nd: 1\ne: 'x{''b'': 1}'\n",
    },
    // A reference resolves the map that it leads to, wherever that stands.
    {
      text: "c: ${a}\na: {b: '${count:}'}\nd: ${a.b}",
      gives: "c:\n  b: 1\na:\n  b: 1\nd: 1\n",
    },
    {
      text: "a: ${oc.create:{b:${count:}}}\nd: ${a.b}\ne: ${a}",
      gives: "a:\n  b: 1\nd: 1\ne:\n  b: 1\n",
    },
    // A map that is written as text shows what it has become.
    { text: "a: [1, '${b}']\nb: 2\nc: x${a}", gives: "a:\n- 1\n- 2\nb: 2\nc: x[1, 2]\n" },
    { text: "c: x${a}\na: [1, '${b}']\nb: 2", gives: "c: x[1, '${b}']\na:\n- 1\n- 2\nb: 2\n" },
    // So do texts that are interpolations once they are written, and missing values.
    { text: "a: '\\${b}'\nb: 1\nc: ${a}", gives: "a: ${b}\nb: 1\nc: 1\n" },
    { text: "a: {c: '\\${b}'}\nb: 1\nd: ${a.c}", gives: "a:\n  c: ${b}\nb: 1\nd: 1\n" },
    // Who refers to a map resolves them where they stand.
    { text: "a: 1\nd: {b: '\\${a}'}\ne: ${d}", gives: "a: 1\nd:\n  b: 1\ne:\n  b: 1\n" },
    {
      text: "a: 1\nd: [{b: '\\${a}'}, '\\${a}']\ne: ${d[0]}\nf: ${d}\ng: ${f}",
      gives: "a: 1\nd:\n- b: 1\n- 1\ne:\n  b: 1\nf:\n- b: 1\n- 1\ng:\n- b: 1\n- 1\n",
    },
    { text: "m: ???\na: ${m}\nb: ${oc.select:a,1}", gives: "m: ???\na: ???\nb: 1\n" },
  ])("in place, finds what was resolved before: $text", ({ text, gives }) => {
    let calls = 0n;
    const resolvers: Resolver[] = [{ name: "count", resolve: () => ++calls }];
    const context = createResolveContext({ env: {}, resolvers });
    expect(show(resolveTree(yaml(text), context, IN_PLACE))).toBe(gives);
  });

  it("in place, leaves what a cached resolver found as it stood for others", () => {
    let calls = 0n;
    const count: Resolver = { name: "count", resolve: () => ++calls };
    const find: Resolver = {
      name: "find",
      useCache: true,
      resolve: ([key], call) =>
        call.select(String(key?.node.kind === "scalar" && key.node.value)) ?? null,
    };
    const context = createResolveContext({ env: {}, resolvers: [count, find] });
    const tree = yaml("x: ${find:m}\nz: ${find:m}\nm: {a: '${k}'}\nk: ${count:}");
    const resolved = (): string => show(resolveTree(tree, context, IN_PLACE));
    expect(resolved()).toBe("x:\n  a: 1\nz:\n  a: 1\nm:\n  a: 1\nk: 2\n");
    expect(resolved()).toBe("x:\n  a: 3\nz:\n  a: 3\nm:\n  a: 4\nk: 5\n");
  });

  it("takes what a resolver returns as it stands", () => {
    const raw: Resolver = {
      name: "raw",
      resolve: () => map([["x", scalar("${nope}", ORIGIN)]], ORIGIN),
    };
    expect(resolve("a: ${raw:}", [raw])).toBe("a:\n  x: ${nope}\n");
    expect(() => resolve("a: ${raw:}\nb: ${a.x}", [raw])).toThrowError(code("value.wrong_type"));
  });

  it("refuses, in place, results that cannot be written to a config", () => {
    const inPlace = (text: string): string =>
      show(resolveTree(yaml(text), createResolveContext({ env: {} }), IN_PLACE));
    expect(inPlace("m: ???\na: ${m}\nb: ${oc.create:{x:1}}\nc: '\\${x}'")).toBe(
      "m: ???\na: ???\nb:\n  x: 1\nc: ${x}\n",
    );
    for (const text of ["a: \"${oc.decode:'{x: 1}'}\"\nb: ${nope}", "a: [\"${oc.decode:'[1]'}\"]"])
      expect(() => inPlace(text)).toThrowError(code("value.wrong_type"));
    expect(() => inPlace("a: '\\${'")).toThrowError(code("interpolation.syntax"));
  });

  it("resolves, in place, what an interpolation leads to before it refuses to write it", () => {
    const inPlace = (text: string): string =>
      show(
        resolveTree(
          withFlags(yaml(text), { readonly: true }),
          createResolveContext({ env: {} }),
          IN_PLACE,
        ),
      );
    expect(() => inPlace("a: ${b}\nb: {c: '${nope}'}")).toThrowError(
      code("interpolation.not_found"),
    );
    expect(() => inPlace("a: ${b}\nb: {c: 1}")).toThrowError(code("value.readonly"));
    expect(() => inPlace("a: \"${oc.decode:'[1]'}\"")).toThrowError(code("value.readonly"));
    expect(() => inPlace("a: ${b}\nb: ???")).toThrowError(code("value.readonly"));
  });

  it("keeps missing values, unless they are refused", () => {
    const context = createResolveContext({ env: {} });
    const root = yaml("m: ???\na: ${m}");
    expect(show(resolveTree(root, context, { toMissing: "missing" }))).toBe("m: ???\na: ???\n");
    expect(() => resolveTree(yaml("m: ???"), context, { throwOnMissing: true })).toThrowError(
      code("value.missing"),
    );
  });

  it("gives each value as it is when it is asked for alone", () => {
    const texts = [
      "${a}",
      "${b}x",
      "${.b}",
      "${..c}",
      "${a.b}",
      "\\${a}",
      "${oc.select:b}",
      "???",
      "1",
    ];
    const context = createResolveContext({ env: {} });
    let compared = 0;
    fc.assert(
      fc.property(maps(texts), (root) => {
        const resolved = resolvedOrNull(root, context);
        if (resolved === null) return;
        for (const path of scalarPaths(resolved)) {
          const alone = resolveAt(root, path, context);
          expect(alone).toMatchObject({ kind: "scalar", value: valueAt(resolved, path) });
          compared++;
        }
      }),
      { numRuns: runs(1000) },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it("ends on every tree", () => {
    const texts = ["${a}", "${.b}", "${..c}", "x${a}", "${a.b}", "${oc.dict.values:a}", "???"];
    fc.assert(
      fc.property(maps(texts), (root) => {
        try {
          resolveTree(root, createResolveContext({ env: {} }));
        } catch (error) {
          if (!isConfigError(error)) throw error;
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it("refuses chains that would exhaust the stack, and resolves any number in order", () => {
    const chain = (next: (index: number) => number, end: number) =>
      map(
        Array.from({ length: 10_000 }, (_, index) => [
          `k${index}`,
          scalar(index === end ? 1n : `\${k${next(index)}}`, ORIGIN),
        ]),
        ORIGIN,
      );
    const context = createResolveContext({ env: {} });
    const forward = resolveTree(
      chain((index) => index - 1, 0),
      context,
    );
    expect(child(forward, "k9999")).toMatchObject({ value: 1n });
    expect(() =>
      resolveTree(
        chain((index) => index + 1, 9999),
        context,
      ),
    ).toThrowError(code("interpolation.cycle"));
  });

  it("evaluates each of many references once", () => {
    let calls = 0;
    const once: Resolver = {
      name: "once",
      pure: true,
      resolve: () => BigInt(++calls),
    };
    const laughs = map(
      [
        ["a0", scalar("${once:}", ORIGIN)] as const,
        ...Array.from({ length: 60 }, (_, index) => {
          const items = Array.from({ length: 10 }, () => scalar(`\${a${index}}`, ORIGIN));
          return [`a${index + 1}`, list(items, ORIGIN)] as const;
        }),
      ],
      ORIGIN,
    );
    resolveTree(
      laughs,
      createResolveContext({ env: {}, limits: { values: Infinity }, resolvers: [once] }),
    );
    expect(calls).toBe(1);
  });
});
