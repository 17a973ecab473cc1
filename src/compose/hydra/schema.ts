import type { Limits } from "../../values/limits.ts";
import type { NodeType } from "../../values/node.ts";
import { map } from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import type { ConfigSource } from "../sources/config-source.ts";
import type { StoreEntry } from "../sources/memory-source.ts";
import { memorySource } from "../sources/memory-source.ts";
import {
  ANY,
  BOOL,
  emptyList,
  emptyMap,
  field,
  INT,
  listOf,
  mapOf,
  object,
  optional,
  STR,
  withDefaults,
} from "./typed.ts";

/*
 * The types of the `hydra` node, as users of Hydra know them from `--cfg hydra`.
 * @see https://hydra.cc/docs/1.3/configure_hydra/intro/
 */

const RUN_MODE: NodeType = {
  kind: "enum",
  name: "RunMode",
  members: ["RUN", "MULTIRUN"],
  values: [1n, 2n],
};

const SOURCE_INFO = object("ConfigSourceInfo", {
  path: field(STR),
  schema: field(STR),
  provider: field(STR),
});

const OVERRIDE_DIRNAME = object("OverrideDirname", {
  kv_sep: field(STR, "="),
  item_sep: field(STR, ","),
  exclude_keys: emptyList(STR),
});

const JOB = object("JobConf", {
  name: field(STR),
  chdir: field(optional(BOOL), null),
  override_dirname: field(STR),
  id: field(STR),
  num: field(INT),
  config_name: field(optional(STR)),
  env_set: emptyMap(STR),
  env_copy: emptyList(STR),
  config: object("JobConfig", { override_dirname: OVERRIDE_DIRNAME }),
});

const RUNTIME = object("RuntimeConf", {
  version: field(STR),
  version_base: field(STR),
  cwd: field(STR),
  config_sources: field(listOf(SOURCE_INFO.type)),
  output_dir: field(STR),
  choices: emptyMap(ANY),
});

const HYDRA = object("HydraConf", {
  mode: field(optional(RUN_MODE), null),
  searchpath: emptyList(STR),
  run: object("RunDir", { dir: field(STR) }),
  sweep: object("SweepDir", { dir: field(STR), subdir: field(STR) }),
  hydra_logging: field(mapOf(ANY)),
  job_logging: field(mapOf(ANY)),
  sweeper: field(ANY),
  launcher: field(ANY),
  callbacks: emptyMap(ANY),
  help: object("HelpConf", {
    app_name: field(STR),
    header: field(STR),
    footer: field(STR),
    template: field(STR),
  }),
  hydra_help: object("HydraHelpConf", { hydra_help: field(STR), template: field(STR) }),
  output_subdir: field(optional(STR), ".hydra"),
  overrides: object("OverridesConf", { hydra: emptyList(STR), task: emptyList(STR) }),
  job: JOB,
  runtime: RUNTIME,
  verbose: field(ANY, false),
});

const LAUNCHER = object("BasicLauncherConf", {
  _target_: field(STR, "hydra._internal.core_plugins.basic_launcher.BasicLauncher"),
});

const SWEEPER = object(
  "BasicSweeperConf",
  {
    _target_: field(STR, "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"),
    max_batch_size: field(optional(INT), null),
    params: field(optional(mapOf(STR)), null),
  },
  [],
  { exclude: ANY },
);

/** The groups that make up the `hydra` node, in the order in which they are composed. */
const DEFAULTS = {
  output: "default",
  launcher: "basic",
  sweeper: "basic",
  help: "default",
  hydra_help: "default",
  hydra_logging: "default",
  job_logging: "default",
  callbacks: null,
  env: "default",
};

export const HYDRA_CONFIG = "hydra/config";

/** Stands for the primary config where there is none; it leaves no row in the defaults list. */
export const EMPTY_CONFIG = "_dummy_empty_config_";

/** Hydra's own structured configs; the entries of a user's config store come on top. */
export function schemaSource(
  store: ReadonlyMap<string, StoreEntry>,
  limits?: Limits,
): ConfigSource {
  const own: readonly [string, StoreEntry][] = [
    [HYDRA_CONFIG, { node: withDefaults(HYDRA, DEFAULTS) }],
    ["hydra/launcher/basic", { node: LAUNCHER.node }],
    ["hydra/sweeper/basic", { node: SWEEPER.node }],
    [EMPTY_CONFIG, { node: map([], fromCode("compose")) }],
  ];
  return memorySource(
    { scheme: "structured", path: "", provider: "schema" },
    new Map([...own, ...store]),
    limits,
  );
}
