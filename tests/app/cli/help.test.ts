import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillTemplate, isDefaultLogging } from "../../../src/app/cli/help.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { createEngine, memorySource } from "../../../src/index.ts";

describe("usual log", () => {
  const isUsual = (overrides: readonly string[], text = "a: 1\n") => {
    const entries = new Map([["config", { text }]]);
    const engine = createEngine({
      sources: new Map([
        ["mem", ({ provider, path }) => memorySource({ scheme: "mem", path, provider }, entries)],
      ]),
    });
    const { root, repository } = engine.composition({
      configDir: "mem://conf",
      configName: "config",
      overrides,
    });
    return isDefaultLogging(root, repository);
  };

  test("nobody says otherwise", () => {
    expect(isUsual([])).toBe(true);
    expect(isUsual(["a=2", "hydra.job.name=x"])).toBe(true);
  });

  test.each([
    ["hydra.verbose=true"],
    ["hydra.verbose=[a]"],
    ["hydra/hydra_logging=hydra_debug"],
    ["hydra/hydra_logging=none"],
    ["hydra.hydra_logging.root.level=DEBUG"],
    ["+hydra.hydra_logging.nope=1"],
    ["~hydra.hydra_logging.root"],
  ])("%s says otherwise", (override) => {
    expect(isUsual([override])).toBe(false);
  });

  test("the primary config says otherwise", () => {
    expect(isUsual([], "hydra:\n  hydra_logging:\n    root:\n      level: DEBUG\n")).toBe(false);
  });
});

describe("fillTemplate", () => {
  test.each([
    ["a $X b", "a 1 b"],
    ["${X}$Y.", "1$2."],
    ["$$X costs $$1", "$X costs $1"],
    ["", ""],
  ])("%j", (template, expected) => {
    expect(fillTemplate(template, { X: "1", Y: "$2" })).toBe(expected);
  });

  test.each(["$Z", "${Z}", "$", "a $ b", "$1", "${}", "${X", "$toString", "$é"])(
    "refuses %j",
    (template) => {
      try {
        fillTemplate(template, { X: "1" });
        expect.unreachable();
      } catch (error) {
        expect(isConfigError(error) && error.code).toBe("app.help_template");
      }
    },
  );

  test("text without dollar signs, and values of any kind, are left alone", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, value) => {
        const plain = text.replaceAll("$", "");
        expect(fillTemplate(`${plain}\${V}${plain}`, { V: value })).toBe(plain + value + plain);
      }),
    );
  });
});
