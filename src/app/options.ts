import type { Plugin } from "../compose/plugins/plugin.ts";
import type { StoreEntry } from "../compose/sources/memory-source.ts";
import type { SourceFactory } from "../compose/sources/repository.ts";
import type { Targets } from "../instantiate/index.ts";
import type { JsonSchema } from "../schema/index.ts";
import type { Limits } from "../values/limits.ts";
import type { ConfigNode } from "../values/node.ts";
import type { Resolver } from "../values/resolution/resolver.ts";
import type { Flag } from "./flags/flag.ts";
import type { Subcommand } from "./subcommand.ts";
import type { SweepRow } from "./sweep/sweep-rows.ts";
import type { VersionBase } from "./version-base.ts";

/** How a program declares itself: the arguments of `@hydra.main`, and our additions. */
export interface HydraMainOptions {
  /**
   * The program's name: in usage texts, and `hydra.job.name` unless the config says otherwise.
   * Default: the name of the module that calls `hydraMain`.
   */
  readonly name?: string;
  /** The program's own version. `--version` shows it together with hydraconf's and Hydra's. */
  readonly version?: string;
  /**
   * The program's own help, shown before that of the config: for programs that work with any tree, and
   * must explain themselves without one.
   */
  readonly about?: string;
  /** Directory of the primary config, absolute or relative to `base`; null for none. */
  readonly configPath?: string | null;
  /** Name of the primary config; null for none. */
  readonly configName?: string | null;
  /**
   * The directory to which `configPath`, `schema` and `--config-path` are relative. Default: that of the
   * module that calls `hydraMain`.
   */
  readonly base?: string;
  /**
   * A JSON Schema that the resolved config of a job must fit, or the path of a file with one,
   * absolute or relative to `base`.
   */
  readonly schema?: string | JsonSchema;
  /**
   * A last check of a job's resolved config after the schema and before anything is created: for what
   * depends on the machine, or on what the program can do.
   * @param how `isPlan`: the job is only shown (`--dry-run`), so it should not be refused for what this
   *   machine lacks
   * @throws ConfigError to refuse the run
   */
  readonly check?: (
    resolved: ConfigNode,
    how: { readonly isPlan: boolean },
  ) => void | Promise<void>;
  /**
   * What `--dry-run` shows of a job besides its directory and its config: how the program would run it.
   * Must leave no files behind.
   */
  readonly planJob?: (resolved: ConfigNode, outputDir: string) => Promise<JobPlan>;
  /**
   * What to print for people at the end of a sweep: its jobs with the task's result for each.
   * @returns the text, which ends with a line break; undefined if there is nothing to print
   */
  readonly summarizeSweep?: (
    rows: readonly SweepRow[],
    page: SummaryPage,
  ) => Promise<string | undefined>;
  /**
   * The targets that `hydra.callbacks` may name in `_target_`, from `createTargets`. Other names are
   * refused: a config alone never gets anything imported.
   */
  readonly targets?: Targets;
  /** Resolvers for `${name:...}` besides OmegaConf's and Hydra's; `resolver()` turns a function into one. */
  readonly resolvers?: readonly Resolver[];
  /** How much aliases and interpolations may add to a config. Default: what the environment says. */
  readonly limits?: Partial<Limits>;
  /** Further kinds of sources for search paths, by scheme, as `git://`. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /**
   * `1.1` as in Hydra's `version_base`: jobs work in their run directory unless `hydra.job.chdir`
   * says otherwise. Composition is that of 1.3 all the same. Default: `1.3`.
   */
  readonly versionBase?: VersionBase;
  /** The program's own flags, besides Hydra's. */
  readonly flags?: readonly Flag[];
  /** What else the program can do, each chosen by its name as the first word of the command line. */
  readonly subcommands?: readonly Subcommand[];
  /** Files and directories that show that a run directory holds results already. */
  readonly resultFiles?: readonly string[];
  /**
   * Accepts `-- ARG...`: turns the arguments after `--` into the overrides they stand for. Without
   * it, arguments after `--` are overrides like the others.
   */
  readonly restAsOverrides?: (args: readonly string[]) => readonly string[];
  /** The plugins whose config groups exist besides Hydra's own. Default: `STANDARD_PLUGINS`. */
  readonly plugins?: readonly Plugin[];
  /**
   * Whether the users wrote the program themselves, as is usual with Hydra: then every error ends with a hint
   * how to see the whole stack. False for a tool, whose users get no such hint for a wrong config or command
   * line. Default: true.
   */
  readonly hasUserCode?: boolean;
  /** The config store: values, trees or YAML texts by config path. Values and trees may have a schema. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** What to do without flags: run the task, or show the config, which writes nothing. */
  readonly whenBare?: "run" | "show";
}

/** What a summary is about. */
export interface SummaryPage {
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** The readable form of a path: relative if it lies below the working directory. */
  readonly readable: (path: string) => string;
  /** The numbers of jobs that ran while another of them did, on the same machine: what they measured is not what they take alone. */
  readonly sideBySide: readonly number[];
}

/** How a program would run a job. */
export interface JobPlan {
  /** For people; ends with a line break. */
  readonly text: string;
  /** For programs: what `--json` prints as the job's `plan`. */
  readonly data: unknown;
}

/** Options with the defaults for the program's name and directory filled in. */
export type ProgramOptions = HydraMainOptions & {
  readonly name: string;
  readonly base: string;
};
