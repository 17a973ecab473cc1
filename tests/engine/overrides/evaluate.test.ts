import { describe, expect, it } from "vitest";
import { overrideNode, parseOverride } from "../../../src/engine/overrides/index.ts";
import { child } from "../../../src/engine/values/node.ts";
import { errorOf } from "./plain.ts";

describe("overrideNode", () => {
  it("is a config node without the quotes", () => {
    const node = overrideNode(parseOverride("key={a: ['1', 2], 3: null}"));
    const inner = node && child(node, "a");
    expect(inner).toMatchObject({ items: [{ value: "1" }, { value: 2n }] });
    expect(node && child(node, 3n)).toMatchObject({ kind: "scalar", value: null });
  });

  it("knows where each of its parts stands", () => {
    const node = overrideNode(parseOverride("key=[a,b c]", {}, 7));
    expect(node?.kind === "list" && node.items[1]?.origin).toEqual({
      kind: "override",
      text: "key=[a,b c]",
      index: 7,
      start: 7,
      end: 10,
    });
  });

  it("is nothing for a bare deletion", () => {
    expect(overrideNode(parseOverride("~key"))).toBeNull();
  });

  it.each(["key=a,b", "key=[choice(a)]", "key={k:interval(0,1)}"])("refuses %s", (text) => {
    const override = parseOverride(text);
    expect(errorOf(() => overrideNode(override)).code).toBe("override.sweep_not_allowed");
  });
});
