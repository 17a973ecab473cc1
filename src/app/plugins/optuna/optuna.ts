/** The plugin `hydra-optuna-sweeper`: its configs and its sweeper. */
import type { ConfigPlugin } from "../../../engine/compose/config-plugin.ts";
import {
  ANY,
  BOOL,
  type Field,
  FLOAT,
  field,
  INT,
  mapOf,
  object,
  optional,
  STR,
  withDefaults,
} from "../../../engine/compose/hydra/hydra-schema.ts";
import { fieldsOf } from "../../job/settings.ts";
import { OPTUNA_SETTINGS, OPTUNA_SWEEPER, SPACE } from "./optuna-settings.ts";

/** The sweeper's field accepts any sampler: all of them extend this type. */
const SAMPLER = "SamplerConfig";

const sampler = (className: string, fields: Readonly<Record<string, Field>>) =>
  object(
    `${className}Config`,
    { _target_: field(STR, `optuna.samplers.${className}`), ...fields },
    [SAMPLER],
  ).node;

const seed = () => field(optional(INT), null);

/** The common fields of the two Parzen estimators. */
const parzen = () => ({
  seed: seed(),
  consider_prior: field(BOOL, true),
  prior_weight: field(FLOAT, 1),
  consider_magic_clip: field(BOOL, true),
  consider_endpoints: field(BOOL, false),
  n_startup_trials: field(INT, 10n),
});

const tpe = () =>
  sampler("TPESampler", {
    ...parzen(),
    n_ei_candidates: field(INT, 24n),
    multivariate: field(BOOL, false),
    warn_independent_sampling: field(BOOL, true),
  });

const newerTpe = () =>
  sampler("TPESampler", {
    seed: seed(),
    consider_prior: field(optional(BOOL), null),
    prior_weight: field(optional(FLOAT), null),
    consider_magic_clip: field(optional(BOOL), null),
    consider_endpoints: field(optional(BOOL), null),
    n_startup_trials: field(INT, 10n),
    n_ei_candidates: field(INT, 24n),
    multivariate: field(BOOL, false),
    warn_independent_sampling: field(optional(BOOL), null),
  });

const removedMotpe = () =>
  object(
    "MOTPESamplerConfig",
    { _target_: field(STR, "hydra_plugins.hydra_optuna_sweeper.config.raise_motpe_removed") },
    [SAMPLER],
  ).node;

const gp = () =>
  sampler("GPSampler", {
    seed: seed(),
    independent_sampler: field(ANY, null),
    n_startup_trials: field(INT, 10n),
    deterministic_objective: field(BOOL, false),
    constraints_func: field(ANY, null),
    warn_independent_sampling: field(BOOL, true),
  });

const qmc = () =>
  sampler("QMCSampler", {
    seed: seed(),
    qmc_type: field(STR, "sobol"),
    scramble: field(BOOL, false),
    independent_sampler: field(ANY, null),
    warn_asynchronous_seeding: field(BOOL, true),
    warn_independent_sampling: field(BOOL, true),
  });

const motpe = () => sampler("MOTPESampler", { ...parzen(), n_ehvi_candidates: field(INT, 24n) });

const random = () => sampler("RandomSampler", { seed: seed() });

const grid = () => sampler("GridSampler", { _partial_: field(BOOL, true) });

const cmaes = () =>
  sampler("CmaEsSampler", {
    seed: seed(),
    x0: field(optional(mapOf(ANY)), null),
    sigma0: field(optional(FLOAT), null),
    independent_sampler: field(ANY, null),
    warn_independent_sampling: field(BOOL, true),
    consider_pruned_trials: field(BOOL, false),
    restart_strategy: field(ANY, null),
    inc_popsize: field(INT, 2n),
    use_separable_cma: field(BOOL, false),
    source_trials: field(ANY, null),
  });

const nsgaii = () =>
  sampler("NSGAIISampler", {
    seed: seed(),
    population_size: field(INT, 50n),
    mutation_prob: field(optional(FLOAT), null),
    crossover_prob: field(FLOAT, 0.9),
    swapping_prob: field(FLOAT, 0.5),
    constraints_func: field(ANY, null),
  });

const sweeper = (space: Readonly<Record<string, Field>>) => {
  const { custom_search_space, objective, pruner, pruner_metric, ...settings } =
    fieldsOf(OPTUNA_SETTINGS);
  return withDefaults(
    object(
      "OptunaSweeperConf",
      {
        _target_: field(STR, OPTUNA_SWEEPER),
        sampler: field(object(SAMPLER, { _target_: field(STR) }).type),
        ...settings,
        ...space,
        params: field(optional(mapOf(STR)), null),
        custom_search_space,
      },
      [],
      {
        ...{ objective: objective.type, exclude: ANY },
        ...{ pruner: pruner.type, pruner_metric: pruner_metric.type },
      },
    ),
    { sampler: "tpe" },
  );
};

const olderSweeper = () => sweeper(fieldsOf(SPACE));

/** Sweeps that choose each job according to earlier results. */
export const optuna: ConfigPlugin = {
  name: "optuna",
  configs: {
    "hydra/sweeper/optuna": { create: olderSweeper },
    "hydra/sweeper/sampler/cmaes": { create: cmaes },
    "hydra/sweeper/sampler/grid": { create: grid },
    "hydra/sweeper/sampler/motpe": { create: motpe },
    "hydra/sweeper/sampler/nsgaii": { create: nsgaii },
    "hydra/sweeper/sampler/random": { create: random },
    "hydra/sweeper/sampler/tpe": { create: tpe },
  },
  newer: {
    configs: {
      "hydra/sweeper/optuna": { create: () => sweeper({}) },
      "hydra/sweeper/sampler/gp": { create: gp },
      "hydra/sweeper/sampler/motpe": { create: removedMotpe },
      "hydra/sweeper/sampler/qmc": { create: qmc },
      "hydra/sweeper/sampler/tpe": { create: newerTpe },
    },
  },
};
