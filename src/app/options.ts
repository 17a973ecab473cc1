import type { Plugin } from "../compose/plugins/plugin.ts";
import type { StoreEntry } from "../compose/sources/memory-source.ts";
import type { SourceFactory } from "../compose/sources/search-path.ts";
import type { Targets } from "../instantiate/index.ts";
import type { JsonSchema } from "../schema/index.ts";
import type { ConfigNode } from "../values/node.ts";
import type { Resolver } from "../values/resolvers/resolver.ts";
import type { Flag } from "./flags/flag.ts";
import type { Subcommand } from "./subcommand.ts";
import type { SweepRow } from "./sweep/sweep-rows.ts";
import type { VersionBase } from "./version-base.ts";

/** How a program with Hydra is declared: what `@hydra.main` takes, and what we add. */
export interface HydraMainOptions {
  /**
   * The program's name: in usage texts, and `hydra.job.name` unless the config says otherwise.
   * Default: the name of the module that calls `hydraMain`.
   */
  readonly name?: string;
  /** The program's own version, for `--version`, which names hydraconf's and Hydra's beside it. */
  readonly version?: string;
  /**
   * The program's own help, put before the config's: for programs that are for any tree, and must
   * explain themselves where there is none.
   */
  readonly about?: string;
  /** Directory of the primary config, absolute or relative to `base`; null for none. */
  readonly configPath?: string | null;
  /** Name of the primary config; null for none. */
  readonly configName?: string | null;
  /**
   * Where a relative `configPath`, `schema` and `--config-path` start. Default: the directory of the module
   * that calls `hydraMain`.
   */
  readonly base?: string;
  /**
   * A JSON Schema that the resolved config of a job must fit, or the path of a file with one,
   * absolute or relative to `base`.
   */
  readonly schema?: string | JsonSchema;
  /**
   * A last look at the resolved config of a job that fits the schema, before anything is made: what
   * depends on the machine, or on what the program can do.
   * @param how `isPlan`: the job is only shown (`--dry-run`), so that what this machine lacks is no
   *   reason to refuse it
   * @throws ConfigError to refuse the run
   */
  readonly check?: (
    resolved: ConfigNode,
    how: { readonly isPlan: boolean },
  ) => void | Promise<void>;
  /**
   * What `--dry-run` says of a job beside its directory and its config: how the program would do it.
   * Makes nothing that stays.
   */
  readonly planJob?: (resolved: ConfigNode, outputDir: string) => Promise<JobPlan>;
  /**
   * What to print at the end of a sweep, for people: its jobs with what the task returned for each.
   * @returns the text, which ends with a line break; undefined where there is nothing to tell
   */
  readonly summarizeSweep?: (
    rows: readonly SweepRow[],
    page: SummaryPage,
  ) => Promise<string | undefined>;
  /**
   * What `hydra.callbacks` may name in `_target_`, from `createTargets`. A name that is not here is
   * refused: nothing is ever imported because a config alone says so.
   */
  readonly targets?: Targets;
  /** What `${name:...}` in configs calls beside OmegaConf's and Hydra's own; `resolver()` makes one of a function. */
  readonly resolvers?: readonly Resolver[];
  /** Further kinds of sources for search paths, by scheme, as `git://`. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /**
   * `1.1` as in Hydra's `version_base`: jobs work in their run directory unless `hydra.job.chdir`
   * says otherwise. Composition is that of 1.3 all the same. Default: `1.3`.
   */
  readonly versionBase?: VersionBase;
  /** Flags of the program beside Hydra's. */
  readonly flags?: readonly Flag[];
  /** What the program does beside its job, each by its name as the first word. */
  readonly subcommands?: readonly Subcommand[];
  /** Files and directories whose presence says that a run directory holds results. */
  readonly resultFiles?: readonly string[];
  /**
   * Accepts `-- ARG...`: turns what stands after `--` into the overrides it is short for. Without
   * it, what follows `--` is overrides too, as with any program.
   */
  readonly restAsOverrides?: (args: readonly string[]) => readonly string[];
  /** Whose config groups there are beside Hydra's own; `STANDARD_PLUGINS` unless given. */
  readonly plugins?: readonly Plugin[];
  /**
   * Whether the program's code is that of the people who use it, as with Hydra: then every error ends with how
   * to see its whole stack. False for a tool: below a wrong config or command line nothing is said of stacks.
   * Default: true.
   */
  readonly hasUserCode?: boolean;
  /** The config store: values, trees or YAML texts by config path, with a schema if need be. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** What to do when no flag says so: run the task, or show the config (then nothing is written). */
  readonly whenBare?: "run" | "show";
}

/** What a summary is written for. */
export interface SummaryPage {
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** A path as it is read best from the working directory. */
  readonly readable: (path: string) => string;
}

/** How a program would do a job. */
export interface JobPlan {
  /** For people; ends with a line break. */
  readonly text: string;
  /** For programs: what `--json` prints as the job's `plan`. */
  readonly data: unknown;
}

/** The options of a program whose name and place are known. */
export type ProgramOptions = HydraMainOptions & {
  readonly name: string;
  readonly base: string;
};
