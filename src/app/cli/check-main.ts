/** The declaration of a program, checked and completed. */

import { dirname, parse, resolve } from "node:path";
import { configLayers } from "../../engine/compose/layers/layer.ts";
import { configFormats } from "../../engine/compose/sources/formats.ts";
import { configStore } from "../../engine/compose/sources/memory-source.ts";
import {
  anything,
  checkedAsRegistered,
  checkOptions,
  count,
  environment,
  fn,
  having,
  listOf,
  mapOf,
  type OptionChecks,
  oneOf,
  optional,
  orNull,
  path,
  recordOf,
  schemaOption,
  shape,
  text,
  trueOrFalse,
  whichIs,
  withMethods,
} from "../../engine/values/check-options.ts";
import { pathOrFileUrl } from "../../engine/values/check-paths.ts";
import type { ConfigSchema } from "../../engine/values/config-schema.ts";
import { DIALECT_NAMES } from "../../engine/values/dialect.ts";
import { limitsOption } from "../../engine/values/limits.ts";
import { isDate } from "../../foundation/system/builtin-types.ts";
import { directoryAt } from "../../foundation/system/files.ts";
import type {
  Flag,
  Positional,
  ProgramDeclaration,
  ProgramOptions,
  Subcommand,
  Tool,
} from "../job/options.ts";
import { type Console, type Invocation, ownDirectory } from "../job/process/invocation.ts";
import { type Plugin, plugins } from "../plugins/contract/plugin.ts";

/** The declaration of a program for `hydraMain`: the arguments of `@hydra.main`, and our additions. */
export interface HydraMainOptions<
  Schema extends ConfigSchema | undefined = ConfigSchema | undefined,
  Dir extends string | null = string | null,
  Name extends string | null = string | null,
> extends ProgramDeclaration<Schema, Dir, Name> {
  /**
   * Additions to Hydra's own launchers, sweepers and config groups. Default: `STANDARD_PLUGINS`; to add one:
   * `[...STANDARD_PLUGINS, mine]`.
   */
  readonly plugins?: readonly Plugin[];
  /** Whether settings files may name further plugins, as those of the commands do (docs/plugins.md). Default: false. */
  readonly settingsFiles?: boolean;
  /**
   * What users type to trust a project, as `hydraconf trust`: until then, what the project's settings file names is not
   * run. Without it, it is run in any case.
   */
  readonly trustCommand?: string;
  /** Whether `--version-base` chooses the dialect instead of `versionBase`, as for `hydraconf`. Default: false. */
  readonly choosesDialect?: boolean;
}

/** Options with the program's name and directory filled in. */
export type MainOptions = HydraMainOptions & ProgramOptions;

/** @throws ConfigError `value.wrong_type` for arguments of `hydraMain` that the types do not allow */
export function checkMain(options: unknown, task: unknown): void {
  checkOptions("hydraMain", options, MAIN_OPTIONS, EXAMPLE);
  fn("hydraMain", "the task", task);
}

/** Throws for an invalid invocation: without a valid console, no error can be printed. */
export const checkInvocation = (invocation: unknown): void =>
  checkOptions("hydraMain", invocation, INVOCATION);

const EXAMPLE = 'hydraMain({ configPath: "conf", configName: "config" }, task)';

const FLAG: OptionChecks<Flag> = {
  id: text,
  names: listOf("strings", text, '["--name"]'),
  takes: oneOf("nothing", "value", "optional-value", "overrides"),
  choices: optional(listOf("strings", text)),
  gluedOnly: optional(trueOrFalse),
  valueIfBare: optional(text),
  final: optional(trueOrFalse),
  completes: optional(oneOf("config", "directory", "file", "key")),
  help: text,
  refusal: optional(text),
};

const POSITIONAL: OptionChecks<Positional> = {
  name: text,
  help: text,
  isOptional: optional(trueOrFalse),
  isRepeated: optional(trueOrFalse),
};

const TOOL: OptionChecks<Tool> = {
  positionals: optional(listOf("arguments", shape(POSITIONAL), '[{ name: "FILE", help: "..." }]')),
  help: optional(text),
};

const SUBCOMMAND: OptionChecks<Subcommand> = {
  name: text,
  summary: text,
  commandLine: optional(fn),
  isProgram: optional(trueOrFalse),
  programFlags: optional(fn),
  run: fn,
};

const MAIN_OPTIONS: OptionChecks<HydraMainOptions> = {
  name: optional(text),
  jobName: optional(text),
  version: optional(text),
  about: optional(text),
  configPath: orNull(path),
  configName: orNull(text),
  base: optional(pathOrFileUrl),
  freeKeys: optional(listOf("strings", text)),
  textLists: optional(listOf("strings", text)),
  packageRoots: optional(fn),
  schema: optional(schemaOption),
  check: optional(fn),
  planJob: optional(fn),
  helpTopic: optional(fn),
  keyValues: optional(fn),
  summarizeSweep: optional(fn),
  progress: optional(fn),
  targets: optional(
    withMethods(["resolve", "load"], "targets", "createTargets({ name: function }) makes them"),
  ),
  resolvers: checkedAsRegistered,
  limits: limitsOption,
  sources: optional(mapOf("functions", fn)),
  versionBase: orNull(text),
  dialect: optional(oneOf(...DIALECT_NAMES)),
  flags: optional(listOf("flags", shape(FLAG))),
  plainFlags: optional(trueOrFalse),
  tool: optional(shape(TOOL)),
  subcommands: optional(listOf("subcommands", having(SUBCOMMAND))),
  resultFiles: optional(listOf("strings", text)),
  restAsOverrides: optional(fn),
  programUse: optional(text),
  plugins: optional(plugins),
  settingsFiles: optional(trueOrFalse),
  trustCommand: optional(text),
  choosesDialect: optional(trueOrFalse),
  hasUserCode: optional(trueOrFalse),
  reusesWorkers: optional(trueOrFalse),
  launchesRuns: optional(trueOrFalse),
  notes: (by, name, value) => {
    if (value !== undefined && typeof value !== "boolean")
      oneOf("true", "false", "all")(by, name, value);
  },
  formats: configFormats,
  layers: configLayers,
  store: optional(configStore),
  whenBare: optional(oneOf("run", "show")),
};

const CONSOLE: OptionChecks<Console> = {
  stdout: fn,
  stderr: fn,
  color: optional(trueOrFalse),
  stdoutColor: optional(trueOrFalse),
  stdoutWidth: optional(count),
  terminal: optional(recordOf(anything)),
  openStreams: optional(fn),
  redact: optional(fn),
  secretsKnown: optional(fn),
};

const INVOCATION: OptionChecks<Invocation> = {
  argv: optional(listOf("strings", text)),
  script: optional(text),
  command: optional(listOf("strings", text)),
  worker: anything,
  announce: anything,
  resumed: anything,
  trust: anything,
  env: optional(environment),
  cwd: optional(path),
  console: optional(having(CONSOLE)),
  dialect: optional(oneOf(...DIALECT_NAMES)),
  now: optional(whichIs(isDate, "a Date")),
};

/** As in Hydra, the program's name and directory default to those of the module that declares it. */
export function placed(options: HydraMainOptions, callingModule: string): MainOptions {
  const place = nameAndBase(options, callingModule);
  const { schema } = options;
  const schemaThere = typeof schema === "string" ? { schema: resolve(place.base, schema) } : {};
  // Users of a tool did not write it.
  const ofTool = options.tool === undefined ? {} : { hasUserCode: options.hasUserCode ?? false };
  return { ...options, ...place, ...schemaThere, ...ofTool };
}

function nameAndBase(
  { base, name }: HydraMainOptions,
  callingModule: string,
): Pick<ProgramOptions, "name" | "base"> {
  const directory = base === undefined ? undefined : directoryAt(base);
  if (directory !== undefined && name !== undefined) return { base: directory, name };
  const file = callingModule || process.argv[1] || "";
  return {
    base: directory ?? (file === "" ? ownDirectory() : dirname(file)),
    name: name ?? (parse(file).name || "app"),
  };
}
