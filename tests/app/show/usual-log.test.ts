import { expect, test } from "vitest";
import { isUsualLog } from "../../../src/app/show/usual-log.ts";
import { createEngine, memorySource } from "../../../src/index.ts";

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
  return isUsualLog(root, repository);
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
