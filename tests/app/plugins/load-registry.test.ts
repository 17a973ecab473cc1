import { describe, expect, it } from "vitest";
import { loadRegistry } from "../../../src/app/plugins/load-registry.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import {
  createEngine,
  createTargets,
  hydraMain,
  memorySource,
  type Plugin,
  resolver,
  STANDARD_PLUGINS,
} from "../../../src/index.ts";
import { capturedConsole } from "../../captured-console.ts";

const launcher = (name: string, target: string) => ({
  name,
  targets: [target],
  open: () => ({ async *launch() {} }),
});

const codeOf = (error: unknown) => (isConfigError(error) ? [error.code, error.message] : error);

describe("launchers and sweepers of plugins", () => {
  it("are loaded once they may be chosen, behind Hydra's own", async () => {
    const mine = { name: "mine", launchers: async () => [launcher("mine", "a.B")] };
    const { launchers, sweepers } = await loadRegistry([mine]);
    expect(launchers.map(({ name }) => name)).toEqual(["basic", "mine"]);
    expect(sweepers).toHaveLength(1);
    const all = await loadRegistry(STANDARD_PLUGINS);
    expect(all.launchers.map(({ name }) => name)).toContain("slurm");
  });

  it.each<[string, readonly Plugin[], string, RegExp]>([
    [
      "one class of two plugins",
      [
        { name: "one", launchers: [launcher("x", "a.B")] },
        { name: "two", launchers: [launcher("y", "a.B")] },
      ],
      "plugin.clash",
      /'one' and 'two' both provide the launcher 'a\.B'/,
    ],
    [
      "Hydra's own name",
      [{ name: "one", launchers: [launcher("basic", "a.B")] }],
      "plugin.clash",
      /'hydra' and 'one' both provide the launcher 'basic'/,
    ],
    [
      "a folder of the record",
      [{ name: "one", launchers: [launcher("jobs", "a.B")] }],
      "plugin.invalid",
      /cannot be 'jobs'/,
    ],
    [
      "no function",
      [{ name: "one", sweepers: [{ targets: ["a.B"], open: 5 as never }] }],
      "value.wrong_type",
      /sweepers\[0\]\.open must be a function/,
    ],
  ])("are refused: %s", async (_, plugins, code, message) => {
    const error = await loadRegistry(plugins).catch(codeOf);
    expect(error).toEqual([code, expect.stringMatching(message)]);
  });
});

describe("what else plugins provide", () => {
  const mine: Plugin = {
    name: "mine",
    configs: { "db/mine": { value: { port: "${twice:21}" } } },
    resolvers: [resolver("twice", (number) => 2 * Number(number))],
    configSources: new Map([
      [
        "mine",
        ({ path, provider }) =>
          memorySource(
            { scheme: "mine", path, provider },
            new Map([["config", { text: "defaults: [db: mine]" }]]),
          ),
      ],
    ]),
  };

  it("takes part in a composition", () => {
    const config = createEngine({ plugins: [mine] }).compose({
      configDir: "mine://there",
      configName: "config",
    });
    expect(config.get("db.port")).toBe(42);
  });

  it("clashes with what another one has", () => {
    const other: Plugin = { name: "other", configs: { "db/mine": { value: {} } } };
    expect(() => createEngine({ plugins: [mine, other] })).toThrow(
      "The plugins 'mine' and 'other' both provide the config 'db/mine'",
    );
    expect(() => createEngine({ plugins: [mine, mine] })).toThrow(
      "Two plugins have the name 'mine'",
    );
  });

  it("is called back", async () => {
    const told: string[] = [];
    const callbacks = createTargets({ "mine.Told": () => ({ onRunEnd: () => told.push("end") }) });
    const { console, out } = capturedConsole();
    const code = await hydraMain(
      { name: "p", configName: null, plugins: [{ name: "mine", callbacks }] },
      () => {},
      {
        argv: [
          "+hydra.callbacks.t._target_=mine.Told",
          "hydra.run.dir=.",
          "hydra.output_subdir=null",
          "hydra/job_logging=disabled",
          "hydra/hydra_logging=disabled",
        ],
        env: {},
        cwd: process.cwd(),
        now: new Date(),
        console,
      },
    );
    expect([code, told, out.stderr]).toEqual([0, ["end"], ""]);
  });
});
