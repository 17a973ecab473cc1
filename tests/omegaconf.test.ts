import { describe, expect, it } from "vitest";
import {
  fromDotlist,
  isMissing,
  loadYaml,
  maskedCopy,
  merge,
  mergeDotlist,
  missingKeys,
  resolve,
  resolver,
  select,
  setFlags,
  toObject,
  toYaml,
  update,
} from "../src/index.ts";

const tree = loadYaml("a: {b: 1, c: '${.b}'}\nl: [1, '???']\nr: ${a}\nm: ???\ne: ${oc.env:WHO}\n");
const env = { WHO: "me" };

const refused = (code: string) => expect.objectContaining({ code });

it("reads, merges and prints values", () => {
  const merged = merge(loadYaml("a: 1\nb: [1, 2]\n"), { b: [3], c: "${a}" });
  expect(toYaml(merged)).toBe("a: 1\nb:\n- 3\nc: ${a}\n");
  expect(toYaml(merged, { resolve: true })).toBe("a: 1\nb:\n- 3\nc: 1\n");
  expect(toYaml({ b: 1, a: null }, { sortKeys: true })).toBe("a: null\nb: 1\n");
});

describe("select", () => {
  it("resolves what it finds, and what is below", () => {
    const found = select(tree, "r");
    expect(found && toObject(found)).toEqual({ b: 1, c: 1 });
    expect(select(tree, "l[0]")).toMatchObject({ value: 1n });
    expect(select(tree, "e", { env })).toMatchObject({ value: "me" });
  });

  it("gives nothing for what is not there, or missing, unless that is refused", () => {
    expect([select(tree, "nope"), select(tree, "m")]).toEqual([undefined, undefined]);
    expect(() => select(tree, "m", { throwOnMissing: true })).toThrow(refused("value.missing"));
    const broken = { x: "${nope}" };
    expect(() => select(broken, "x")).toThrow(refused("interpolation.not_found"));
    expect(select(broken, "x", { throwOnResolutionFailure: false })).toBeUndefined();
  });
});

it("resolves with the resolvers that it is given", () => {
  const resolvers = [resolver("twice", (text: string) => text + text)];
  const text = "a: ${twice:x}\nb: ${oc.env:WHO}\nc: ${d}\nd: ???\n";
  const options = { resolvers, env };
  expect(toYaml(resolve(loadYaml(text), options))).toBe("a: xx\nb: me\nc: ???\nd: ???\n");
  expect(toYaml({ a: "${twice:x}" }, { ...options, resolve: true })).toBe("a: xx\n");
  expect(() => resolve({ a: "${twice:x}" })).toThrow(refused("resolver.unknown"));
});

it("updates, and leaves the tree that it was given as it is", () => {
  expect(toYaml(update(tree, "a.d", { e: [1.5] }))).toContain("  d:\n    e:\n    - 1.5\n");
  const plain = { a: { b: 1, c: 2 } };
  expect(toYaml(update(plain, "a", { c: 3 }))).toBe("a:\n  b: 1\n  c: 3\n");
  expect(toYaml(update(plain, "a", { c: 3 }, { merge: false }))).toBe("a:\n  c: 3\n");
  expect(toYaml(plain)).toBe("a:\n  b: 1\n  c: 2\n");
});

it("heeds flags when it updates and merges, until they are unset", () => {
  const strict = setFlags({ a: 1 }, { struct: true });
  expect(() => update(strict, "b", 2)).toThrow(refused("value.struct"));
  expect(() => merge(strict, { b: 2 })).toThrow(refused("value.struct"));
  expect(toYaml(update(strict, "b", 2, { forceAdd: true }))).toBe("a: 1\nb: 2\n");
  expect(toYaml(merge(setFlags(strict, { struct: undefined }), { b: 2 }))).toBe("a: 1\nb: 2\n");
  const locked = setFlags({ a: 1 }, { readonly: true });
  expect(() => update(locked, "a", 2)).toThrow(refused("value.readonly"));
});

it("names what is missing", () => {
  expect(missingKeys(tree, { env })).toEqual(["l[1]", "m"]);
  expect(["m", "a", "nope"].filter((key) => isMissing(tree, key))).toEqual(["m"]);
  expect([0, 1, 9].filter((index) => isMissing({ l: "???" }, index))).toEqual([]);
  expect([0, 1, 9].filter((index) => isMissing([1, "???"], index))).toEqual([1]);
  expect(() => isMissing([1], "a")).toThrow(refused("key.invalid_type"));
});

it("copies some keys of a map", () => {
  expect(toYaml(maskedCopy({ a: 1, b: 2, c: 3 }, ["c", "a", "x"]))).toBe("a: 1\nc: 3\n");
  expect(toYaml(maskedCopy(loadYaml("1: x\n2: z\n"), [2]))).toBe("2: z\n");
  expect(() => maskedCopy([1], [0])).toThrow(refused("value.wrong_type"));
});

it("reads a list of keys with values", () => {
  expect(toYaml(fromDotlist(["a.b=[1, 2]", "c"]))).toBe("a:\n  b:\n  - 1\n  - 2\nc: null\n");
  expect(toYaml(mergeDotlist({ a: { b: 1, c: 2 } }, ["a.b=x", "d=1.0"]))).toBe(
    "a:\n  b: x\n  c: 2\nd: 1.0\n",
  );
});

// As OmegaConf.create does, which its functions begin with for plain data.
it.each([
  ["interpolation.syntax", { a: { b: "${x" } }],
  ["key.invalid_type", new Map([[null, 1]])],
])("refuses plain data that can be in no config: %s", (code, value) => {
  const uses = [
    () => toYaml(value),
    () => merge({}, value),
    () => select(value, "x"),
    () => update({}, "x", value),
    () => setFlags(value, { struct: true }),
  ];
  for (const use of uses) expect(use).toThrow(refused(code));
});
