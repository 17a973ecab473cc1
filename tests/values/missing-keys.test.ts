import { expect, it } from "vitest";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { missingKeys } from "../../src/values/missing-keys.ts";
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
