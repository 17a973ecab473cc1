import { describe, expect, it } from "vitest";
import { type Box, isInside, layOut } from "../../../src/report/client/icicle-layout.ts";
import type { Region } from "../../../src/report/client/state.ts";

interface Tree {
  readonly label: string;
  readonly value: number | null;
  readonly children?: readonly Tree[];
}

function regionOf({ label, value, children = [] }: Tree, parent: Region | null): Region {
  const inner: Region[] = [];
  const level = parent === null ? 0 : parent.level + 1;
  const region = { row: 0, label, path: label, level, parent, children: inner, value, calls: 1 };
  for (const child of children) inner.push(regionOf(child, region));
  return region;
}

const roots = (...trees: readonly Tree[]) => trees.map((tree) => regionOf(tree, null));

/** `label: left width row`. */
const drawn = (boxes: readonly Box[]) =>
  boxes.map(({ region, left, width, row }) => `${region.label}: ${left} ${width} ${row}`);

describe("the boxes of an icicle", () => {
  it("are as wide as their share of what is around them", () => {
    const tree = roots(
      {
        label: "a",
        value: 4,
        children: [
          { label: "b", value: 1 },
          { label: "c", value: 2 },
        ],
      },
      { label: "d", value: 2 },
    );
    expect(drawn(layOut(tree, 8, null))).toEqual([
      "a: 0 0.5 0",
      "b: 0 0.125 1",
      "c: 0.125 0.25 1",
      "d: 0.5 0.25 0",
    ]);
  });

  it("are squeezed where several threads took more than what is around them", () => {
    const threads = [
      { label: "b", value: 6 },
      { label: "c", value: 2 },
    ];
    const tree = roots({ label: "a", value: 4, children: threads });
    expect(drawn(layOut(tree, 4, null))).toEqual(["a: 0 1 0", "b: 0 0.75 1", "c: 0.75 0.25 1"]);
    expect(drawn(layOut(tree, null, null))[0]).toBe("a: 0 1 0");
  });

  it("are left out where they could not be seen, with what is in them, and keep their place", () => {
    const tree = roots(
      { label: "none", value: null },
      { label: "narrow", value: 1, children: [{ label: "inner", value: 1 }] },
      { label: "wide", value: 9999 },
    );
    expect(drawn(layOut(tree, 10_000, null))).toEqual(["wide: 0.0001 0.9999 0"]);
    expect(layOut(roots({ label: "none", value: 0 }), 0, null)).toEqual([]);
  });

  it("of a zoomed region fill the width below those around it", () => {
    const [root] = roots({
      label: "a",
      value: 8,
      children: [{ label: "b", value: 4, children: [{ label: "c", value: 2 }] }],
    });
    const zoomed = root?.children[0] ?? null;
    expect(drawn(layOut(root ? [root] : [], 8, zoomed))).toEqual([
      "a: 0 1 0",
      "b: 0 1 1",
      "c: 0 0.5 2",
    ]);
    expect(root && isInside(root, zoomed)).toBe(false);
    expect(zoomed?.children.every((region) => isInside(region, zoomed))).toBe(true);
    expect(root && isInside(root, null)).toBe(true);
  });
});
