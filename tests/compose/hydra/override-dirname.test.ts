import { describe, expect, it } from "vitest";
import { overrideDirname } from "../../../src/compose/hydra/override-dirname.ts";
import { parseOverrides } from "../../../src/overrides/index.ts";

const dirname = (texts: readonly string[], options = {}) =>
  overrideDirname(parseOverrides(texts), {
    keyValueSeparator: "=",
    itemSeparator: ",",
    excludeKeys: [],
    ...options,
  });

describe("override_dirname", () => {
  it("sorts the overrides as they were typed", () => {
    expect(dirname(["b=1", "a=2", "~y", "+z=1"])).toBe("+z=1,a=2,b=1,~y");
  });

  it("replaces every equals sign", () => {
    expect(dirname(["a='x=y'", "b=1"], { keyValueSeparator: "-", itemSeparator: "_" })).toBe(
      "a-'x-y'_b-1",
    );
  });

  it("takes a separator for what it is", () => {
    expect(dirname(["a=1"], { keyValueSeparator: "$&" })).toBe("a$&1");
  });

  it("excludes keys without regard to prefix and package", () => {
    expect(dirname(["+db@x=pg", "seed=1", "lr=2"], { excludeKeys: ["db", "seed"] })).toBe("lr=2");
  });
});
