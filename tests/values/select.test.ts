import { describe, expect, it } from "vitest";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import type { SelectOptions } from "../../src/values/select.ts";
import { resolveAt, selectNode } from "../../src/values/select.ts";
import { show, value, yaml } from "./trees.ts";
import { INT, SERVER, STR, withField } from "./types/typed-trees.ts";

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
