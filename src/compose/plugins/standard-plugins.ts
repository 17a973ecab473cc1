import {
  ANY,
  emptyList,
  emptyMap,
  type Field,
  FLOAT,
  field,
  INT,
  mapOf,
  object,
  optional,
  STR,
} from "../hydra/schema.ts";
import { colorlog } from "./colorlog.ts";
import { ax, nevergrad, rq } from "./config-only.ts";
import { joblib } from "./joblib.ts";
import { optuna } from "./optuna.ts";
import type { Plugin } from "./plugin.ts";
import { slurm, submitit } from "./submitit.ts";

const launcher = () =>
  object("LocalLauncherConf", {
    _target_: field(STR, "hydraconf.LocalLauncher"),
    n_jobs: field(INT, -1n),
    timeout_min: field(optional(FLOAT), null),
    max_retries: field(INT, 0n),
    on_failure: field(STR, "continue"),
    resources: emptyMap(ANY),
    slot_scope: field(STR, "machine"),
  }).node;

/** Ours, beside those of Hydra's repository: jobs of a sweep in processes of this machine. */
const local: Plugin = {
  name: "local",
  store: { "hydra/launcher/local": { create: launcher, replaceable: true } },
};

/** What the sweepers that learn from results have in common. */
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

/** Our own sweepers beside Hydra's: they draw trials, and give more to those that do well. */
const searchSweepers: Plugin = {
  name: "search-sweepers",
  store: {
    "hydra/sweeper/random": { create: random, replaceable: true },
    "hydra/sweeper/successive_halving": { create: successiveHalving, replaceable: true },
  },
};

/**
 * The plugins of Hydra's own repository, as of Hydra 1.3: public config trees name their groups. And
 * a launcher and sweepers of our own.
 * The keys, types and defaults are facts of their public documentation and sources.
 *
 * @see https://hydra.cc/docs/1.3/plugins/colorlog/ and the pages after it
 */
export const STANDARD_PLUGINS: readonly Plugin[] = [
  colorlog,
  joblib,
  submitit,
  slurm,
  rq,
  optuna,
  ax,
  nevergrad,
  searchSweepers,
  local,
];
