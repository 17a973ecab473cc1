import { describe, expect, it } from "vitest";
import { packageInfo } from "../src/engine/values/package-info.ts";
import * as hydraconf from "../src/index.ts";

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
    const why = config.explain("device");
    expect(why?.replaced).toHaveLength(1);
    if (why === undefined) return;
    expect(hydraconf.renderExplanation(why)).toMatch(
      /^device = "cpu"\n {2}set by override .*\n {2}replaced /,
    );
  });
});
