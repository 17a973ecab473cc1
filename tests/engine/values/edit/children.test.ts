import { describe, expect, it } from "vitest";
import { isMissingAt, maskedCopy } from "../../../../src/engine/values/edit/children.ts";
import { withFlags } from "../../../../src/engine/values/place.ts";
import { show, yaml } from "../trees.ts";

describe("is missing at", () => {
  it("looks at one child, and follows nothing", () => {
    const node = yaml("a: '???'\nb: ${a}\nc.d: '???'\nl: ['???']");
    expect(["a", "b", "c", "c.d", "l", "l.0"].filter((key) => isMissingAt(node, key))).toEqual([
      "a",
      "c.d",
    ]);
  });

  it("refuses a key of a list that is no index of an item", () => {
    const node = yaml("[1, '???']");
    expect([1n, 0n, -1n, -2n].map((key) => isMissingAt(node, key))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    const refused = (code: string) => expect.objectContaining({ code });
    expect(() => isMissingAt(node, 2n)).toThrow(refused("key.not_found"));
    expect(() => isMissingAt(node, -3n)).toThrow(refused("key.not_found"));
    expect(() => isMissingAt(node, "1")).toThrow(refused("key.invalid_type"));
  });
});

describe("masked copy", () => {
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
});
