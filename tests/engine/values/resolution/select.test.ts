import { describe, expect, it } from "vitest";
import { dialectNamed } from "../../../../src/engine/values/dialect.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import type { Resolver } from "../../../../src/engine/values/resolution/resolver.ts";
import {
  missingKeys,
  resolveAt,
  type SelectOptions,
  selectNode,
} from "../../../../src/engine/values/resolution/select.ts";
import { show, value, yaml } from "../trees.ts";
import { INT, SERVER, STR, withField } from "../types/typed-trees.ts";

describe("select", () => {
  const root = yaml(
    "a: {b: 1, c: '${.b}'}\nl: [1, {x: 2}]\nr: ${a}\nm: ???\nn: null\nbad: ${nope}\n1: one",
  );
  const context = createResolveContext({ env: {} });

  const select = (key: string, options?: SelectOptions): string | undefined => {
    const found = selectNode(root, key, context, options);
    return found === undefined ? undefined : show(found).trimEnd();
  };

  describe("selectNode", () => {
    it.each([
      ["l.-2", "1"],
      ["l.-3", undefined],
      ["l[-3]", undefined],
      ["l.-99", undefined],
      ["l.-1.x", "2"],
      ["l.-1.y", undefined],
    ])("counts %s from the end in 1.4", (key, gives) => {
      const newer = createResolveContext({ env: {}, dialect: dialectNamed("1.4") });
      const found = selectNode(root, key, newer);
      expect(found && show(found).split("\n")[0]).toBe(gives);
    });

    it.each([
      { key: "a.b", gives: "1" },
      { key: "a.c", gives: "1" },
      { key: "r.c", gives: "1" },
      { key: "l[1].x", gives: "2" },
      { key: ".a.b", gives: "1" },
      { key: "n", gives: "null" },
      { key: "m", gives: undefined },
      { key: "1", gives: undefined },
      { key: "l.-1", gives: undefined },
      { key: "a.b.x", gives: undefined },
    ])("finds $gives at $key", ({ key, gives }) => {
      const found = selectNode(root, key, context);
      expect(found === undefined ? undefined : show(found).split("\n")[0]).toBe(gives);
    });

    it.each([
      { key: "bad", code: "interpolation.not_found" },
      { key: "l.x", code: "key.invalid_type" },
      { key: "..a", code: "key.not_found" },
    ])("refuses $key", ({ key, code }) => {
      expect(() => select(key)).toThrowError(
        expect.objectContaining({ code, details: expect.objectContaining({ key }) }),
      );
    });

    it("gives the default for what is absent, missing or cannot be resolved, not for null", () => {
      const options = { default: value("DEF"), throwOnResolutionFailure: false };
      expect(selectNode(root, "zz", context, options)).toBe(options.default);
      expect(selectNode(root, "m", context, options)).toBe(options.default);
      expect(selectNode(root, "bad", context, options)).toBe(options.default);
      expect(selectNode(root, "n", context, options)).toMatchObject({ value: null });
    });

    it("finds nothing below what is declared and missing, where OmegaConf ends with an AttributeError", () => {
      for (const type of [SERVER, { kind: "map", key: STR, element: INT }] as const)
        expect(selectNode(withField(type, "???"), "f.port", context)).toBeUndefined();
    });

    it.each(["a[b].x", "a.b.x", "a[b][x]"])("names %s as it is written", (key) => {
      const tree = yaml(`a: {b: 1}\nr: \${${key}}`);
      expect(() => selectNode(tree, "r", context)).toThrow(
        `Error trying to access ${key}: node \`a.b\` is not a container and thus cannot contain \`x\``,
      );
    });

    it("refuses missing values on demand", () => {
      expect(() => select("m", { throwOnMissing: true })).toThrowError(
        expect.objectContaining({ code: "value.missing" }),
      );
    });

    it("resolves what is below the selected node on demand", () => {
      expect(select("r")).toBe("b: 1\nc: ${.b}");
      expect(select("r", { deep: true })).toBe("b: 1\nc: 1");
    });
  });

  describe("resolveAt", () => {
    it("reaches keys of every type", () => {
      expect(resolveAt(root, [1n], context)).toMatchObject({ value: "one" });
      expect(resolveAt(root, ["r", "c"], context)).toMatchObject({ value: 1n });
      expect(() => resolveAt(root, ["l", 7n], context)).toThrowError(
        expect.objectContaining({ code: "key.not_found" }),
      );
    });
  });

  it("refuses a key that is nothing but an open bracket, as OmegaConf does", () => {
    for (const key of ["[", "[a"]) expect(() => select(key)).toThrow("list index out of range");
    expect(select("l[0")).toBe(select("l"));
    expect(() => resolveAt(yaml("a: ${${b}}\nb: '['"), ["a"], context)).toThrow(
      "list index out of range",
    );
  });
});

describe("missing keys", () => {
  const keys = (text: string) => [...missingKeys(yaml(text), createResolveContext({ env: {} }))];

  it.each([
    { text: "a: 1", missing: [] },
    { text: "a: ???\nb: {c: '???', d: [1, '???']}", missing: ["a", "b.c", "b.d[1]"] },
    { text: "a: {b: '???'}\nr: ${a}", missing: ["a.b"] },
  ])("finds $missing", ({ text, missing }) => {
    expect(keys(text)).toEqual(missing);
  });

  it.each([
    { text: "a: ${nope}", code: "interpolation.not_found" },
    { text: "b: {a: '${oc.select:b}'}", code: "interpolation.cycle" },
  ])("refuses $text", ({ text, code }) => {
    expect(() => keys(text)).toThrowError(expect.objectContaining({ code }));
  });

  /** What `${count:}` was asked for while missing keys are looked for: the resolver has no cache and is not pure. */
  const calls = (text: string): number => {
    let called = 0;
    const count: Resolver = { name: "count", resolve: () => BigInt(++called) };
    missingKeys(yaml(text), createResolveContext({ env: {}, resolvers: [count] }));
    return called;
  };

  it.each([
    { text: "a: ${count:}\nb: ${a}", expected: 2 },
    { text: "a: {b: '${count:}', c: '???'}\nd: ${a}\ne: ${a}", expected: 3 },
    { text: "a: ${m}\nb: ${m}\nm: {x: '${n}', q: '${n}'}\nn: {z: '${count:}'}", expected: 7 },
  ])("calls a resolver for each reference to what holds it: $text", ({ text, expected }) => {
    expect(calls(text)).toBe(expected);
  });

  it("asks a resolver that makes a map for it once, where OmegaConf asks whether it is missing before", () => {
    let called = 0;
    const make: Resolver = {
      name: "make",
      resolve(_, call) {
        called++;
        return call.create(yaml("{x: '???'}"));
      },
    };
    const context = createResolveContext({ env: {}, resolvers: [make] });
    expect([...missingKeys(yaml("a: ${make:}"), context)]).toEqual(["x"]);
    expect(called).toBe(1);
  });
});
