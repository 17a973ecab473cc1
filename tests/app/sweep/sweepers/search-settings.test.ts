import { expect, test } from "vitest";
import {
  earlierPoints,
  prunedMetric,
  pruningOf,
  seedOf,
} from "../../../../src/app/sweep/sweepers/search-request.ts";
import {
  HALVING_SETTINGS,
  RANDOM_SETTINGS,
  readSweeper,
} from "../../../../src/app/sweep/sweepers/search-settings.ts";
import { searchSpace } from "../../../../src/app/sweep/sweepers/search-space.ts";
import type { SweeperRequest } from "../../../../src/app/sweep/sweepers/sweeper.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { createResolveContext } from "../../../../src/engine/values/resolution/context.ts";
import { loadYaml } from "../../../../src/index.ts";

/** A sweep whose `hydra.sweeper` is this, in YAML's flow style. */
const requestOf = (settings: string, more: Partial<SweeperRequest> = {}) =>
  ({
    master: { root: loadYaml(`hydra: {sweeper: ${settings}}`) },
    context: createResolveContext(),
    directory: "/a sweep",
    ...more,
  }) as unknown as SweeperRequest;

/** Without what has no default. */
const HALVING = "budget_key: n, min_budget: 1, max_budget: 9, eta: 3, direction: minimize";
const RANDOM =
  "n_trials: 20, sequence: random, direction: minimize, pruner_min_step: 1, pruner_startup_jobs: 5, pruner_eta: 3";

const halving = (settings: string) =>
  readSweeper(HALVING_SETTINGS, requestOf(`{<<: {${HALVING}}, ${settings}}`));
const random = (settings: string) =>
  readSweeper(RANDOM_SETTINGS, requestOf(`{<<: {${RANDOM}}, ${settings}}`));

test.each([
  ["budget_key: 3", { budget_key: "3" }],
  ["budget_key: true", { budget_key: "True" }],
  ["min_budget: 0.5", { min_budget: 0.5 }],
  ["min_budget: 1", { min_budget: 1n }],
  ["n_trials: null", { n_trials: undefined }],
  ["n_trials: 1", { n_trials: 1 }],
  ["resume_key: null", { resume_key: undefined }],
  ["max_failure_rate: null", { max_failure_rate: 0 }],
  ["max_failure_rate: 0.5", { max_failure_rate: 0.5 }],
  ["seed: -7", { seed: -7 }],
  ["eta: 2", { eta: 2 }],
  ["direction: [minimize, maximize]", { direction: ["minimize", "maximize"] }],
  ["objective: [a, 1]", { objective: ["a", "1"] }],
  ["objective: 1", { objective: "1" }],
  ["objective: ['${hydra.sweeper.budget_key}', 1.5]", { objective: ["n", "1.5"] }],
  ["objective: loss", { objective: "loss" }],
])("{%s} is read", (settings, expected) => {
  expect(halving(settings)).toMatchObject(expected);
});

test.each([
  ["budget_key: null", "hydra.sweeper.budget_key is missing"],
  ["budget_key: '???'", "hydra.sweeper.budget_key is missing"],
  ["min_budget: null", "hydra.sweeper.min_budget is missing"],
  ["min_budget: 0", "hydra.sweeper.min_budget must be above 0, not 0"],
  ["min_budget: -1", "hydra.sweeper.min_budget must be above 0, not -1"],
  ["max_budget: .inf", "hydra.sweeper.max_budget must be above 0, not Infinity"],
  ["max_budget: many", "hydra.sweeper.max_budget must be a number, not 'many'"],
  ["eta: null", "hydra.sweeper.eta is missing"],
  ["eta: 1.9", "hydra.sweeper.eta must be at least 2, not 1.9"],
  ["n_trials: 0", "hydra.sweeper.n_trials must be at least 1, not 0"],
  ["n_trials: 2.0", "hydra.sweeper.n_trials must be an int"],
  ["n_trials: few", "hydra.sweeper.n_trials must be a number, not 'few'"],
  ["max_failure_rate: -0.1", "hydra.sweeper.max_failure_rate must be at least 0, not -0.1"],
  ["direction: up", "hydra.sweeper.direction must be minimize or maximize, not 'up'"],
  ["direction: []", "hydra.sweeper.direction must name a direction"],
  ["objective: [null]", "hydra.sweeper.objective must be keys"],
])("{%s} is refused", (settings, message) => {
  expect(() => halving(settings)).toThrow(message);
});

test("what nearly is a value is named in its place, and where a key is missing, what to do", () => {
  const refusal = (read: () => unknown): object | undefined => {
    try {
      read();
    } catch (error) {
      return error as object;
    }
    return undefined;
  };
  expect(refusal(() => halving("direction: maximise"))).toMatchObject({
    details: { nearest: "maximize" },
  });
  expect(refusal(() => random("pruner: medium"))).toMatchObject({
    details: {
      message: "hydra.sweeper.pruner must be median or successive_halving, not 'medium'",
      nearest: "median",
    },
  });
  expect(refusal(() => random("sequence: sobel"))).toMatchObject({
    details: { nearest: "sobol" },
  });
  expect(refusal(() => halving("budget_key: null"))).toMatchObject({
    details: { hint: "name the key that limits a job: epochs" },
  });
});

test("of what draws at random: how, whether twice, and what ends jobs early", () => {
  expect(random("sequence: sobol, unique: true")).toMatchObject({
    ...{ sequence: "sobol", unique: true, pruner: undefined, pruner_metric: undefined },
  });
  expect(random("unique: false").unique).toBe(false);
  for (const kind of ["median", "successive_halving"] as const)
    expect(random(`pruner: ${kind}`).pruner).toBe(kind);
  expect(random("pruner: null").pruner).toBeUndefined();
});

const pruned = (settings: string) => {
  const request = requestOf(`{<<: {${RANDOM}}, ${settings}}`);
  return pruningOf(readSweeper(RANDOM_SETTINGS, request), request);
};

test("a search prunes by the metric that it names, else by its objective", () => {
  expect(pruned("pruner: null")).toEqual({});
  const rule = { kind: "median", direction: "minimize", minStep: 1, startupJobs: 5, eta: 3 };
  expect(pruned("pruner: median, objective: loss")).toEqual({
    pruning: { ...rule, metric: "loss" },
  });
  expect(
    pruned(
      "pruner: median, objective: loss, pruner_metric: acc, direction: maximize, pruner_min_step: 2, pruner_startup_jobs: 4, pruner_eta: 2.5",
    ),
  ).toEqual({
    pruning: {
      ...{ kind: "median", direction: "maximize", minStep: 2, startupJobs: 4, eta: 2.5 },
      metric: "acc",
    },
  });
});

test("it does not without one number to compare", () => {
  expect(() => pruned("pruner: median")).toThrow("hydra.sweeper.pruner_metric is missing");
  expect(() => pruned("pruner: median, objective: [a, b]")).toThrow("pruner_metric is missing");
  expect(() => pruned("pruner: median, objective: a, direction: [minimize, maximize]")).toThrow(
    "hydra.sweeper.pruner compares one number, and the search has several directions",
  );
  const request = requestOf("{}");
  expect(
    prunedMetric({ direction: [], objective: "a", pruner_metric: undefined }, request),
  ).toEqual({ direction: "minimize", metric: "a" });
});

test("a seed is the directory's, unless it is given, and another where the space has changed", () => {
  const plain = requestOf("{}");
  const changed = requestOf("{}", { earlier: [["x=1"]] });
  expect(seedOf(undefined, plain)).toBe("/a sweep");
  expect(seedOf(3, plain)).toBe("3");
  expect(seedOf(3, changed)).toBe('3\n[["x=1"]]');
  expect(seedOf(undefined, changed)).not.toBe(seedOf(undefined, plain));
});

test("of the jobs from before the space changed, those that lie in it count", () => {
  const space = searchSpace(parseOverrides(["x=1,2", "m=a,b"]), {});
  const earlier = [
    ["x=2", "m=a"],
    ["x=3", "m=a"],
    ["x=1", "m=b"],
  ];
  const points = earlierPoints(space, requestOf("{}", { earlier }));
  expect(points.map(({ overrides }) => overrides)).toEqual([earlier[0], earlier[2]]);
  expect(earlierPoints(space, requestOf("{}"))).toEqual([]);
});
