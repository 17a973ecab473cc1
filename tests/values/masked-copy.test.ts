import { expect, it } from "vitest";
import { maskedCopy } from "../../src/values/masked-copy.ts";
import { show, yaml } from "./trees.ts";

it("keeps the named keys in the order of the map", () => {
  const node = yaml("a: 1\nb: ${a}\n2: x");
  if (node.kind !== "map") throw new Error("no map");
  expect(show(maskedCopy(node, [2n, "b", "nope"]))).toBe("b: ${a}\n2: x\n");
});
