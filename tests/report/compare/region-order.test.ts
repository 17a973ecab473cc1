import { describe, expect, it } from "vitest";
import { keysOfBoth, regionsByKey } from "../../../src/report/compare/region-order.ts";
import type { NCUProfileRegion } from "../../../src/report/document.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";

const sample = regionNamed(bundleOf([resnet]), "forward");
const region = (...path: readonly string[]): NCUProfileRegion => ({ ...sample, path });
const order = (a: readonly NCUProfileRegion[], b: readonly NCUProfileRegion[]) => {
  const known = regionsByKey([...a, ...b]);
  return keysOfBoth(a, b).map((key) => known.get(key)?.path.join("/"));
};

describe("the order of the regions of two reports", () => {
  it("has what only the first has behind what stands before it there", () => {
    expect(order([region("x"), region("gone"), region("y")], [region("x"), region("y")])).toEqual([
      "x",
      "gone",
      "y",
    ]);
    expect(order([region("gone"), region("x")], [region("x"), region("new")])).toEqual([
      "gone",
      "x",
      "new",
    ]);
  });

  it("takes regions of one path for two where their domains or kinds differ", () => {
    const x = region("x");
    expect(keysOfBoth([x], [{ ...x, domain: "other" }])).toHaveLength(2);
    expect(keysOfBoth([x], [{ ...x, kind: "start_end" }])).toHaveLength(2);
    expect(order([x, { ...x, domain: "other" }], [x, region("x", "below")])).toEqual([
      "x",
      "x/below",
      "x",
    ]);
  });

  it("may hold more regions than a call takes arguments", () => {
    const gone = Array.from({ length: 150_000 }, (_, at) => region(`step ${at}`));
    const keys = keysOfBoth([region("first"), ...gone], [region("first")]);
    expect(keys).toHaveLength(150_001);
    expect(keys.at(-1)).toContain("step 149999");
  });
});
