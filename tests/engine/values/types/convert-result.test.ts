/** Interpolations of a declared map, list, class or union: unchecked up to OmegaConf 2.3, converted in 2.4. */
import { describe, expect, it } from "vitest";
import { DIALECTS } from "../../../../src/engine/values/dialect.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import type { ConfigNode, NodeType } from "../../../../src/engine/values/node.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { selectNode } from "../../../../src/engine/values/resolution/select.ts";
import { show, value, yaml } from "../trees.ts";
import { INT, OBJECT, STR, withField } from "./typed-trees.ts";

const LIST = { kind: "list", element: INT } satisfies NodeType;
const MAP = { kind: "map", key: STR, element: STR } satisfies NodeType;
const UNION = { kind: "union", members: [INT, STR] } satisfies NodeType;

/** What `f: ${x}` of a type is read as, where `x` has a value. */
function read(type: NodeType, x: ConfigNode, version: "1.3" | "1.4"): string {
  const context = createResolveContext({ env: {}, dialect: DIALECTS[version] });
  try {
    const found = selectNode(withField(type, "${x}", x), "f", context);
    return found === undefined ? "nothing" : show(found).replace(/\n(\.\.\.\n)?$/, "");
  } catch (error) {
    if (isConfigError(error)) return error.message;
    throw error;
  }
}

describe("an interpolation of a declared type", () => {
  it.each<[string, NodeType, ConfigNode, string, string | RegExp]>([
    ["items", LIST, yaml("['1', 2]"), "- '1'\n- 2", "- 1\n- 2"],
    ["entries", MAP, yaml("{a: 1, b: x}"), "a: 1\nb: x", "a: '1'\nb: x"],
    ["an item that does not fit", LIST, yaml("[a]"), "- a", /^While dereferencing .*'a'/],
    ["a map for a list", LIST, yaml("{a: 1}"), "a: 1", /^While dereferencing interpolation/],
    ["a text for a map", MAP, yaml("{a: b}"), "a: b", "a: b"],
    ["a map for a class", OBJECT, yaml("{v: 1}"), "v: 1", /^While dereferencing interpolation/],
    ["a map for a union", UNION, yaml("{v: 1}"), "v: 1", /^While dereferencing interpolation/],
    ["a bool for a union", UNION, value(true), "true", /^While dereferencing interpolation/],
    ["a member's value of a union", UNION, value("a"), "a", "a"],
  ])("takes %s", (_, type, x, before, after) => {
    expect(read(type, x, "1.3")).toBe(before);
    if (typeof after === "string") expect(read(type, x, "1.4")).toBe(after);
    else expect(read(type, x, "1.4")).toMatch(after);
  });

  it("gives the node itself where it has the same type", () => {
    const x: ConfigNode = { ...(yaml("[1]") as ConfigNode & { kind: "list" }), type: LIST };
    const context = createResolveContext({ env: {}, dialect: DIALECTS["1.4"] });
    expect(selectNode(withField(LIST, "${x}", x), "f", context)).toBe(x);
  });
});
