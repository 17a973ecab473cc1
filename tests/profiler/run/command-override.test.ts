import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEngine } from "../../../src/index.ts";
import { commandOverrides } from "../../../src/profiler/run/command-override.ts";
import { runs } from "../../runs.ts";

const engine = createEngine({
  store: new Map([
    ["config", { text: "defaults: [{workload: none}, _self_]" }],
    ["workload/none", { text: "{}" }],
    ["workload/command", { text: "command: []" }],
  ]),
});

/** What the workload would be started with, had the overrides been typed. */
function commandOf(overrides: readonly string[]): unknown {
  const config = engine.compose({ configName: "config", overrides });
  return config.get("workload.command");
}

describe("commandOverrides", () => {
  const argument = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("\\", "$", "{", "}", "'", '"', ":", ",", "a", " ", "=") }),
  );

  it("brings every argument through the config as it was typed", () => {
    const argv = fc.array(
      argument.filter((text) => text !== "???" && !/[\ud800-\udfff]|\0/.test(text)),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(argv, (typed) => {
        expect(commandOf(commandOverrides(typed))).toEqual(typed);
      }),
      { numRuns: runs(500) },
    );
  });

  it("leaves references to args as they were typed, and nothing else", () => {
    expect(commandOverrides(["prog", "${args.n}", "n=${args.n}", "${n}"])).toEqual([
      "workload=command",
      "workload.command=['prog','${args.n}','n=${args.n}','\\${n}']",
    ]);
  });

  it.each([[[]], [["prog", "???"]]])("refuses %j", (argv) => {
    expect(() => commandOverrides(argv)).toThrow(expect.objectContaining({ name: "ConfigError" }));
  });
});
