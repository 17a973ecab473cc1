import { expect, it } from "vitest";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { missingKeys } from "../../src/values/missing-keys.ts";
import type { Resolver } from "../../src/values/resolvers/resolver.ts";
import { yaml } from "./trees.ts";

const keys = (text: string) => [...missingKeys(yaml(text), createResolveContext({ env: {} }))];

it.each([
  { text: "a: 1", missing: [] },
  { text: "a: ???\nb: {c: '???', d: [1, '???']}", missing: ["a", "b.c", "b.d[1]"] },
  { text: "a: {b: '???'}\nr: ${a}", missing: ["a.b"] },
])("finds $missing", ({ text, missing }) => {
  expect(keys(text)).toEqual(missing);
});

it.each([
  { text: "a: ${nope}", code: "interpolation.not_found" },
  { text: "b: {a: '${oc.select:b}'}", code: "interpolation.cycle" },
])("refuses $text", ({ text, code }) => {
  expect(() => keys(text)).toThrowError(expect.objectContaining({ code }));
});

/** What `${count:}` was asked for while missing keys are looked for: the resolver has no cache and is not pure. */
const calls = (text: string): number => {
  let called = 0;
  const count: Resolver = { name: "count", resolve: () => BigInt(++called) };
  missingKeys(yaml(text), createResolveContext({ env: {}, resolvers: [count] }));
  return called;
};

it.each([
  { text: "a: ${count:}\nb: ${a}", expected: 2 },
  { text: "a: {b: '${count:}', c: '???'}\nd: ${a}\ne: ${a}", expected: 3 },
  { text: "a: ${m}\nb: ${m}\nm: {x: '${n}', q: '${n}'}\nn: {z: '${count:}'}", expected: 7 },
])("calls a resolver for each reference to what holds it: $text", ({ text, expected }) => {
  expect(calls(text)).toBe(expected);
});

it("asks a resolver that makes a map for it once, where OmegaConf asks whether it is missing before", () => {
  let called = 0;
  const make: Resolver = {
    name: "make",
    resolve(_, call) {
      called++;
      return call.create(yaml("{x: '???'}"));
    },
  };
  const context = createResolveContext({ env: {}, resolvers: [make] });
  expect([...missingKeys(yaml("a: ${make:}"), context)]).toEqual(["x"]);
  expect(called).toBe(1);
});
