import { BOOL, FLOAT, field, INT, object, optional, STR } from "../hydra/typed.ts";
import type { Plugin } from "./plugin.ts";

const CLASS_NAME = "hydra_plugins.hydra_rq_launcher.rq_launcher.RQLauncher";

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
    _target_: field(STR, CLASS_NAME),
    enqueue: enqueue(),
    queue: field(STR, "default"),
    redis: redis(),
    stop_after_enqueue: field(BOOL, false),
    wait_polling: field(FLOAT, 1),
  }).node;

/** Jobs of a sweep in a Redis queue. */
export const rq: Plugin = {
  name: "rq",
  store: { "hydra/launcher/rq": { create: launcher } },
  refusals: [
    {
      className: CLASS_NAME,
      reason:
        "the workers of an RQ queue run Python: use hydra/launcher=submitit_slurm or hydra/launcher=joblib instead",
    },
  ],
};
