/** Plugins of Hydra whose configs compose here, but whose launcher or sweeper needs Python. */
import type { ConfigPlugin } from "../../engine/compose/config-plugin.ts";
import {
  ANY,
  BOOL,
  emptyMap,
  type Field,
  FLOAT,
  field,
  INT,
  listOf,
  mapOf,
  object,
  optional,
  STR,
} from "../../engine/compose/hydra/hydra-schema.ts";

const AX_SWEEPER = "hydra_plugins.hydra_ax_sweeper.ax_sweeper.AxSweeper";

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

const axSweeper = () =>
  object("AxSweeperConf", {
    _target_: field(STR, AX_SWEEPER),
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
export const ax: ConfigPlugin = {
  name: "ax",
  configs: { "hydra/sweeper/ax": { create: axSweeper } },
  refusals: [
    {
      className: AX_SWEEPER,
      reason:
        "Ax is a Python library: use hydra/sweeper=random or hydra/sweeper=successive_halving instead",
    },
  ],
};

const NEVERGRAD_SWEEPER =
  "hydra_plugins.hydra_nevergrad_sweeper.nevergrad_sweeper.NevergradSweeper";

const nevergradSweeper = (space: Readonly<Record<string, Field>>) =>
  object("NevergradSweeperConf", {
    _target_: field(STR, NEVERGRAD_SWEEPER),
    optim: object("OptimConf", {
      optimizer: field(STR, "NGOpt"),
      budget: field(INT, 80n),
      num_workers: field(INT, 10n),
      noisy: field(BOOL, false),
      maximize: field(BOOL, false),
      seed: field(optional(INT), null),
      max_failure_rate: field(FLOAT, 0),
    }),
    ...space,
  }).node;

const olderNevergrad = () => nevergradSweeper({ parametrization: emptyMap(ANY) });

const newerNevergrad = () =>
  nevergradSweeper({
    parametrization: field(optional(mapOf(ANY)), null),
    params: field(optional(mapOf(ANY)), null),
  });

/** Sweeps by derivative-free optimization. */
export const nevergrad: ConfigPlugin = {
  name: "nevergrad",
  configs: { "hydra/sweeper/nevergrad": { create: olderNevergrad } },
  newer: { configs: { "hydra/sweeper/nevergrad": { create: newerNevergrad } } },
  refusals: [
    {
      className: NEVERGRAD_SWEEPER,
      reason:
        "Nevergrad is a Python library: use hydra/sweeper=random or hydra/sweeper=successive_halving instead",
    },
  ],
};

const RQ_LAUNCHER = "hydra_plugins.hydra_rq_launcher.rq_launcher.RQLauncher";

const enqueue = () =>
  object("EnqueueConf", {
    job_timeout: field(optional(STR), null),
    ttl: field(optional(STR), null),
    result_ttl: field(optional(STR), null),
    failure_ttl: field(optional(STR), null),
    at_front: field(BOOL, false),
    job_id: field(optional(STR), null),
    description: field(optional(STR), null),
  });

const redis = () =>
  object("RedisConf", {
    host: field(STR, "${oc.env:REDIS_HOST,localhost}"),
    port: field(INT, "${oc.env:REDIS_PORT,'6379'}"),
    db: field(optional(STR), "${oc.env:REDIS_DB,'0'}"),
    password: field(optional(STR), "${oc.env:REDIS_PASSWORD,null}"),
    ssl: field(BOOL, "${oc.env:REDIS_SSL,'False'}"),
    ssl_ca_certs: field(optional(STR), "${oc.env:REDIS_SSL_CA_CERTS,null}"),
    mock: field(BOOL, "${oc.env:REDIS_MOCK,'False'}"),
  });

const launcher = () =>
  object("RQLauncherConf", {
    _target_: field(STR, RQ_LAUNCHER),
    enqueue: enqueue(),
    queue: field(STR, "default"),
    redis: redis(),
    stop_after_enqueue: field(BOOL, false),
    wait_polling: field(FLOAT, 1),
  }).node;

/** Runs the jobs of a sweep in a Redis queue. */
export const rq: ConfigPlugin = {
  name: "rq",
  configs: { "hydra/launcher/rq": { create: launcher } },
  refusals: [
    {
      className: RQ_LAUNCHER,
      reason:
        "the workers of an RQ queue run Python: use hydra/launcher=local or hydra/launcher=joblib instead",
    },
  ],
};
