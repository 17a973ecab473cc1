import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffConfigs, pathText } from "../../../src/engine/compose/index.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

const diff = (before: string, after: string) =>
  diffConfigs(readYaml(before), readYaml(after)).map(
    ({ kind, path }) => `${kind} ${pathText(path)}`,
  );

describe("diffConfigs", () => {
  it("names changed, removed and added keys", () => {
    expect(diff("a: 1\nb: {c: 2, d: 3}\n", "b: {c: 4, e: {f: 1, g: {}}}\n")).toEqual([
      "removed a",
      "changed b.c",
      "removed b.d",
      "added b.e.f",
      "added b.e.g",
    ]);
  });

  it("tells types apart, but not the order of keys", () => {
    expect(diff("a: 1\nb: x\n", "b: x\na: 1\n")).toEqual([]);
    expect(diff("a: 1\n", "a: 1.0\n")).toEqual(["changed a"]);
    expect(diff("a: '1'\n", "a: 1\n")).toEqual(["changed a"]);
    expect(diff("a: .nan\n", "a: .nan\n")).toEqual([]);
  });

  it("takes lists, and a map against anything else, as one value", () => {
    expect(diff("a: [1, {b: 2}]\n", "a: [1, {b: 3}]\n")).toEqual(["changed a"]);
    expect(diff("a: [1, {b: 2}]\n", "a: [1, {b: 2}]\n")).toEqual([]);
    expect(diff("a: {b: 1}\n", "a: 1\n")).toEqual(["changed a"]);
    expect(diff("a: [1]\n", "a: 1\n")).toEqual(["changed a"]);
    expect(diff("a: [1]\n", "a: {'0': 1}\n")).toEqual(["changed a"]);
    expect(diff("a: [[1]]\n", "a: [{b: 1}]\n")).toEqual(["changed a"]);
    expect(diff("a: [{b: 1, c: 2}]\n", "a: [{c: 2, b: 1}]\n")).toEqual([]);
  });

  it("swaps added and removed when the sides are swapped", () => {
    const configs = fc
      .dictionary(
        fc.constantFrom("a", "b", "c"),
        fc.oneof(fc.nat(2), fc.dictionary(fc.constantFrom("d", "e"), fc.nat(2))),
      )
      .map((data) => readYaml(JSON.stringify(data)));
    const swapped = { changed: "changed", added: "removed", removed: "added" };
    fc.assert(
      fc.property(configs, configs, (a, b) => {
        const there = diffConfigs(a, b).map(({ kind, path }) => `${kind} ${pathText(path)}`);
        const back = diffConfigs(b, a).map(
          ({ kind, path }) => `${swapped[kind]} ${pathText(path)}`,
        );
        expect(back.sort()).toEqual(there.sort());
        expect(diffConfigs(a, a)).toEqual([]);
      }),
    );
  });
});
