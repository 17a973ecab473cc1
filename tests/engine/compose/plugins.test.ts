import { describe, expect, it } from "vitest";
import type { Plugin } from "../../../src/app/plugins/contract/plugin.ts";
import { STANDARD_PLUGINS } from "../../../src/app/plugins/standard-plugins.ts";
import { launchRefusal } from "../../../src/engine/compose/index.ts";
import { memorySource } from "../../../src/engine/compose/sources/memory-source.ts";
import { map, scalar } from "../../../src/engine/values/node.ts";
import { fromCode } from "../../../src/engine/values/origin.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { resolveTree } from "../../../src/engine/values/resolution/resolve-tree.ts";
import { createEngine, type EngineOptions } from "../../../src/engine.ts";
import { type Files, refusal } from "./in-memory.ts";

/** An engine over files in memory, which stand where a directory would. */
const engineOf = (files: Files, options: EngineOptions = {}) =>
  createEngine({
    cwd: "/nowhere",
    env: {},
    sources: new Map([
      [
        "mem",
        ({ provider, path }) =>
          memorySource(
            { scheme: "mem", path, provider },
            new Map(Object.entries(files).map(([name, text]) => [name, { text }])),
          ),
      ],
    ]),
    ...options,
  });

const compositionOf = (overrides: readonly string[], files: Files = {}, options?: EngineOptions) =>
  engineOf({ config: "x: 1", ...files }, options).composition({
    configDir: "mem://conf",
    configName: "config",
    overrides,
  });

// biome-ignore lint/suspicious/noExplicitAny: tests look at many shapes of one node
const hydraOf = (...args: Parameters<typeof compositionOf>): any =>
  toObject(compositionOf(...args).hydra);

const STANDARD_PATHS = STANDARD_PLUGINS.flatMap(({ files, configs = {} }) => [
  ...Object.keys(files?.texts ?? {}),
  ...Object.keys(configs),
]);

describe("the standard plugins", () => {
  it.each(STANDARD_PATHS)("%s composes, and does not without plugins", (path) => {
    const at = path.lastIndexOf("/");
    const [group, option] = [path.slice(0, at), path.slice(at + 1)];
    const choices = group === "hydra/sweeper/sampler" ? ["hydra/sweeper=optuna"] : [];
    const composition = compositionOf([...choices, `${group}=${option}`]);
    expect(composition.choices.get(group)).toBe(option);
    expect(composition.defaults.map(({ configPath }) => configPath)).toContain(path);
    expect(
      refusal(() => compositionOf([...choices, `${group}=${option}`], {}, { plugins: [] })).code,
    ).toBe("compose.missing_option");
  });

  it("are listed where an option does not exist, and their files in the search path", () => {
    const error = refusal(() => compositionOf(["hydra/launcher=nope"]));
    expect(error.message).toBe(
      [
        "In 'hydra/config': Could not find 'hydra/launcher/nope'",
        "",
        "Available options in 'hydra/launcher':",
        "\tbasic\n\tjoblib\n\tlocal\n\trq\n\tslurm\n\tsubmitit_local\n\tsubmitit_slurm",
        "Config search path:",
        "\tprovider=hydra, path=pkg://hydra.conf",
        "\tprovider=main, path=mem://conf",
        "\tprovider=hydra-colorlog, path=pkg://hydra_plugins.hydra_colorlog.conf",
        "\tprovider=schema, path=structured://",
      ].join("\n"),
    );
    expect(refusal(() => compositionOf(["hydra/sweeper=nope"])).details.available).toEqual([
      "ax",
      "basic",
      "nevergrad",
      "optuna",
      "random",
      "successive_halving",
      "tpe",
    ]);
    const bare = refusal(() => compositionOf(["hydra/launcher=nope"], {}, { plugins: [] }));
    expect(bare.details.available).toEqual(["basic"]);
    expect(bare.message).not.toContain("colorlog");
  });

  it.each([
    [
      [],
      "pruner=median",
      "this sweeper has no such setting: hydra/sweeper=NAME chooses another one",
    ],
    [["hydra/sweeper=successive_halving"], "pruner=median", "this sweeper has no such setting: "],
    [["hydra/sweeper=tpe"], "prunner=median", "use hydra.sweeper.pruner=median"],
    [["hydra/sweeper=optuna"], "zzz=1", "use +hydra.sweeper.zzz=1 to add the key"],
  ])("proposes no further setting to a sweeper that refuses it: %j %s", (chosen, setting, hint) => {
    const error = refusal(() => compositionOf([...chosen, `hydra.sweeper.${setting}`]));
    expect(error.details.hint).toContain(hint);
    if (!chosen.includes("hydra/sweeper=optuna")) expect(error.details.hint).not.toContain("+");
  });

  it.each([
    [[], "n_jobs=2"],
    [["hydra/launcher=local"], "partition=gpu"],
  ])("nor to a launcher: %j %s", (chosen, setting) => {
    const error = refusal(() => compositionOf([...chosen, `hydra.launcher.${setting}`]));
    expect(error.details.hint).toBe(
      "this launcher has no such setting: hydra/launcher=NAME chooses another one",
    );
  });

  it.each([
    "hydra/launcher/local",
    "hydra/launcher/slurm",
    "hydra/sweeper/random",
    "hydra/sweeper/successive_halving",
    "hydra/sweeper/tpe",
  ])("that Hydra has not give way to a file of the tree: %s", (path) => {
    const [, kind = "", option] = path.split("/");
    const text = "_target_: theirs\nn_jobs: many\npartition: [gpu]\n";
    const composition = compositionOf([`hydra/${kind}=${option}`], { [path]: text });
    expect(toObject(composition.hydra)).toMatchObject({
      [kind]: { _target_: "theirs", n_jobs: "many", partition: ["gpu"] },
    });
    expect(composition.warnings.map(({ code }) => code)).not.toContain("schema_match");
  });

  it("that Hydra has not give a file what it lacks that names their class, and check it", () => {
    const path = "hydra/sweeper/random";
    const target = "_target_: hydraconf.sweepers.Random\n";
    const { hydra } = compositionOf([`hydra/sweeper=random`], { [path]: `${target}seed: 3\n` });
    expect(toObject(hydra)).toMatchObject({
      sweeper: { seed: 3, n_trials: 20, direction: "minimize" },
    });
    const error = refusal(() =>
      compositionOf(["hydra/sweeper=random"], { [path]: `${target}trials: 3\n` }),
    );
    expect(error.message).toContain(`Error merging '${path}' with schema`);
  });

  it("of Hydra's own plugins check a file of the tree at their path", () => {
    const error = refusal(() =>
      compositionOf(["hydra/launcher=joblib"], { "hydra/launcher/joblib": "nope: 1\n" }),
    );
    expect(error.message).toContain("Error merging 'hydra/launcher/joblib' with schema");
  });

  it("stand before directories that the user adds", () => {
    const { repository } = engineOf({ config: "" }).composition({
      configDir: "mem://conf",
      configDirs: ["mem://more"],
      configName: "config",
    });
    expect(repository.sources.map(({ provider }) => provider)).toEqual([
      "hydra",
      "main",
      "hydra-colorlog",
      "command-line",
      "schema",
    ]);
  });

  it("convert what fits their types and refuse the rest", () => {
    const { launcher } = hydraOf([
      "hydra/launcher=submitit_slurm",
      "hydra.launcher.mem_gb='16'",
      "hydra.launcher.partition=7",
      "hydra.launcher.setup=[a,1]",
      "+hydra.launcher.additional_parameters.reservation=x",
    ]);
    expect(launcher).toMatchObject({
      mem_gb: 16,
      partition: "7",
      setup: ["a", "1"],
      additional_parameters: { reservation: "x" },
    });
    for (const override of [
      "hydra.launcher.timeout_min=abc",
      "hydra.launcher.timeout_min=null",
      "hydra.launcher.stderr_to_stdout=maybe",
      "hydra.launcher.additional_parameters=1",
    ])
      expect(
        refusal(() => compositionOf(["hydra/launcher=submitit_slurm", override])).message,
      ).toMatch(/^Error merging override /);
    expect(() => compositionOf(["hydra/launcher=submitit_slurm", "hydra.launcher.nope=1"])).toThrow(
      "To append to your config use +hydra.launcher.nope=1",
    );
  });

  it("read the environment where they say so, in their own types", () => {
    const options = { env: { REDIS_PORT: "7000", REDIS_SSL: "True" } };
    const engine = engineOf({ config: "" }, options);
    const { root } = engine.composition({
      configDir: "mem://conf",
      configName: "config",
      overrides: ["hydra/launcher=rq"],
    });
    const redis = root.entries.get("hydra")?.value;
    expect(redis?.kind).toBe("map");
    const launcher = redis?.kind === "map" ? redis.entries.get("launcher")?.value : undefined;
    expect(launcher).toBeDefined();
    if (launcher !== undefined)
      expect(toObject(resolveTree(launcher, engine.resolveContext()))).toMatchObject({
        redis: { host: "localhost", port: 7000, ssl: true, db: "0", password: null },
        wait_polling: 1,
      });
  });
});

describe("a default of a plugin", () => {
  it("is explained by the config that it stands in", () => {
    const choice = ["hydra/sweeper=optuna", "hydra.sweeper.n_jobs=4"];
    const config = engineOf({ config: "" }).compose({
      configDir: "mem://conf",
      configName: "config",
      overrides: choice,
      returnHydraConfig: true,
    });
    const origin = (key: string) => config.explain(key)?.cause.origin;
    expect(origin("hydra.sweeper.n_trials")).toEqual({
      kind: "schema",
      schema: "hydra/sweeper/optuna",
    });
    expect(origin("hydra.sweeper.sampler.seed")).toEqual({
      kind: "schema",
      schema: "hydra/sweeper/sampler/tpe",
    });
    expect(origin("hydra.sweeper.n_jobs")).toMatchObject({ kind: "override" });
  });
});

describe("our own", () => {
  it("launcher for Slurm has submitit's keys, our class and our keys", () => {
    const submitit = hydraOf(["hydra/launcher=submitit_slurm"]).launcher;
    expect(hydraOf(["hydra/launcher=slurm"]).launcher).toEqual({
      ...submitit,
      _target_: "hydraconf.SlurmLauncher",
      on_failure: "continue",
    });
  });

  it.each(["random", "successive_halving", "tpe"])(
    "sweeper %s has the settings of a search",
    (sweeper) => {
      const settings = {
        n_jobs: 2,
        direction: "maximize",
        objective: "loss",
        max_failure_rate: 0.5,
        seed: 7,
        exclude: ["a"],
        params: { x: "1,2" },
      };
      const shared = hydraOf([], {
        config: `defaults: [override hydra/sweeper: ${sweeper}]\nhydra: {sweeper: ${JSON.stringify(settings)}}`,
      });
      expect(shared.sweeper).toMatchObject(settings);
    },
  );
});

describe("optuna's samplers", () => {
  it("are tpe unless chosen, from the command line or a defaults list", () => {
    const target = (...args: Parameters<typeof compositionOf>) =>
      hydraOf(...args).sweeper.sampler._target_;
    const files = {
      config:
        "defaults: [_self_, {override hydra/sweeper: optuna}, {override hydra/sweeper/sampler: cmaes}]",
    };
    expect(target(["hydra/sweeper=optuna"])).toBe("optuna.samplers.TPESampler");
    expect(target(["hydra/sweeper=optuna", "hydra/sweeper/sampler=grid"])).toBe(
      "optuna.samplers.GridSampler",
    );
    expect(target([], files)).toBe("optuna.samplers.CmaEsSampler");
  });

  it("fit where nothing else was chosen: all of them are of the sweeper's type", () => {
    const files = { config: "defaults: [/hydra/sweeper/sampler/random@hydra.sweeper.sampler]" };
    const overrides = ["hydra/sweeper=optuna", "~hydra/sweeper/sampler"];
    expect(hydraOf(overrides, files).sweeper.sampler).toEqual({
      _target_: "optuna.samplers.RandomSampler",
      seed: null,
    });
  });

  it("share the fields of the Parzen estimator where they are one", () => {
    const { sampler } = hydraOf(["hydra/sweeper=optuna", "hydra/sweeper/sampler=motpe"]).sweeper;
    const tpe = hydraOf(["hydra/sweeper=optuna"]).sweeper.sampler;
    const { n_ei_candidates, multivariate, warn_independent_sampling, ...parzen } = tpe;
    expect(sampler).toEqual({
      ...parzen,
      _target_: "optuna.samplers.MOTPESampler",
      n_ehvi_candidates: 24,
    });
  });

  it("have the fields of their own and no others", () => {
    const choose = ["hydra/sweeper=optuna", "hydra/sweeper/sampler=random"];
    expect(hydraOf([...choose, "hydra.sweeper.sampler.seed=1"]).sweeper.sampler.seed).toBe(1);
    expect(() => compositionOf([...choose, "hydra.sweeper.sampler.n_startup_trials=1"])).toThrow(
      "hydra.sweeper.sampler.n_startup_trials",
    );
    expect(() => compositionOf([...choose, "hydra.sweeper.sampler.seed=x"])).toThrow(
      "hydra.sweeper.sampler.seed=x",
    );
  });

  it("can be set up by a search config that names everything again", () => {
    const files = {
      config: "defaults: [_self_, {optional search: null}]\nlr: 0.1",
      "search/lr": `# @package _global_
defaults:
  - override /hydra/sweeper: optuna
hydra:
  mode: MULTIRUN
  sweeper:
    _target_: hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper
    storage: null
    n_jobs: 1
    direction: maximize
    n_trials: 20
    sampler:
      _target_: optuna.samplers.TPESampler
      seed: 1234
      n_startup_trials: 5
    params:
      lr: interval(0.0001, 0.1)
      batch: 32
`,
    };
    const { sweeper } = hydraOf(["search=lr"], files);
    expect(sweeper).toMatchObject({
      direction: "maximize",
      n_jobs: 1,
      sampler: { seed: 1234, n_startup_trials: 5, n_ei_candidates: 24 },
      params: { lr: "interval(0.0001, 0.1)", batch: "32" },
    });
  });
});

describe("a plugin", () => {
  const entry = (text: string) => map([["said", scalar(text, fromCode("test"))]], fromCode("test"));

  it("is not asked for a config before one is needed", () => {
    const asked: string[] = [];
    const lazy: Plugin = {
      name: "lazy",
      configs: {
        "hydra/launcher/lazy": {
          create: () => {
            asked.push("lazy");
            return entry("lazy");
          },
        },
      },
    };
    const options = { plugins: [lazy] };
    compositionOf([], {}, options);
    refusal(() => compositionOf(["hydra/launcher=nope"], {}, options));
    expect(asked).toEqual([]);
    expect(hydraOf(["hydra/launcher=lazy"], {}, options).launcher).toEqual({ said: "lazy" });
    expect(asked).toEqual(["lazy"]);
  });

  it("may mount a config elsewhere than at its group", () => {
    const configs = {
      "tools/lint": { create: () => entry("lint"), package: "build.lint" },
    };
    const { root } = compositionOf(["+tools=lint"], {}, { plugins: [{ name: "lint", configs }] });
    expect(toObject(root)).toMatchObject({ build: { lint: { said: "lint" } } });
  });

  it("gives way to the user's own store and files", () => {
    const store = new Map([["hydra/launcher/rq", { node: entry("mine") }]]);
    expect(hydraOf(["hydra/launcher=rq"], {}, { store }).launcher).toEqual({ said: "mine" });
    const files = { "hydra/job_logging/colorlog": "# @package hydra.job_logging\nmine: true" };
    expect(hydraOf(["hydra/job_logging=colorlog"], files).job_logging).toEqual({ mine: true });
  });

  it("says what to use instead of a class that nothing here can stand in for", () => {
    for (const [choice, instead] of [
      ["launcher=rq", "joblib"],
      ["sweeper=ax", "hydra/sweeper=random"],
      ["sweeper=nevergrad", "hydra/sweeper=random"],
    ] as const) {
      const node = hydraOf([`hydra/${choice}`])[choice.split("=")[0] ?? ""];
      expect(launchRefusal(STANDARD_PLUGINS, node._target_)?.reason).toContain(instead);
    }
    const { launcher } = hydraOf(["hydra/launcher=joblib"]);
    expect(launchRefusal(STANDARD_PLUGINS, launcher._target_)).toBeUndefined();
    expect(launchRefusal([], "any.Class")).toBeUndefined();
  });
});

describe("in Hydra 1.4", () => {
  // biome-ignore lint/suspicious/noExplicitAny: tests look at many shapes of one node
  const hydraOf = (overrides: readonly string[], dialect: "1.3" | "1.4"): any =>
    toObject(compositionOf(overrides, {}, { plugins: STANDARD_PLUGINS, dialect }).hydra);

  it.each([
    [["hydra/launcher=joblib"], "launcher", { backend: "loky", inner_max_num_threads: null }],
    [["hydra/launcher=submitit_slurm"], "launcher", { python: null }],
    [["hydra/sweeper=nevergrad"], "sweeper", { parametrization: null, params: null }],
    [
      ["hydra/sweeper=optuna"],
      "sweeper",
      { sampler: expect.objectContaining({ seed: null, prior_weight: null }) },
    ],
    [
      ["hydra/sweeper=optuna", "hydra/sweeper/sampler=qmc"],
      "sweeper",
      { sampler: expect.objectContaining({ qmc_type: "sobol" }) },
    ],
  ])("%j has newer settings", (overrides, section, settings) => {
    expect(hydraOf(overrides, "1.4")[section]).toMatchObject(settings);
  });

  it("leaves those of 1.3 as they were", () => {
    expect(hydraOf(["hydra/launcher=joblib"], "1.3").launcher).toMatchObject({
      backend: null,
    });
    expect(() =>
      compositionOf(
        ["hydra/sweeper=optuna", "hydra/sweeper/sampler=qmc"],
        {},
        { plugins: STANDARD_PLUGINS },
      ),
    ).toThrow("qmc");
  });

  it("has the log of colorlog in the run directory", () => {
    const overrides = ["hydra/job_logging=colorlog"];
    expect(hydraOf(overrides, "1.4").job_logging.handlers.file.filename).toBe(
      "${hydra.runtime.output_dir}/${hydra.job.name}.log",
    );
  });
});
