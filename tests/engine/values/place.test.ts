import { describe, expect, it } from "vitest";
import { updateNode } from "../../../src/engine/values/edit/update.ts";
import {
  type ConfigNode,
  type ContainerNode,
  emptyContainer,
  type Key,
  keyId,
  type NodeType,
  scalar,
} from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import {
  createPlaceIndex,
  flagAt,
  fullKeyOf,
  type Place,
  pathOf,
  rootPlace,
  withFlags,
} from "../../../src/engine/values/place.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { IN_PLACE, resolveTree } from "../../../src/engine/values/resolution/resolve-tree.ts";
import { ORIGIN, value, yaml } from "./trees.ts";
import { INT, onlyField, SERVER, STR, withField } from "./types/typed-trees.ts";

describe("place", () => {
  it.each<{ path: readonly Key[]; key: string }>([
    { path: [], key: "" },
    { path: ["a", "b", "c"], key: "a.b.c" },
    { path: ["l", 0n, 1n], key: "l[0][1]" },
    { path: ["l", 1n, "x"], key: "l[1].x" },
    { path: [true], key: "True" },
  ])("names the place at $path '$key'", ({ path, key }) => {
    const index = createPlaceIndex();
    let at: Place | undefined = rootPlace(yaml("a: {b: {c: 1}}\nl: [[1, 2], {x: 3}]\ntrue: 4"));
    for (const step of path) at = at && index.child(at, step);
    if (at === undefined) throw new Error("nothing stands there");
    expect(fullKeyOf(at)).toBe(key);
    expect(pathOf(at)).toEqual(path);
  });
});

describe("place index", () => {
  const TREE = yaml("a: ${b}\nb: 2\nl: [1, 3]");

  function scalarAt(node: ConfigNode, key: Key) {
    const found = node.kind === "map" ? node.entries.get(keyId(key))?.value : undefined;
    if (found?.kind !== "scalar") throw new Error(`no scalar at ${String(key)}`);
    return found;
  }

  it("makes each place once, so that resolution can compare them", () => {
    const index = createPlaceIndex();
    const root = rootPlace(TREE);
    const list = index.child(root, "l");
    expect(list).toBeDefined();
    expect(index.child(root, "l")).toBe(list);
    expect([...index.knownBelow(root)]).toEqual([list]);
    expect(index.child(root, "none")).toBeUndefined();
  });

  it("lets a single pass go through a map, and answers from what that has resolved", () => {
    const index = createPlaceIndex();
    const root = rootPlace(TREE);
    const walk = index.walk(root);
    expect(index.walk(root)).toBeUndefined();
    const visited = walk?.visit("a", scalarAt(TREE, "a"));
    const two = scalar(2n, fromCode("test"));
    if (walk !== undefined) walk.resolved = (id) => (id === "a" ? two : undefined);
    expect(index.child(root, "a")).toMatchObject({ node: two, result: true });
    if (visited !== undefined) walk?.keep(visited);
    expect(index.child(root, "a")).toBe(visited);
  });
});

describe("flags", () => {
  const strict = withFlags(yaml("a: {b: 1}"), { struct: true });

  it("inherits a flag from the nearest node that sets it", () => {
    const root = rootPlace(strict);
    const inner = createPlaceIndex().child(root, "a");
    if (inner === undefined) throw new Error("no a");
    expect(flagAt(inner, "struct")).toBe(true);
    expect(flagAt(inner, "readonly")).toBe(false);
    const open = { ...inner, node: withFlags(inner.node, { struct: false }) };
    expect(flagAt(open, "struct")).toBe(false);
  });

  it("unsets flags without a trace", () => {
    expect(withFlags(strict, { struct: undefined })).not.toHaveProperty("flags");
  });
});

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
    expect(onlyField(inPlace(withField(SERVER, "${x}", emptyContainer(SERVER, ORIGIN))))).toBe(
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
    expect(() => put(emptyContainer(SERVER, ORIGIN))).toThrow("read-only config container");
    expect(() => put(value("???"))).toThrow("read-only config container");
    expect(() => updateNode(locked(INT, "???"), "f", value("x"), {})).toThrow(
      "read-only config container",
    );
  });
});
