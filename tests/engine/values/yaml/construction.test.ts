import { describe, expect, it } from "vitest";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";
import { type PlainValue, pairs, plain } from "./plain-values.ts";

/** The value of the last key of a document. */
function last(text: string): PlainValue | undefined {
  const root = readYaml(text);
  const entries = root.kind === "map" ? [...root.entries.values()] : [];
  const entry = entries.at(-1);
  return entry === undefined ? undefined : plain(entry.value);
}

describe("merge keys", () => {
  it("put what they bring first, wherever they stand", () => {
    expect(last("d: &d {z: 1, y: 2}\nr: {a: 0, <<: *d, b: 9}")).toEqual(
      pairs(["z", 1n], ["y", 2n], ["a", 0n], ["b", 9n]),
    );
  });

  it("lose against the mapping's own keys, which keep the merged position", () => {
    expect(last("d: &d {a: 1, b: 2}\nr: {c: 3, <<: *d, b: 4}")).toEqual(
      pairs(["a", 1n], ["b", 4n], ["c", 3n]),
    );
  });

  it("prefer the first of a list of mappings", () => {
    expect(last("x: &x {a: 1}\ny: &y {a: 2, b: 2}\nr: {<<: [*x, *y]}")).toEqual(
      pairs(["a", 1n], ["b", 2n]),
    );
  });

  it("may stand twice, and bring what was merged itself", () => {
    expect(last("x: &x {a: 1}\ny: &y {<<: *x, b: 2}\nr: {<<: *y, <<: *x}")).toEqual(
      pairs(["a", 1n], ["b", 2n]),
    );
  });

  it("may refer to their own mapping", () => {
    expect(last("r: &r {<<: *r, b: 1}")).toEqual(pairs(["b", 1n]));
  });

  it("are ordinary keys in quotes", () => {
    expect(last('r: {"<<": 1}')).toEqual(pairs(["<<", 1n]));
  });

  it.each([
    ["<<: 1", "expected a mapping or list of mappings for merging, but found scalar"],
    ["<<: [1]", "expected a mapping for merging, but found scalar"],
    ["a: <<", "could not determine a constructor for the tag 'tag:yaml.org,2002:merge'"],
  ])("refuse %j", (text, message) => {
    expect(() => readYaml(text)).toThrow(message);
  });

  it("do not hide a key that stands twice", () => {
    expect(() => readYaml("x: &x {a: 1}\ny: {<<: *x, b: 1, b: 2}")).toThrow(
      "found duplicate key b",
    );
  });
});
