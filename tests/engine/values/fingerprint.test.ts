import { describe, expect, it } from "vitest";
import { configFingerprint } from "../../../src/engine/values/fingerprint.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

const of = (text: string, directory = "/runs/1") => configFingerprint(readYaml(text), directory);

describe("configFingerprint", () => {
  it("is the same wherever the results go", () => {
    expect(of("{a: 1, dir: /runs/1/x y}", "/runs/1")).toBe(of("{a: 1, dir: /other/x y}", "/other"));
  });

  it.each(["{a: 2, b: x}", "{a: 1, b: y}", "{a: '1', b: x}", "{a: 1}", "{a: 1, b: /runs/2}"])(
    "differs for %s",
    (text) => {
      expect(of(text)).not.toBe(of("{a: 1, b: x}"));
    },
  );
});
