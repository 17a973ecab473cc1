import { expect, it } from "vitest";
import { flagAt, openDict, readWrite, withFlags } from "../../src/values/flags.ts";
import { createPlaceIndex, rootPlace } from "../../src/values/place.ts";
import { updateNode } from "../../src/values/update.ts";
import { show, value, yaml } from "./trees.ts";

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

it("opens a map for one change only", () => {
  const add = (node: typeof strict) => updateNode(node, "new", value(1n));
  expect(() => add(strict)).toThrowError(expect.objectContaining({ code: "value.struct" }));
  const changed = openDict(strict, add);
  expect(show(changed)).toBe("a:\n  b: 1\nnew: 1\n");
  expect(changed.flags).toEqual({ struct: true });
});

it("makes a tree writable for one change only", () => {
  const locked = withFlags(yaml("a: 1"), { readonly: true });
  const set = (node: typeof locked) => updateNode(node, "a", value(2n));
  expect(() => set(locked)).toThrowError(expect.objectContaining({ code: "value.readonly" }));
  expect(readWrite(locked, set).flags).toEqual({ readonly: true });
});
