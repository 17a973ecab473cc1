import { describe, expect, it } from "vitest";
import { withFlags } from "../../src/values/flags.ts";
import { child } from "../../src/values/node.ts";
import type { UpdateOptions } from "../../src/values/update.ts";
import { updateNode } from "../../src/values/update.ts";
import { show, value, yaml } from "./trees.ts";

const root = yaml("a: {b: 1, c: {d: 2}}\nl: [1, {x: 2}]\ns: text");

describe("updateNode", () => {
  it.each<{ key: string; to: string; options?: UpdateOptions; gives: string }>([
    { key: "a.b", to: "5", gives: "a: {b: 5, c: {d: 2}}\nl: [1, {x: 2}]\ns: text" },
    { key: "l[1].x", to: "5", gives: "a: {b: 1, c: {d: 2}}\nl: [1, {x: 5}]\ns: text" },
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
