import { describe, expect, it } from "vitest";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { resolveTree } from "../../src/values/interpolation/resolve-tree.ts";
import { mergeNodes } from "../../src/values/merge.ts";
import { missingKeys } from "../../src/values/missing-keys.ts";
import type { ConfigNode } from "../../src/values/node.ts";
import { list, map } from "../../src/values/node.ts";
import { pyStr } from "../../src/values/python-text.ts";
import { toObject } from "../../src/values/to-object.ts";
import { updateNode } from "../../src/values/update.ts";
import { writeYaml } from "../../src/values/writer.ts";
import { ORIGIN, value } from "./trees.ts";

/** A tree that no reader gives: `a: {a: {a: …}}`. */
function tower(depth: number, leaf: bigint): ConfigNode {
  let node: ConfigNode = value(leaf);
  for (let level = 0; level < depth; level++) node = map([["a", node]], ORIGIN);
  return node;
}

const nested = (depth: number): ConfigNode => {
  let node: ConfigNode = value(1n);
  for (let level = 0; level < depth; level++) node = list([node], ORIGIN);
  return node;
};

const context = createResolveContext({ env: {} });
const under = (node: ConfigNode): ConfigNode => map([["a", node]], ORIGIN);

const passes: Readonly<Record<string, (deep: ConfigNode, other: ConfigNode) => unknown>> = {
  "merge over a tower": (deep, other) => mergeNodes([deep, other]),
  "merge into an empty map": (deep) => mergeNodes([map([], ORIGIN), deep]),
  "merge over an interpolation": (deep, other) =>
    mergeNodes([
      map(
        [
          ["target", deep],
          ["a", value("${target}")],
        ],
        ORIGIN,
      ),
      under(other),
    ]),
  update: (deep) => updateNode(map([], ORIGIN), "a", deep),
  "update by merging": (deep, other) => updateNode(under(deep), "a", other),
  resolve: (deep) => resolveTree(deep, context),
  "missing keys": (deep) => missingKeys(deep, context),
  "plain object": (deep) => toObject(deep),
  text: (deep) => pyStr(deep),
  yaml: (deep) => writeYaml(deep),
};

describe.each(Object.entries(passes))("%s", (name, pass) => {
  it("works on trees as deep as the reader gives", () => {
    expect(() => pass(tower(499, 1n), tower(499, 2n))).not.toThrow();
  });

  it.each([5_000, 100_000])("answers a tree of %i levels with a coded error", (depth) => {
    const code = name === "resolve" ? "interpolation.cycle" : "yaml.depth_limit";
    expect(() => pass(tower(depth, 1n), tower(depth, 2n))).toThrowError(
      expect.objectContaining({ code }),
    );
  });
});

it("replaces lists of any depth as a whole, without a look inside", () => {
  const merged = mergeNodes([under(nested(5_000)), under(nested(100_000))]);
  expect(merged.kind).toBe("map");
});
