import { describe, expect, it } from "vitest";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { IN_PLACE, resolveTree } from "../../src/values/interpolation/resolve-tree.ts";
import type { ConfigNode, ContainerNode, NodeType } from "../../src/values/node.ts";
import { madeOf } from "../../src/values/types/made-of.ts";
import { updateNode } from "../../src/values/update.ts";
import { ORIGIN, value, yaml } from "./trees.ts";
import { INT, onlyField, SERVER, STR, withField } from "./types/typed-trees.ts";

describe("resolving in place, of what is read-only", () => {
  const inPlace = (node: ContainerNode): ConfigNode =>
    resolveTree(
      { ...node, flags: { readonly: true } },
      createResolveContext({ env: {} }),
      IN_PLACE,
    );

  it.each([
    ["a: ${b}\nb: 1", "Cannot set value of read-only config node"],
    ["a: ${b}\nb: {c: 1}", "Cannot change read-only config container"],
    ["a: ['${b}']\nb: {c: 1}", "ListConfig is read-only"],
  ])("says what would be changed: %j", (text, message) => {
    const node = yaml(text);
    if (node.kind !== "map") throw new Error("no map");
    expect(() => inPlace(node)).toThrow(message);
  });

  it("writes declared maps, objects and unions all the same, as OmegaConf does", () => {
    expect(onlyField(inPlace(withField(SERVER, "${x}", madeOf(SERVER, ORIGIN))))).toBe(
      "f:\n  host: h\n  port: 80\n",
    );
    const union: NodeType = { kind: "union", members: [INT, STR] };
    expect(onlyField(inPlace(withField(union, "${x}", value(5n))))).toBe("f: 5\n");
    expect(() => inPlace(withField(INT, "${x}", value(5n)))).toThrow("read-only config node");
  });
});

describe("setting what is read-only", () => {
  const locked = (f: NodeType, text: string): ContainerNode => ({
    ...withField(f, text),
    flags: { readonly: true },
  });

  it("is refused after a map of no or another class, and null where something has to be", () => {
    const put = (to: ConfigNode) =>
      updateNode(locked(SERVER, "???"), "f", to, { merge: false, plain: true });
    expect(() => put(yaml("{}"))).toThrow("dict is not a subclass of Server. value: {}");
    expect(() => put(value(null))).toThrow("field 'f' is not Optional");
    expect(() => put(madeOf(SERVER, ORIGIN))).toThrow("read-only config container");
    expect(() => put(value("???"))).toThrow("read-only config container");
    expect(() => updateNode(locked(INT, "???"), "f", value("x"), {})).toThrow(
      "read-only config container",
    );
  });
});
