/**
 * The declaration of a program, and what follows from it: its schema, its flags, and Hydra's behaviour by version base.
 */

import type { ConfigLayer } from "../../engine/compose/layers/layer.ts";
import { DISK_ACCESS } from "../../engine/compose/sources/file-source.ts";
import type { ConfigFormat } from "../../engine/compose/sources/formats.ts";
import type { StoreEntry } from "../../engine/compose/sources/memory-source.ts";
import type { SourceFactory } from "../../engine/compose/sources/repository.ts";
import type { Targets } from "../../engine/instantiate/targets.ts";
import {
  isStandardValidator,
  type JsonSchema,
  jsonSchemaOf,
  type StandardValidator,
} from "../../engine/schema/applicable-schemas.ts";
import { parseSchema, readSchemaFile, schemaText } from "../../engine/schema/schema-file.ts";
import type { ConfigSchema, LoadedSchema } from "../../engine/values/config-schema.ts";
import type { DialectName } from "../../engine/values/dialect.ts";
import type { Limits } from "../../engine/values/limits.ts";
import type { ConfigNode, MapNode } from "../../engine/values/node.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import type { Resolver } from "../../engine/values/resolution/resolver.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Ender } from "./ender.ts";
import type { SweepJobStatus } from "./job.ts";
import type { Invocation } from "./process/invocation.ts";

/** The declaration of a program: the arguments of `@hydra.main`, and our additions. */
export interface ProgramDeclaration<
  Schema extends ConfigSchema | undefined = ConfigSchema | undefined,
  Dir extends string | null = string | null,
  Name extends string | null = string | null,
> {
  /**
   * The program's name: in usage texts, and `hydra.job.name` unless the config says otherwise.
   * Default: the name of the module that calls `hydraMain`.
   */
  readonly name?: string;
  /** `hydra.job.name` unless the config says otherwise. Default: the program's name. */
  readonly jobName?: string;
  /** The program's own version. `--version` shows it together with hydraconf's and Hydra's. */
  readonly version?: string;
  /**
   * The program's own help, shown before that of the config: for programs that work with any tree, and
   * must explain themselves without one.
   */
  readonly about?: string;
  /** Directory of the primary config, absolute or relative to `base`; null for none. */
  readonly configPath?: Dir;
  /** Name of the primary config; null for none. */
  readonly configName?: Name;
  /**
   * The directory to which `configPath`, `schema` and `--config-path` are relative; or a file in it, by its path
   * (`__filename`) or URL (`import.meta.url`). Default: the directory of the module that calls `hydraMain`.
   */
  readonly base?: string;
  /**
   * Keys whose mappings take further keys from overrides without a `+`; `""` is the whole config. Default: none.
   */
  readonly freeKeys?: readonly string[];
  /**
   * Keys of lists of texts: what an interpolation in them yields is read as its text, as OmegaConf reads a field of type
   * `str`. Default: none.
   */
  readonly textLists?: readonly string[];
  /** Further directories where `pkg://` finds packages, after `base`, the working directory and `PYTHONPATH`. */
  readonly packageRoots?: () => readonly string[];
  /**
   * What the resolved config of a job must fit: a JSON Schema, the path of a file with one (absolute or relative to
   * `base`), or the validator of a library that implements https://standardschema.dev, such as zod.
   */
  readonly schema?: Schema;
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
    job: JobFacts,
  ) => void | Promise<void>;
  /**
   * What `--dry-run` shows of a job besides its directory and its config: how the program would run it.
   * Must leave no files behind.
   */
  readonly planJob?: (resolved: ConfigNode, outputDir: string, job: JobFacts) => Promise<JobPlan>;
  /**
   * What `--help NAME` says of a name that is neither a key nor a group; null for names that it does not know. A line break ends
   * the text.
   */
  readonly helpTopic?: (name: string) => Promise<string | null>;
  /**
   * Values of a key that completion offers beside those of the schema: one, or the items of a list.
   * @param typed what was typed of the value, or of the last item
   */
  readonly keyValues?: (key: string, typed: string) => Promise<readonly string[]>;
  /**
   * What to print for people at the end of a sweep: its jobs with the task's result for each.
   * @returns the text, which ends with a line break; undefined if there is nothing to print
   */
  readonly summarizeSweep?: (
    rows: readonly SweepRow[],
    page: SummaryPage,
  ) => Promise<string | undefined>;
  /**
   * The progress of a running job, in a few words for the table of a sweep; undefined if unknown.
   * @param outputDir the job's directory
   */
  readonly progress?: (outputDir: string) => string | undefined;
  /**
   * The targets that `hydra.callbacks` may name in `_target_`, from `createTargets`. Other names are refused: a config
   * alone never imports code.
   */
  readonly targets?: Targets;
  /** Resolvers for `${name:...}` besides OmegaConf's and Hydra's; `resolver()` turns a function into one. */
  readonly resolvers?: readonly Resolver[];
  /** How much aliases and interpolations may add to a config. Default: the limits that the environment sets. */
  readonly limits?: Partial<Limits>;
  /** Further kinds of sources for search paths, by scheme, as `git://`. */
  readonly sources?: ReadonlyMap<string, SourceFactory>;
  /**
   * The version of Hydra whose behaviour the program has, as `version_base` of `@hydra.main`. Default, and null: `1.3`. With a
   * `dialect` of 1.4 it is only the value of `hydra.runtime.version_base`: any version from 1.3, as `1.3` or `1.3.5`.
   */
  readonly versionBase?: string | null;
  /** The version of Hydra itself, where it is not the one that `versionBase` names. */
  readonly dialect?: DialectName;
  /** The program's own flags, besides Hydra's. */
  readonly flags?: readonly Flag[];
  /**
   * Whether `--db.port 1` sets a value as `db.port=1` does, and `--db.tls` and `--no-db.tls` one that is true or false. Only full names of
   * flags are then flags. Default: false.
   */
  readonly plainFlags?: boolean;
  /** The program is a command-line tool: no job directory, no log file, no sweeps, and arguments of its own. */
  readonly tool?: Tool;
  /** Further commands of the program, each chosen by its name as the first word of the command line. */
  readonly subcommands?: readonly Subcommand[];
  /** Files and directories whose presence shows that a run directory already holds results. */
  readonly resultFiles?: readonly string[];
  /**
   * Accepts `-- ARG...`: turns the arguments after `--` into the overrides they stand for. Without
   * it, arguments after `--` are overrides like the others.
   */
  readonly restAsOverrides?: (args: readonly string[]) => readonly string[];
  /** The verb for running a program after `--`, in hints: `profile`. Default: `run`. */
  readonly programUse?: string;
  /**
   * Whether the users wrote the program themselves, as is usual with Hydra: then every error ends with a hint how to
   * see the whole stack. False for a tool, whose users get no such hint for a wrong config or command line. Default:
   * true.
   */
  readonly hasUserCode?: boolean;
  /**
   * Whether `hydra.launcher.reuse_workers: null` means true: the task leaves no state in its process that another job
   * could see. Default: false.
   */
  readonly reusesWorkers?: boolean;
  /**
   * Whether a launcher that the command line names or sets runs a single job, too. Default: false, as in Hydra, where
   * launchers are for sweeps.
   */
  readonly launchesRuns?: boolean;
  /**
   * Whether notes are printed, on standard error, about what composes but probably not to what was meant; `all` adds those that are
   * often in order. `notes` of a settings file comes first. Default: true.
   */
  readonly notes?: boolean | "all";
  /** Values above the config files and below the overrides, as of environment variables: `hydraconf/sources` has ready ones. */
  readonly layers?: readonly ConfigLayer[];
  /** Formats of config files beside YAML, such as TOML: `hydraconf/sources` has ready ones. */
  readonly formats?: readonly ConfigFormat[];
  /** The config store: values, trees or YAML texts by config path. Values and trees may have a schema. */
  readonly store?: ReadonlyMap<string, StoreEntry>;
  /** What the program does without arguments: run the task, or show the config, which writes nothing. */
  readonly whenBare?: "run" | "show";
}

/** A command-line tool: it makes no directory and no file, and its command line is its own. */
export interface Tool {
  /** Its arguments: the words that are neither flags nor overrides, in this order. */
  readonly positionals?: readonly Positional[];
  /** The text of `--help`. Default: one made of `about`, the arguments, the flags and the config. */
  readonly help?: string;
}

/** An argument of a tool. */
export interface Positional {
  /** As help texts call it, and its key in `job.positionals`: `FILE`. */
  readonly name: string;
  /** One line for help. */
  readonly help: string;
  /** Whether it may be left out. */
  readonly isOptional?: boolean;
  /** Whether it takes any number of words, which are then a list. */
  readonly isRepeated?: boolean;
}

/** A job before any of its files is made. */
export interface JobFacts {
  /** Its place in a sweep, from 0; undefined for a single run. */
  readonly number?: number;
  readonly outputDir: string;
  /** The overrides of the task's own config, as typed. */
  readonly overrides: readonly string[];
  /** The whole unresolved tree with its `hydra` node. */
  readonly root: MapNode;
  /** The context that resolves the tree's interpolations. */
  readonly context: ResolveContext;
  /** The task's config with every interpolation resolved. */
  readonly resolved: () => ConfigNode;
}

/** The context of a sweep's summary. */
export interface SummaryPage {
  /** The absolute path of the sweep's directory. */
  readonly directory: string;
  /** The readable form of a path: relative if it lies below the working directory. */
  readonly readable: (path: string) => string;
  /** Numbers of jobs that overlapped another job on the same machine, which distorts their measurements. */
  readonly concurrentJobs: readonly number[];
}

/** How a program would run a job. */
export interface JobPlan {
  /** For people; ends with a line break. */
  readonly text: string;
  /** For programs: what `--json` prints as the job's `plan`. */
  readonly data: unknown;
  /** What planning itself wrote, such as a program that was built; absent if nothing. */
  readonly written?: string;
}

/** Options with the defaults for the program's name and directory filled in. */
export type ProgramOptions = ProgramDeclaration & {
  readonly name: string;
  readonly base: string;
  readonly delegate?: Delegate;
};

/**
 * Another program that composes and sets up each job itself, as one of Python's Hydra does: the log, the callbacks and the resolvers that
 * a config names are that program's, and a job's config is not resolved here.
 */
export interface Delegate {
  /** Those callbacks of a config that are called for a sweep as a whole. */
  readonly sweepCallbacks: (root: MapNode, context: ResolveContext) => Callbacks;
  /** Asks the program whether it can compose the jobs. Default: that is left to the jobs. */
  readonly inspection?: Inspection;
}

/** A check of jobs by the program that composes them itself: once for all, before the first of them starts. */
export interface Inspection {
  /** Takes down a job that is to run. The `hydra` resolver must see its tree. */
  note(job: JobFacts): void;
  /**
   * Inspects the jobs that were noted since the last call.
   * @param how `isPlan`: the jobs are only shown, so what this machine lacks to start the program is no reason to refuse
   * @throws ConfigError `app.unsupported` if the program cannot compose one of them
   */
  finish(how: { readonly isPlan: boolean }): Promise<void>;
}

/** Printed when a job changes its directory only because of this default. */
export const CHDIR_WARNING = `Future Hydra versions will no longer change working directory at job runtime by default.
See https://hydra.cc/docs/1.2/upgrades/1.1_to_1.2/changes_to_job_working_dir/ for more information.`;

/**
 * The program's schema if composing needs it: a validator, and a JSON Schema that marks anything as secret or has defaults. One that
 * cannot be read is refused even if nothing is checked against it: otherwise it is unknown which values may be shown.
 *
 * @throws ConfigError `schema.invalid` for a file that cannot be read
 */
export function schemaForComposing(schema: ConfigSchema): LoadedSchema | undefined {
  if (typeof schema !== "string")
    return isStandardValidator(schema) || changesConfigs(JSON.stringify(schema))
      ? schema
      : undefined;
  const text = schemaText(schema, DISK_ACCESS.system.read);
  return changesConfigs(text) ? parseSchema(schema, text) : undefined;
}

/** Whether a JSON Schema marks secrets or has defaults. */
const changesConfigs = (text: string): boolean => /"writeOnly"|"password"|"default"/.test(text);

/**
 * The program's schema as it is checked.
 *
 * @throws ConfigError `schema.invalid` for a file that cannot be read
 */
export const readSchema = (schema: ConfigSchema): JsonSchema | StandardValidator =>
  typeof schema === "string"
    ? readSchemaFile(schema, DISK_ACCESS.system.read)
    : (schema as JsonSchema | StandardValidator);

/**
 * The program's schema as a JSON Schema; undefined for a validator that has none.
 *
 * @throws ConfigError `schema.invalid` for a file that cannot be read
 */
export const readJsonSchema = (schema: ConfigSchema): JsonSchema | undefined =>
  jsonSchemaOf(readSchema(schema));

/** One command-line flag. A flag is data that the parser, the usage text and the help iterate over. */
export interface Flag {
  /** Its key in the parsed arguments. */
  readonly id: string;
  /** As typed, long form first: `["--config-name", "-cn"]`. */
  readonly names: readonly [string, ...string[]];
  /** `overrides`: every following word that is not a flag belongs to the flag, not to the run's overrides. */
  readonly takes: "nothing" | "value" | "optional-value" | "overrides";
  /** Accepted values; absent means any. */
  readonly choices?: readonly string[];
  /** Whether only `--flag=value` gives the value, and the word behind is an override. */
  readonly gluedOnly?: boolean;
  /** The value of an `optional-value` flag that has none. */
  readonly valueIfBare?: string;
  /** Ends parsing at once, whatever comes after it. */
  readonly final?: boolean;
  /** What a value is, for shell completion; absent: something that only the user can know. */
  readonly completes?: "config" | "directory" | "file" | "key";
  /** One line for help. */
  readonly help: string;
  /** Why this version refuses the flag; absent when it is supported. */
  readonly refusal?: string;
}

/** How messages call a flag: `--cfg/-c`. */
export const flagLabel = (flag: Flag): string => flag.names.join("/");

/** What stands for the value in usage texts: `{job,hydra,all}`, `CONFIG_NAME`. */
export const flagValueName = (flag: Flag): string =>
  flag.choices === undefined
    ? flag.names[0].replace(/^-+/, "").replaceAll("-", "_").toUpperCase()
    : `{${flag.choices.join(",")}}`;

/**
 * Something else that a program can do, chosen by its first word: `PROGRAM NAME ARG...`. It has its own
 * arguments, but no config and no overrides. Overrides are never bare words, so a name cannot hide one.
 */
export interface Subcommand {
  readonly name: string;
  /** One line for the program's `--help`. */
  readonly summary: string;
  /** Its own options, for shell completion. */
  readonly commandLine?: () => Promise<SubcommandLine>;
  /** Whether it is a program of its own, whose arguments are flags and overrides: it answers `-sc query=SHELL` itself. */
  readonly isProgram?: boolean;
  /** The flags that a program of its own has besides those of every program: for who types them without its name. */
  readonly programFlags?: () => Promise<readonly Flag[]>;
  /**
   * @param args the arguments after the name
   * @returns the exit code
   * @throws ConfigError `app.usage` for wrong arguments
   */
  readonly run: (args: readonly string[], invocation: Invocation) => Promise<number>;
}

/** The command line of a subcommand, for shell completion. */
export interface SubcommandLine {
  /** If the first argument chooses an action: the actions, each with a one-line description. */
  readonly actions?: Readonly<Record<string, string>>;
  /** By name, without dashes. */
  readonly options: Readonly<Record<string, SubcommandOption>>;
}

/** An option of a subcommand. */
export interface SubcommandOption {
  /** The placeholder for its value; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly help: string;
}

/** A job in the table of a sweep; keys are those of `sweep.json`. */
export interface SweepRow {
  readonly number: number;
  /** What the job's overrides set, by key: values as JSON has them, with `inf` and integers beyond JSON's as texts. */
  readonly swept: Readonly<Record<string, unknown>>;
  readonly status: SweepJobStatus;
  readonly attempts: number;
  /** When the last attempt started, in ISO 8601; null if there is none. */
  readonly started: string | null;
  /** Seconds that the last attempt took, of a running job so far; null if unknown. */
  readonly seconds: number | null;
  readonly exit_code: number | null;
  /** Who ended the last attempt; null before its end. */
  readonly ended_by: Ender | null;
  readonly error: string | null;
  /** What the task returned. */
  readonly result: unknown;
  readonly output_dir: string;
  /** The number of the earlier job of a search that this one continues; null if it began anew. */
  readonly continues: number | null;
  /** Whether the sweep no longer asks for the job: it is completed or pruned, and does not count. */
  readonly left_out: boolean;
}
