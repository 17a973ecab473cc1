import { describe, expect, it } from "vitest";
import { fromTagged, toTagged } from "./tagged.ts";

describe("tagged values", () => {
  it.each([
    { t: "null" },
    { t: "bool", v: false },
    { t: "int", v: "9007199254740993" },
    { t: "float", v: "1e-05" },
    { t: "float", v: "-0.0" },
    { t: "float", v: "nan" },
    { t: "float", v: "-inf" },
    { t: "str", v: "${x}" },
    { t: "bytes", v: "AAH/" },
    { t: "path", v: "a/b" },
    { t: "list", v: [{ t: "list", v: [] }] },
    {
      t: "dict",
      v: [
        [{ t: "int", v: "1" }, { t: "null" }],
        [{ t: "str", v: "1" }, { t: "null" }],
      ],
    },
  ])("survive both ways: %j", (tagged) => {
    expect(toTagged(fromTagged(tagged))).toEqual(tagged);
  });

  it.each([{ t: "complex", v: "1j" }, { t: "int", v: 1 }, { v: 1 }, null, "x"])(
    "%j is none",
    (value) => {
      expect(() => fromTagged(value)).toThrow(Error);
    },
  );
});
