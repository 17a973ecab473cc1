import { expect, it } from "vitest";
import { flagAt, withFlags } from "../../src/values/flags.ts";
import { rootPlace } from "../../src/values/place.ts";
import { createPlaceIndex } from "../../src/values/place-index.ts";
import { yaml } from "./trees.ts";

const strict = withFlags(yaml("a: {b: 1}"), { struct: true });

it("inherits a flag from the nearest node that sets it", () => {
  const root = rootPlace(strict);
  const inner = createPlaceIndex().child(root, "a");
  if (inner === undefined) throw new Error("no a");
  expect(flagAt(inner, "struct")).toBe(true);
  expect(flagAt(inner, "readonly")).toBe(false);
  const open = { ...inner, node: withFlags(inner.node, { struct: false }) };
  expect(flagAt(open, "struct")).toBe(false);
});

it("unsets flags without a trace", () => {
  expect(withFlags(strict, { struct: undefined })).not.toHaveProperty("flags");
});
