/** One call of a program, from its command line to its exit code. */
import { resolve } from "node:path";
import { aliasedKey } from "../../engine/compose/aliases.ts";
import { refuseClashes } from "../../engine/compose/config-plugin.ts";
import { refusesNull } from "../../engine/schema/applicable-schemas.ts";
import {
  DEFAULT_DIALECT,
  type Dialect,
  dialectNamed,
  reportedBase,
} from "../../engine/values/dialect.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { map, scalar } from "../../engine/values/node.ts";
import { fromCode } from "../../engine/values/origin.ts";
import { once } from "../../foundation/system/get-or-create.ts";
import { findPackage } from "../../foundation/system/package-root.ts";
import {
  addedDirectories,
  type Composer,
  type ComposerRequest,
  openComposer,
  openSchemas,
  type Schemas,
} from "../job/composer.ts";
import type { Task } from "../job/job.ts";
import { type Flag, type ProgramOptions, readJsonSchema } from "../job/options.ts";
import {
  type Console,
  completeInvocation,
  type Invocation,
  processInvocation,
  type WorkerRequest,
  watchForLostTask,
} from "../job/process/invocation.ts";
import { createRedaction, guardConsole, type Redaction } from "../job/redaction.ts";
import { printJsonError, reportOwnError, warnOf } from "../job/report-error.ts";
import {
  EXIT_ERROR,
  EXIT_OK,
  EXIT_USAGE,
  type ParsedArguments,
  type Session,
} from "../job/session.ts";
import type { Plugin } from "../plugins/contract/plugin.ts";
import type { Settings } from "../plugins/load-settings.ts";
import { type LoadedSettings, loadSettings, SETTINGS_FLAG } from "../plugins/settings-files.ts";
import { STANDARD_PLUGINS } from "../plugins/standard-plugins.ts";
import type { SweepRegistry } from "../sweep/registry.ts";
import { refuseConfigInPath, refuseConflicts, refuseUnsupported } from "./arguments/check-flags.ts";
import {
  type ProgramUse,
  refuseMisspelt,
  runSubcommand,
  subcommandOf,
} from "./arguments/find-subcommand.ts";
import {
  DIALECT_FLAG,
  HYDRA_FLAGS,
  keysOfHelp,
  OWN_FLAGS,
  usageError,
  withAliases,
} from "./arguments/hydra-flags.ts";
import { parseArgv, parseIntermixed } from "./arguments/parse-argv.ts";
import {
  checkInvocation,
  checkMain,
  type HydraMainOptions,
  type MainOptions,
  placed,
} from "./check-main.ts";
import type { ToolLine } from "./command-line-tool.ts";
import {
  type Command,
  completionCommand,
  diffCommand,
  dryRunCommand,
  explainCommand,
  helpCommand,
  hydraHelpCommand,
  infoCommand,
  runCommand,
  schemaCommand,
  showCommand,
  workerCommand,
} from "./commands.ts";

/** The first command that the flags ask for is executed. */
const COMMANDS: readonly Command[] = [
  helpCommand,
  hydraHelpCommand,
  explainCommand,
  diffCommand,
  infoCommand,
  schemaCommand,
  dryRunCommand,
  completionCommand,
  showCommand,
  runCommand,
];

/**
 * `hydraMain` with all that it needs.
 *
 * @param surroundings undefined: this process, which gets the exit code
 * @param callingModule the file that declares the program; empty if unknown
 */
export async function startProgram(
  declared: HydraMainOptions,
  task: Task<never>,
  surroundings?: Partial<Invocation>,
  callingModule = "",
): Promise<number> {
  if (surroundings !== undefined) return checkedMain(declared, task, surroundings, callingModule);
  const code = await checkedMain(declared, task, processInvocation(), callingModule);
  if (code !== EXIT_OK) process.exitCode = code;
  return code;
}

async function checkedMain(
  declared: HydraMainOptions,
  task: Task<never>,
  fields: Partial<Invocation>,
  callingModule: string,
): Promise<number> {
  checkInvocation(fields);
  const invocation = completeInvocation(fields);
  try {
    checkMain(declared, task);
  } catch (error) {
    reportOwnError(error, { invocation, options: {} });
    return EXIT_ERROR;
  }
  // The schema is checked before the task is called: only then does its config have these types.
  return runMain(placed(declared, callingModule), task as Task, invocation);
}

/** A call of a program whose declaration depends on its command line. */
export interface AdaptableCall {
  /** The command line; for a resumed sweep, that of the sweep. */
  readonly parsed: ParsedArguments;
  readonly invocation: Invocation;
  readonly settings: Settings;
  /** For completion: the flags of the line that a shell completes, as far as it is typed. */
  readonly completedFlags?: ParsedArguments["flags"];
  /** For completion: the program behind the cursor, with its arguments. */
  readonly completedProgram?: readonly string[];
}

/** Further declarations of a program, which depend on its command line. */
export interface Adaptation {
  readonly options?: Partial<ProgramOptions>;
  readonly parsed?: ParsedArguments;
  readonly task?: Task;
  readonly env?: Invocation["env"];
  /** Whether the line to complete is that of a Python program: it has Hydra's flags, launchers and sweepers, and none of ours. */
  readonly completesPython?: boolean;
  /** For completion: the other trees that the line may be for. */
  readonly alternatives?: readonly Pick<Adaptation, "env" | "options">[];
  /** What the program leaves open, which composes, but may not be meant. */
  readonly notes?: readonly string[];
}

/** @param plugins those of the command, which are loaded after it is adapted */
export type Adapt = (call: AdaptableCall, plugins: () => readonly Plugin[]) => Promise<Adaptation>;

/**
 * A program that is declared in full, as the commands are, which run other programs.
 *
 * @param adapt throws ConfigError if the command line names something that does not exist
 */
export async function runMain(
  options: MainOptions,
  task: Task,
  unguarded: Invocation,
  adapt: Adapt = async () => ({}),
): Promise<number> {
  const redaction = createRedaction();
  const invocation = { ...unguarded, console: guardConsole(unguarded.console, redaction) };
  const subcommands = options.subcommands ?? [];
  const subcommand = subcommandOf(invocation.argv, subcommands);
  if (subcommand !== undefined) return runSubcommand(subcommand, options.name, invocation);
  const endWatch = watchForLostTask(invocation.console);
  const notice = noticeOf(options, invocation);
  if (notice !== null && !isStrict(notice, invocation)) warnOf(notice, invocation);
  try {
    if (notice !== null && isStrict(notice, invocation))
      throw new ConfigError({
        code: "compose.unsupported",
        message: notice,
        hint: `${STRICT} makes this an error`,
      });
    refuseMisspelt(
      invocation.argv,
      subcommands,
      programUseOf(options, invocation),
      flagsOf(options),
    );
    return await dispatch({ ...options, adapt }, task, invocation, redaction);
  } catch (thrown) {
    const error = await explained(thrown, { ...options, adapt }, invocation, redaction);
    // A tool may have a flag of that name.
    if (options.flags?.some(({ names }) => names.includes("--json")) !== true)
      printJsonError(error, invocation);
    if (!isConfigError(error) || error.code !== "app.usage") {
      reportOwnError(error, { invocation, options });
      return EXIT_ERROR;
    }
    invocation.console.stderr(usageError(error, options, flagsOf(options)));
    return EXIT_USAGE;
  } finally {
    endWatch();
  }
}

/** What the program does with another one: itself after `--`, or by a subcommand. */
function programUseOf(
  { name, programUse: verb, restAsOverrides, subcommands = [] }: ProgramOptions,
  { cwd, env }: Invocation,
): ProgramUse | undefined {
  if (restAsOverrides !== undefined)
    return {
      verb: verb ?? "run",
      by: name,
      isElsewhere: false,
      passesConfig: verb === undefined,
      cwd,
      env,
    };
  const runner = subcommands.find(({ isProgram }) => isProgram === true);
  return (
    runner && {
      verb: "run",
      by: `${name} ${runner.name}`,
      isElsewhere: true,
      passesConfig: true,
      cwd,
      env,
    }
  );
}

/** Adds to an error of the engine what follows from the program's command line and schema. */
async function explained(
  error: unknown,
  options: MainOptions & { readonly adapt: Adapt },
  invocation: Invocation,
  redaction: Redaction,
): Promise<unknown> {
  if (!isConfigError(error)) return error;
  const { argv } = invocation;
  if (error.code === "app.usage") {
    const flags = flagsOf(options);
    const { hintDashedValues, hintFlagOfSubcommand } = await import("./override-hints.ts");
    const openedBy = async (words: readonly string[]) =>
      (await openedSilently({ ...options, redaction }, invocation, words)).composer;
    const ofSubcommand = await hintFlagOfSubcommand(error, options, argv, flags);
    return ofSubcommand === error
      ? hintDashedValues(error, options, argv, { flags, openedBy })
      : ofSubcommand;
  }
  const isSyntax = error.code === "override.syntax";
  const { schema, tool } = options;
  // The hint to add a key is wrong if the program's schema allows no further keys.
  if (!isSyntax && schema === undefined && tool === undefined) return error;
  const hints = await import("./override-hints.ts");
  if (isSyntax) return hints.hintMistypedArgument(error, argv, flagsOf(options));
  return hints.omitAppendHint(
    tool === undefined ? error : hints.omitMultirun(error, options),
    options,
  );
}

/** Flags that resume a recorded sweep. */
const RESUMING = ["resume", "retry-failed", "accept-changes", "accept-damaged"] as const;

async function dispatch(
  declared: MainOptions & { readonly adapt: Adapt },
  declaredTask: Task,
  called: Invocation,
  redaction: Redaction,
): Promise<number> {
  const { worker } = called;
  const flags = flagsOf(declared);
  const { invocation: begun, parsed: typed } = await readLine(declared, called, flags);
  if (typed.flags.has("version")) {
    begun.console.stdout(versionText(declared, dialectOf(declared, typed, begun)));
    return EXIT_OK;
  }
  const completed = await lineToComplete(declared, typed, begun);
  const completedFlags = completed?.flags;
  const loadable = await settingsOf(
    declared,
    { ...typed, flags: new Map([...(completedFlags ?? []), ...typed.flags]) },
    begun,
  );
  const { settings } = loadable;
  const isHelp = typed.flags.has("help") || typed.flags.has("hydra-help");
  const isResuming = RESUMING.some((id) => typed.flags.has(id)) && !isHelp;
  if (isResuming && begun.resumed === undefined) {
    refuseConflicts(typed, declared);
    refuseUnsupported(typed, flags, dialectOf(declared, typed, begun));
    const { resumedInvocation } = await import("../sweep/resume.ts");
    const resumed = resumedInvocation(typed, begun, await loadable.plugins());
    return dispatch(declared, declaredTask, resumed, redaction);
  }
  const adapted = await declared.adapt(
    {
      parsed: typed,
      invocation: begun,
      settings,
      ...(completedFlags !== undefined && { completedFlags }),
      ...(completed?.program !== undefined && { completedProgram: completed.program }),
    },
    () => plugins,
  );
  const { parsed: adaptedLine = typed, task = declaredTask } = adapted;
  const plugins = await pluginsFor(adaptedLine, begun, loadable);
  const invocation = loadable.trust === undefined ? begun : { ...begun, trust: loadable.trust };
  // What settings files set is for composing: no process gets it, since some variables run code.
  const composing = adapted.env === undefined ? invocation : { ...invocation, env: adapted.env };
  const options = await withCallbacks({ ...declared, ...adapted.options }, plugins);
  const dialect = dialectOf(options, adaptedLine, invocation);
  const rerun = adaptedLine.flags.has("experimental-rerun")
    ? (await import("./rerun.ts")).readRerun(adaptedLine, invocation.cwd, dialect)
    : undefined;
  const { parsed } = rerun ?? { parsed: adaptedLine };
  refuseConfigInPath(parsed, options);
  addedDirectories(composerRequest(options, parsed, plugins), invocation.cwd);
  refuseConflicts(parsed, options);
  refuseUnsupported(parsed, flags, dialect);
  const command =
    worker === undefined
      ? (COMMANDS.find(({ isAsked }) => isAsked(parsed, options)) ?? runCommand)
      : workerCommand(worker);
  const schemas = await openSchemas(options);
  const notes = settings.notes ?? options.notes ?? true;
  // Opened on demand, since not every command composes: comparing two run directories needs no config tree.
  const composer = once((): Composer => {
    const opened = openComposer(
      {
        ...composerRequest(options, parsed, plugins),
        dialect,
        ...(rerun !== undefined && { taskMode: "run" }),
        schemas,
        redaction,
        // The process that started a worker has shown the warnings already.
        ...(worker === undefined && {
          onWarning: (message) => warnOf(message, invocation),
          ...(settings.aliases !== undefined && { aliases: aliasMap(settings.aliases) }),
          // A schema says itself which keys there are.
          ...nullChecks(options),
          notesRareCases: notes === "all" && options.schema === undefined,
          ...(notes !== false && {
            onNote: (message) => invocation.console.stderr(`note: ${message}\n`),
          }),
        }),
      },
      composing,
    );
    if (worker === undefined) adapted.notes?.forEach(opened.note);
    return opened;
  });
  const silentComposers =
    (program: ProgramOptions, env: Invocation["env"], schemas: Schemas): Session["composerFor"] =>
    (other) =>
      openComposer(
        { ...composerRequest(program, other, plugins), schemas },
        { ...invocation, env, console: SILENT },
      );
  const alternatives = await Promise.all(
    (adapted.alternatives ?? []).map(async ({ env = invocation.env, options: adaptedOptions }) => {
      const program = { ...declared, ...adaptedOptions };
      return { composerFor: silentComposers(program, env, await openSchemas(program)) };
    }),
  );
  const registry = once(async (): Promise<SweepRegistry> => {
    const { loadRegistry } = await import("../plugins/load-registry.ts");
    return loadRegistry(plugins);
  });
  const typedOverrides = [...parsed.overrides, ...restOverrides(options, parsed)];
  // Overrides of a sweep that has begun are recorded as expanded; help about Hydra needs no primary config, and a line that is
  // completed may end anywhere.
  const areTyped =
    (dialect.hasAliases || settings.aliases !== undefined) &&
    worker === undefined &&
    begun.resumed === undefined &&
    !parsed.flags.has("hydra-help") &&
    !parsed.flags.has("shell-completion");
  const overrides = once((): readonly string[] => [
    ...(rerun?.overrides ?? []),
    ...(areTyped ? expandTyped(typedOverrides, parsed, composer(), dialect) : typedOverrides),
  ]);
  return command.execute({
    options,
    task,
    invocation,
    parsed,
    flags: adapted.completesPython === true ? HYDRA_FLAGS : flags,
    hydrasOptionsOnly: adapted.completesPython === true,
    get overrides() {
      return overrides();
    },
    get composer() {
      return composer();
    },
    registry,
    async logInfo(composition, overrides, logging) {
      const { logInfo } = await import("./log-info.ts");
      const { redact } = invocation.console;
      await logInfo({ composer: composer(), composition, overrides, redact }, registry, logging);
    },
    composerFor: silentComposers(options, composing.env, schemas),
    alternatives,
  });
}

/**
 * The command line as it was typed: that of a tool in the words of every program, that of a worker at the time when its sweep
 * began.
 */
async function readLine(
  declared: MainOptions & { readonly adapt: Adapt },
  called: Invocation,
  flags: readonly Flag[],
): Promise<{ readonly invocation: Invocation; readonly parsed: ParsedArguments }> {
  const isOwn = declared.tool !== undefined || declared.plainFlags === true;
  const toolLine = isOwn ? await ownLine(declared, called, flags) : undefined;
  const line = toolLine === undefined ? called : { ...called, argv: toolLine.argv };
  const { worker } = called;
  const invocation = worker === undefined ? line : await asSweepBegan(line, worker);
  const parsed = parsedLine(declared, invocation, flags);
  return {
    invocation,
    parsed: { ...parsed, ...(toolLine !== undefined && { words: toolLine.words }) },
  };
}

/** Typed overrides with their aliases expanded. */
function expandTyped(
  typed: readonly string[],
  { flags }: ParsedArguments,
  composer: Composer,
  dialect: Dialect,
): readonly string[] {
  // Keys that `--help` explains have no values.
  const keys = new Set(flags.has("help") ? keysOfHelp({ overrides: typed }) : []);
  const expanded = composer.expand(typed.filter((word) => !keys.has(word)));
  const aliases = keys.size === 0 ? [] : composer.aliases();
  return [...expanded, ...[...keys].map((key) => aliasedKey(key, aliases, dialect))];
}

const aliasMap = (aliases: NonNullable<Settings["aliases"]>) => {
  const entries = Object.entries(aliases);
  const [[, first] = []] = entries;
  return map(
    entries.map(([name, { target, origin }]) => [name, scalar(target, origin)]),
    first?.origin ?? fromCode("settings"),
  );
};

/** The command line of a tool or with plain flags, in the words of every program. */
async function ownLine(
  options: MainOptions & { readonly adapt: Adapt },
  invocation: Invocation,
  flags: readonly Flag[],
): Promise<ToolLine> {
  const { readToolLine } = await import("./command-line-tool.ts");
  return readToolLine(invocation.argv, options, flags, (words) =>
    openedSilently(options, invocation, words),
  );
}

/** The composer for a line, which says nothing; with a redaction, it learns the secrets that schemas mark. */
async function openedSilently(
  {
    redaction,
    ...options
  }: MainOptions & { readonly adapt: Adapt; readonly redaction?: Redaction },
  invocation: Invocation,
  words: readonly string[],
): Promise<{ readonly composer: Composer; readonly freeKeys: readonly string[] }> {
  const { plugins = STANDARD_PLUGINS } = options;
  const typed = parseArgv(words, flagsOf(options));
  const { settings } = await settingsOf(options, typed, invocation);
  const { env = invocation.env, ...adapted } = await options.adapt(
    { parsed: typed, invocation, settings },
    () => plugins,
  );
  const all = { ...options, ...adapted.options };
  const request = composerRequest(all, adapted.parsed ?? typed, plugins);
  const composer = openComposer(
    {
      ...request,
      ...(redaction !== undefined && { redaction, schemas: await openSchemas(all) }),
    },
    { ...invocation, env, console: SILENT },
  );
  return { composer, freeKeys: all.freeKeys ?? [] };
}

/** What the line that a shell asks to complete says besides its overrides; undefined for other requests. */
async function lineToComplete(
  options: MainOptions,
  parsed: ParsedArguments,
  invocation: Invocation,
): Promise<
  | {
      readonly flags: ParsedArguments["flags"] | undefined;
      readonly program: readonly string[] | undefined;
    }
  | undefined
> {
  if (!parsed.flags.has("shell-completion")) return undefined;
  const { completedFlags, completedProgram } = await import("./completion/shell-completion.ts");
  const call = { parsed, invocation, dialect: dialectOf(options, parsed, invocation) };
  return { flags: completedFlags(call, flagsOf(options)), program: completedProgram(invocation) };
}

/** A worker uses the time and the dialect with which its sweep began. */
async function asSweepBegan(
  invocation: Invocation,
  { folder }: WorkerRequest,
): Promise<Invocation> {
  const { readFacts } = await import("../record/manifest.ts");
  const { dialect, now } = readFacts(folder);
  return { ...invocation, now: new Date(now), ...(dialect !== undefined && { dialect }) };
}

/** The program's own version if it has one, then ours and Hydra's; of a tool with a version only that. */
function versionText({ name, tool, version }: ProgramOptions, dialect: Dialect): string {
  if (tool !== undefined && version !== undefined) return `${name} ${version}\n`;
  const ours = `hydraconf ${findPackage()?.version ?? "in a bundle"}`;
  const isOwnBase = dialect.hydraVersion.startsWith(`${dialect.name}.`);
  const hydra = `Hydra ${dialect.hydraVersion}${isOwnBase ? "" : ` with version_base ${dialect.name}`}`;
  if (tool !== undefined) return `${name} (${ours}, ${hydra})\n`;
  return version === undefined
    ? `${ours} (${hydra})\n`
    : `${name} ${version} (${ours}, ${hydra})\n`;
}

/** A resumed sweep keeps its dialect; otherwise the command line chooses it, if allowed, and then the program. */
const dialectOf = (
  { choosesDialect = false, dialect: declared, versionBase }: MainOptions,
  { flags }: Pick<ParsedArguments, "flags">,
  { dialect }: Pick<Invocation, "dialect"> = {},
): Dialect =>
  dialectNamed(
    dialect ??
      (
        (choosesDialect && flags.get(DIALECT_FLAG.id)) ||
        (declared ?? versionBase ?? DEFAULT_DIALECT.name)
      ).toString(),
  );

function parsedLine(
  options: MainOptions,
  invocation: Invocation,
  flags: readonly Flag[],
): ParsedArguments {
  const { argv } = invocation;
  const parsed = parseArgv(argv, flags);
  if (parsed.rest === undefined || options.restAsOverrides !== undefined) return parsed;
  // Our shell code passes the words to complete after `--`.
  if (parsed.flags.has("shell-completion")) return parsed;
  return dialectOf(options, parsed, invocation).mixesFlags ? parseIntermixed(argv, flags) : parsed;
}

const VERSION_BASE_NOTICE =
  "The version_base parameter is deprecated and will be removed in Hydra 1.5.\n" +
  "Omit the version_base parameter to use the current Hydra defaults.";

/** Turns deprecation warnings into errors, as in Hydra. */
const STRICT = "HYDRA_DEPRECATION_WARNINGS_AS_ERRORS";

const isStrict = (notice: string, { env }: Invocation): boolean =>
  notice === VERSION_BASE_NOTICE && (env[STRICT] ?? "") !== "";

/** The warning about a program's version of Hydra, which is given even if the command line is wrong. */
function noticeOf(options: MainOptions, { argv, worker }: Invocation): string | null {
  if (worker !== undefined) return null;
  const flags = flagsOf(options);
  try {
    return noticeFor(dialectOf(options, parseArgv(argv, flags)), options);
  } catch {
    return noticeFor(dialectOf(options, { flags: new Map() }), options);
  }
}

const noticeFor = (dialect: Dialect, options: MainOptions): string | null =>
  dialect.leastVersionBase !== null && typeof options.versionBase === "string"
    ? VERSION_BASE_NOTICE
    : dialect.notice;

/** Which keys cannot be null by the program's schema, which composing may not need. */
function nullChecks({ schema }: ProgramOptions): Pick<ComposerRequest, "refusesNull"> {
  if (schema === undefined) return {};
  const document = once(() => readJsonSchema(schema));
  return {
    refusesNull: (path) => {
      const read = document();
      return read !== undefined && refusesNull(read, path);
    },
  };
}

const SILENT: Console = { stdout: () => {}, stderr: () => {} };

/** @throws ConfigError `plugin.settings` for invalid settings */
async function settingsOf(
  { plugins = STANDARD_PLUGINS, settingsFiles = false, trustCommand }: MainOptions,
  { flags }: ParsedArguments,
  invocation: Invocation,
): Promise<LoadedSettings> {
  if (settingsFiles)
    return loadSettings(plugins, invocation, { named: flags.get(SETTINGS_FLAG.id), trustCommand });
  if (plugins !== STANDARD_PLUGINS) refuseClashes(plugins);
  const ownPlugins = async () => plugins;
  return { settings: {}, plugins: ownPlugins, trustedPlugins: ownPlugins };
}

/**
 * The plugins for a command. Help and completion do without those that may not run: a user must be able to ask what a
 * command does before trusting anything.
 *
 * @throws ConfigError `plugin.*` for plugins that cannot be loaded, that clash, or that may not run
 */
async function pluginsFor(
  { flags }: ParsedArguments,
  { console, env }: Invocation,
  { plugins, refusal, trustedPlugins }: LoadedSettings,
): Promise<readonly Plugin[]> {
  const isHelp = flags.has("help") || flags.has("hydra-help");
  const isCompletion = flags.has("shell-completion");
  if (refusal === undefined || (!isHelp && !isCompletion)) return plugins();
  // Anything that is printed would disturb the line that the user is typing.
  if (isHelp || env["HYDRA_COMP_DEBUG"] === "1") console.stderr(noteOf(refusal));
  return trustedPlugins();
}

const noteOf = ({ details: { hint, message } }: ConfigError): string =>
  `note: ${message}\n  Hint: ${hint}\n`;

/** The callbacks that a config may name: the program's own, and those of its plugins. */
async function withCallbacks<Options extends ProgramOptions>(
  options: Options,
  plugins: readonly Plugin[],
): Promise<Options> {
  const { targets } = options;
  const ofPlugins = plugins.flatMap(({ callbacks }) => callbacks ?? []);
  if (ofPlugins.length === 0) return options;
  const { joinTargets } = await import("../job/callbacks.ts");
  const all = [...(targets === undefined ? [] : [targets]), ...ofPlugins];
  const [first, ...others] = all;
  return first === undefined ? options : { ...options, targets: others.reduce(joinTargets, first) };
}

function composerRequest(
  options: MainOptions,
  parsed: ParsedArguments,
  plugins: readonly Plugin[],
): ComposerRequest {
  const { flags } = parsed;
  const dialect = dialectOf(options, parsed);
  const versionBase = reportedBase(options.versionBase ?? undefined, dialect);
  const text = (id: string): string | undefined => {
    const value = flags.get(id);
    return typeof value === "string" ? value : undefined;
  };
  const { configPath: declared = dialect.defaultConfigPath } = options;
  const configPath = text("config-path") ?? declared;
  const configDir = text("config-dir");
  return {
    jobName: options.jobName ?? options.name,
    configPath: configPath === null ? null : withBase(configPath, options.base),
    configName: text("config-name") ?? options.configName ?? null,
    base: options.base,
    ...(options.freeKeys !== undefined && { freeKeys: options.freeKeys }),
    ...(options.textLists !== undefined && { textLists: options.textLists }),
    ...(options.packageRoots !== undefined && { packageRoots: options.packageRoots }),
    ...(configDir !== undefined && { configDir }),
    dialect,
    ...(versionBase !== undefined && { versionBase }),
    plugins,
    ...(options.resolvers !== undefined && { resolvers: options.resolvers }),
    ...(options.limits !== undefined && { limits: options.limits }),
    ...(options.sources !== undefined && { sources: options.sources }),
    ...(options.tool !== undefined && { taskMode: "run" as const }),
    ...(options.formats !== undefined && { formats: options.formats }),
    ...(options.layers !== undefined && { layers: options.layers }),
    ...(options.store !== undefined && { store: options.store }),
  };
}

/** Flags that show something; a tool has no jobs and no sweeps. */
const TOOL_FLAGS: ReadonlySet<string> = new Set([
  ...["help", "version", "cfg", "resolve", "package", "origins", "json", "explain", "schema"],
  ...["info", "shell-completion", "config-path", "config-name", "config-dir", "settings"],
  DIALECT_FLAG.id,
]);

/** What flags do in a tool, where it is less than in a program with jobs. */
const TOOL_HELP: ReadonlyMap<string, string> = new Map([
  ["help", "Show this help"],
  ["version", "Show the version"],
  ["json", "With --cfg, --explain or --info: print JSON"],
]);

/** The flags of every program under the names that a tool's own ones leave. */
const flagsBeside = (ownFlags: readonly Flag[], all: readonly Flag[]): readonly Flag[] =>
  all.flatMap((flag) => {
    if (!TOOL_FLAGS.has(flag.id) || ownFlags.some(({ id }) => id === flag.id)) return [];
    const [first, ...more] = flag.names.filter((name) =>
      ownFlags.every(({ names }) => !names.includes(name)),
    );
    const help = TOOL_HELP.get(flag.id) ?? flag.help;
    return first === undefined ? [] : [{ ...flag, help, names: [first, ...more] }];
  });

const withBase = (path: string, base: string): string =>
  path.startsWith("pkg://") ? path : resolve(base, path);

function restOverrides(options: HydraMainOptions, { rest }: ParsedArguments): readonly string[] {
  if (rest === undefined) return [];
  return options.restAsOverrides?.(rest) ?? rest;
}

function flagsOf(options: MainOptions): readonly Flag[] {
  const ofSettings = options.settingsFiles === true ? [SETTINGS_FLAG] : [];
  const ofDialect = options.choosesDialect === true ? [DIALECT_FLAG] : [];
  const mayHaveAliases =
    options.choosesDialect === true || dialectOf(options, { flags: new Map() }).hasAliases;
  const ofHydra = mayHaveAliases ? HYDRA_FLAGS.map(withAliases) : HYDRA_FLAGS;
  const ownFlags = options.flags ?? [];
  const all = [...ofHydra, ...OWN_FLAGS, ...ofSettings, ...ofDialect];
  return options.tool === undefined
    ? [...all, ...ownFlags]
    : [...ownFlags, ...flagsBeside(ownFlags, all)];
}
