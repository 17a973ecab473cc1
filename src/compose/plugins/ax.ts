import {
  ANY,
  BOOL,
  emptyMap,
  FLOAT,
  field,
  INT,
  listOf,
  mapOf,
  object,
  optional,
  STR,
} from "../hydra/typed.ts";
import type { Plugin } from "./plugin.ts";

const CLASS_NAME = "hydra_plugins.hydra_ax_sweeper.ax_sweeper.AxSweeper";

const earlyStop = () =>
  object("EarlyStopConfig", {
    minimize: field(BOOL, true),
    max_epochs_without_improvement: field(INT, 10n),
    epsilon: field(FLOAT, 1e-5),
  });

const experiment = () =>
  object("ExperimentConfig", {
    name: field(optional(STR), null),
    objective_name: field(STR, "objective"),
    minimize: field(BOOL, true),
    parameter_constraints: field(optional(listOf(STR)), null),
    outcome_constraints: field(optional(listOf(STR)), null),
    status_quo: field(optional(mapOf(ANY)), null),
  });

const client = () =>
  object("ClientConfig", {
    verbose_logging: field(BOOL, false),
    random_seed: field(optional(INT), null),
  });

const sweeper = () =>
  object("AxSweeperConf", {
    _target_: field(STR, CLASS_NAME),
    max_batch_size: field(optional(INT), null),
    ax_config: object("AxConfig", {
      max_trials: field(INT, 10n),
      early_stop: earlyStop(),
      experiment: experiment(),
      client: client(),
      params: emptyMap(ANY),
      is_noisy: field(BOOL, true),
    }),
  }).node;

/** Sweeps by Bayesian optimization. */
export const ax: Plugin = {
  name: "ax",
  store: { "hydra/sweeper/ax": { create: sweeper } },
  refusals: [
    {
      className: CLASS_NAME,
      reason:
        "Ax is a Python library: use hydra/sweeper=random or hydra/sweeper=successive_halving instead",
    },
  ],
};
