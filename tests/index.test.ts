import { describe, expect, it } from "vitest";
import * as hydraconf from "../src/index.ts";
import { packageInfo } from "../src/package-root.ts";

describe("the public face", () => {
  it("has what the design promises", () => {
    const {
      compose,
      createEngine,
      hydraMain,
      loadYaml,
      merge,
      parseOverride,
      parseOverrides,
      toYaml,
    } = hydraconf;
    for (const member of [
      compose,
      createEngine,
      hydraMain,
      loadYaml,
      merge,
      parseOverride,
      parseOverrides,
      toYaml,
    ])
      expect(member).toBeTypeOf("function");
  });

  it("composes in one call, with the resolvers that Hydra registers", () => {
    const config = hydraconf.compose({
      cwd: packageInfo().root,
      configDir: "conf",
      configName: "config",
      overrides: ["+year=${now:%Y}", "device=cpu"],
    });
    expect(config.get("device")).toBe("cpu");
    expect(config.get("year")).toMatch(/^\d{4}$/);
    expect(config.explain("device")?.replaced).toHaveLength(1);
  });

  it("reads, merges and prints values", () => {
    const tree = hydraconf.merge(hydraconf.loadYaml("a: 1\nb: [1, 2]\n"), { b: [3], c: "${a}" });
    expect(hydraconf.toYaml(tree)).toBe("a: 1\nb:\n- 3\nc: ${a}\n");
    expect(hydraconf.toYaml(tree, { resolve: true })).toBe("a: 1\nb:\n- 3\nc: 1\n");
    expect(hydraconf.toYaml({ b: 1, a: null }, { sortKeys: true })).toBe("a: null\nb: 1\n");
  });

  // As OmegaConf.create does, which its to_yaml and merge begin with for plain data.
  it.each([
    ["interpolation.syntax", { a: { b: "${x" } }],
    ["key.invalid_type", new Map([[null, 1]])],
  ])("refuses plain data that can be in no config: %s", (code, value) => {
    expect(() => hydraconf.toYaml(value)).toThrow(expect.objectContaining({ code }));
    expect(() => hydraconf.merge({}, value)).toThrow(expect.objectContaining({ code }));
  });
});
