import { describe, expect, it } from "vitest";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { resolveTree } from "../../../../src/engine/values/resolution/resolve-tree.ts";
import type { Resolver } from "../../../../src/engine/values/resolution/resolver.ts";
import { show, yaml } from "../trees.ts";

const constant = (name: string, result: string): Resolver => ({ name, resolve: () => result });

describe("createResolveContext", () => {
  it("refuses names that are taken, unless they are to be replaced", () => {
    const resolvers = [constant("oc.env", "mine")];
    expect(() => createResolveContext({ resolvers })).toThrowError(
      expect.objectContaining({ code: "resolver.invalid" }),
    );
    const context = createResolveContext({ resolvers, replace: true, env: {} });
    expect(show(resolveTree(yaml("a: ${oc.env:X}"), context))).toBe("a: mine\n");
    expect(() => createResolveContext({ resolvers: [constant("", "x")] })).toThrowError(
      expect.objectContaining({ code: "resolver.invalid" }),
    );
  });

  it("finds resolvers in namespaces, also by an interpolated name", () => {
    const context = createResolveContext({ resolvers: [constant("ns.one", "1st")], env: {} });
    expect(show(resolveTree(yaml("k: one\na: '${ns.${k}:}'"), context))).toBe("k: one\na: 1st\n");
  });

  it("caches by the spelling of the arguments, as long as the context lives", () => {
    let calls = 0n;
    const cached: Resolver = { name: "next", useCache: true, resolve: () => ++calls };
    const context = createResolveContext({ resolvers: [cached], env: {} });
    const text = "a: ${next:1}\nb: ${next:1}\nc: '${next: 1 }'\nd: ${next:2}";
    expect(show(resolveTree(yaml(text), context))).toBe("a: 1\nb: 1\nc: 1\nd: 2\n");
    expect(show(resolveTree(yaml("e: ${next:2}"), context))).toBe("e: 2\n");
  });

  it("lets a resolver see where it was called", () => {
    const where: Resolver = {
      name: "where",
      resolve: (_args, call) => {
        if (call.parent.kind !== "map") throw new Error("no map");
        const sibling = call.select(".x")?.node;
        const seen = sibling?.kind === "scalar" ? String(sibling.value) : "nothing";
        return `${call.fullKey()} of ${call.parent.entries.size} beside ${seen}`;
      },
    };
    const context = createResolveContext({ resolvers: [where], env: {} });
    expect(show(resolveTree(yaml("a: {x: '${b}', w: '${where:}'}\nb: 5"), context))).toBe(
      "a:\n  x: 5\n  w: a.w of 2 beside 5\nb: 5\n",
    );
  });
});
