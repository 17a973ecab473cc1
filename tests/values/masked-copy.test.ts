import { expect, it } from "vitest";
import { withFlags } from "../../src/values/flags.ts";
import { maskedCopy } from "../../src/values/masked-copy.ts";
import { show, yaml } from "./trees.ts";

it("keeps the named keys in the order of the map", () => {
  const node = yaml("a: 1\nb: ${a}\n2: x");
  expect(show(maskedCopy(node, [2n, "b", "nope"]))).toBe("b: ${a}\n2: x\n");
});

it("copies no flags, and nothing of a list", () => {
  const node = withFlags(yaml("a: 1"), { readonly: true, struct: true });
  expect(maskedCopy(node, ["a"]).flags).toBeUndefined();
  expect(() => maskedCopy(yaml("[1]"), ["0"])).toThrow(
    expect.objectContaining({ code: "value.wrong_type" }),
  );
});
