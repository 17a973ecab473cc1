/** The plugin of our own sweepers: random search and successive halving. */
import {
  ANY,
  emptyList,
  type Field,
  FLOAT,
  field,
  INT,
  mapOf,
  object,
  optional,
  STR,
} from "../../engine/compose/hydra/schema.ts";
import type { Plugin } from "./contract/plugin.ts";

/** The common fields of sweepers that learn from results. */
const common = (): Readonly<Record<string, Field>> => ({
  n_jobs: field(optional(INT), null),
  direction: field(ANY, "minimize"),
  objective: field(optional(STR), null),
  max_failure_rate: field(FLOAT, 0),
  seed: field(optional(INT), null),
  exclude: emptyList(ANY),
  params: field(optional(mapOf(STR)), null),
});

const random = () =>
  object("RandomSweeperConf", {
    _target_: field(STR, "hydraconf.sweepers.Random"),
    n_trials: field(INT, 20n),
    ...common(),
  }).node;

const successiveHalving = () =>
  object("SuccessiveHalvingSweeperConf", {
    _target_: field(STR, "hydraconf.sweepers.SuccessiveHalving"),
    budget_key: field(STR),
    min_budget: field(ANY),
    max_budget: field(ANY),
    eta: field(FLOAT, 3),
    n_trials: field(optional(INT), null),
    ...common(),
  }).node;

/** Our own sweepers in addition to Hydra's: they draw trials, and give a larger budget to good ones. */
export const searchSweepers: Plugin = {
  name: "search-sweepers",
  configs: {
    "hydra/sweeper/random": { create: random, replaceable: true },
    "hydra/sweeper/successive_halving": { create: successiveHalving, replaceable: true },
  },
  sweepers: async () => [
    (await import("../sweep/sweepers/random-sweeper.ts")).randomSweeper,
    (await import("../sweep/sweepers/halving-sweeper.ts")).halvingSweeper,
  ],
};
