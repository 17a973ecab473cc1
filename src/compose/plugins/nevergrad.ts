import { ANY, BOOL, emptyMap, FLOAT, field, INT, object, optional, STR } from "../hydra/typed.ts";
import type { Plugin } from "./plugin.ts";

const CLASS_NAME = "hydra_plugins.hydra_nevergrad_sweeper.nevergrad_sweeper.NevergradSweeper";

const sweeper = () =>
  object("NevergradSweeperConf", {
    _target_: field(STR, CLASS_NAME),
    optim: object("OptimConf", {
      optimizer: field(STR, "NGOpt"),
      budget: field(INT, 80n),
      num_workers: field(INT, 10n),
      noisy: field(BOOL, false),
      maximize: field(BOOL, false),
      seed: field(optional(INT), null),
      max_failure_rate: field(FLOAT, 0),
    }),
    parametrization: emptyMap(ANY),
  }).node;

/** Sweeps by derivative-free optimization. */
export const nevergrad: Plugin = {
  name: "nevergrad",
  store: { "hydra/sweeper/nevergrad": { create: sweeper } },
  refusals: [
    {
      className: CLASS_NAME,
      reason:
        "Nevergrad is a Python library: use hydra/sweeper=random or hydra/sweeper=successive_halving instead",
    },
  ],
};
