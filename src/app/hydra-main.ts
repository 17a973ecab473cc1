import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError, isConfigError } from "../values/errors.ts";
import type { ConfigNode } from "../values/node.ts";
import { pyStr } from "../values/python-text.ts";
import { selectNode } from "../values/select.ts";
import { type Composer, openComposer } from "./composer.ts";
import { HYDRA_VERSION } from "./dialect.ts";
import { explainText } from "./explain-text.ts";
import { type Flag, flagLabel } from "./flags/flag.ts";
import { HYDRA_FLAGS, OWN_FLAGS } from "./flags/hydra-flags.ts";
import { type ParsedArguments, parseArgv } from "./flags/parse-argv.ts";
import { usageText } from "./flags/usage.ts";
import { helpText } from "./help.ts";
import { type Invocation, processInvocation } from "./invocation.ts";
import { runJob, type Task } from "./job/run-job.ts";
import { reportError } from "./report-error.ts";
import { type ConfigView, showConfig } from "./show-config.ts";

export interface HydraMainOptions {
  /** The program's name: in usage texts, and `hydra.job.name` unless the config says otherwise. */
  readonly name: string;
  /** The program's own version, for `--version`. */
  readonly version: string;
  /** Directory of the primary config, absolute or relative to `base`; null for none. */
  readonly configPath?: string | null;
  /** Name of the primary config; null for none. */
  readonly configName?: string | null;
  /** Where a relative `configPath` starts; the current directory unless given. */
  readonly base?: string;
  /** A JSON Schema file that the resolved config of a job must fit. */
  readonly schemaFile?: string;
  /** Flags of the program beside Hydra's. */
  readonly flags?: readonly Flag[];
  /** Files and directories whose presence says that a run directory holds results. */
  readonly resultFiles?: readonly string[];
  /**
   * Accepts `-- ARG...`: turns what stands after `--` into the overrides it is short for. Without
   * it, what follows `--` is overrides too, as with any program.
   */
  readonly restAsOverrides?: (args: readonly string[]) => readonly string[];
  /** What to do when no flag says so: run the task, or show the config (then nothing is written). */
  readonly whenBare?: "run" | "show";
}

export const EXIT_OK = 0;
export const EXIT_ERROR = 1;
export const EXIT_USAGE = 2;

/**
 * What `@hydra.main` is to a Python program: reads the command line, composes the config, sets the
 * job up and calls the task with its config; shows the config, the help or the version instead
 * where a flag asks for it. Never throws for what a user can get wrong.
 *
 * @returns the exit code: the task's own number, 0, 1 for errors, 2 for a wrong command line
 */
export async function hydraMain(
  options: HydraMainOptions,
  task: Task,
  invocation: Invocation = processInvocation(),
): Promise<number> {
  try {
    return await dispatch(options, task, invocation);
  } catch (error) {
    if (!isConfigError(error) || error.code !== "app.usage") {
      reportError(error, invocation);
      return EXIT_ERROR;
    }
    invocation.console.stderr(usageError(error, options));
    return EXIT_USAGE;
  }
}

/** As argparse words it: the usage, then one line that says what is wrong. */
function usageError({ message, details }: ConfigError, options: HydraMainOptions): string {
  const positionals = options.restAsOverrides === undefined ? [] : ["[-- ARG ...]"];
  const usage = usageText(
    options.name,
    flagsOf(options),
    ["[overrides ...]", ...positionals].join(" "),
  );
  const near = details.nearest === undefined ? "" : ` (did you mean ${details.nearest}?)`;
  const hint = details.hint === undefined ? "" : `  ${details.hint}\n`;
  return `${usage}${options.name}: error: ${message}${near}\n${hint}`;
}

async function dispatch(
  options: HydraMainOptions,
  task: Task,
  invocation: Invocation,
): Promise<number> {
  const { console } = invocation;
  const parsed = parseArgv(invocation.argv, flagsOf(options));
  if (parsed.flags.has("version")) {
    console.stdout(`${options.name} ${options.version} (Hydra ${HYDRA_VERSION})\n`);
    return EXIT_OK;
  }
  refuseConflicts(parsed, options);
  refuseUnsupported(parsed, options);

  const composer = openComposer(composerRequest(options, parsed, invocation), invocation);
  const overrides = [...parsed.overrides, ...restOverrides(options, parsed)];
  const about = (["help", "hydra-help"] as const).find((id) => parsed.flags.has(id));
  if (about !== undefined) {
    help(composer, overrides, about === "help" ? "app" : "hydra", options, parsed, invocation);
    return EXIT_OK;
  }
  const explained = parsed.flags.get("explain");
  if (typeof explained === "string") {
    console.stdout(explainText(composer.compose(overrides), explained));
    return EXIT_OK;
  }
  const view = parsed.flags.get("cfg") ?? (options.whenBare === "show" ? "job" : undefined);
  if (view !== undefined) {
    show(composer, overrides, view as ConfigView, parsed, invocation);
    return EXIT_OK;
  }
  return run(options, composer, overrides, parsed, task, invocation);
}

function help(
  composer: Composer,
  overrides: readonly string[],
  about: "app" | "hydra",
  options: HydraMainOptions,
  { flags }: ParsedArguments,
  { console }: Invocation,
): void {
  // Hydra's own help needs no primary config, and must work where there is a broken one.
  const composition = composer.compose(overrides, about === "hydra" ? null : undefined);
  const request = {
    composition,
    repository: composer.repository,
    about,
    flags: flagsOf(options),
    resolve: flags.has("resolve"),
  };
  console.stdout(helpText(request, composer.context));
}

function show(
  composer: Composer,
  overrides: readonly string[],
  view: ConfigView,
  { flags }: ParsedArguments,
  { console }: Invocation,
): void {
  const { root, warnings } = composer.compose(overrides);
  for (const { message } of warnings) console.stderr(`UserWarning: ${message}\n`);
  const part = flags.get("package");
  const request = {
    root,
    view,
    resolve: flags.has("resolve"),
    ...(typeof part === "string" ? { package: part } : {}),
  };
  console.stdout(showConfig(request, composer.context));
}

async function run(
  options: HydraMainOptions,
  composer: Composer,
  overrides: readonly string[],
  { flags, rest }: ParsedArguments,
  task: Task,
  invocation: Invocation,
): Promise<number> {
  const composition = composeForRun(composer, overrides);
  for (const { message } of composition.warnings)
    invocation.console.stderr(`UserWarning: ${message}\n`);
  const own = new Set((options.flags ?? []).map((flag) => flag.id));
  return runJob(
    {
      program: options.name,
      composition,
      context: composer.context,
      publish: composer.publish,
      check: (resolved) => fitsSchema(resolved, options.schemaFile, invocation),
      resultFiles: options.resultFiles ?? [],
      flags: new Map([...flags].filter(([id]) => own.has(id))),
      restArgs: rest ?? [],
    },
    task,
    invocation,
  );
}

/** A single run is recorded as such (`hydra.mode=RUN`) where nothing has said what it is. */
function composeForRun(composer: Composer, overrides: readonly string[]) {
  const composition = composer.compose(overrides);
  const mode = selectNode(composition.root, "hydra.mode", composer.context);
  if (mode === undefined || (mode.kind === "scalar" && mode.value === null))
    return composer.compose([...overrides, "hydra.mode=RUN"]);
  if (pyStr(mode).endsWith("MULTIRUN"))
    throw new ConfigError({
      code: "app.unsupported",
      message: "hydra.mode=MULTIRUN: sweeps come later, this version runs one job at a time",
      key: "hydra.mode",
      origin: mode.origin,
    });
  return composition;
}

/** Shows all problems at once. ajv is loaded only here: most uses of a config never need it. */
async function fitsSchema(
  resolved: () => ConfigNode,
  schemaFile: string | undefined,
  { console }: Invocation,
): Promise<boolean> {
  if (schemaFile === undefined) return true;
  const { renderIssues, validateTree } = await import("../schema/index.ts");
  const issues = validateTree(resolved(), JSON.parse(readFileSync(schemaFile, "utf8")));
  if (issues.length > 0) console.stderr(`${renderIssues(issues)}\n`);
  return issues.length === 0;
}

function composerRequest(
  options: HydraMainOptions,
  { flags }: ParsedArguments,
  { cwd }: Invocation,
) {
  const text = (id: string): string | undefined => {
    const value = flags.get(id);
    return typeof value === "string" ? value : undefined;
  };
  const configPath = text("config-path") ?? options.configPath ?? null;
  const configDir = text("config-dir");
  return {
    jobName: options.name,
    configPath: configPath === null ? null : withBase(configPath, options.base ?? cwd),
    configName: text("config-name") ?? options.configName ?? null,
    ...(configDir === undefined ? {} : { configDir }),
  };
}

const withBase = (path: string, base: string): string =>
  path.includes("://") ? path : resolve(base, path);

function restOverrides(options: HydraMainOptions, { rest }: ParsedArguments): readonly string[] {
  if (rest === undefined) return [];
  return options.restAsOverrides?.(rest) ?? rest;
}

function flagsOf(options: HydraMainOptions): readonly Flag[] {
  return [...HYDRA_FLAGS, ...OWN_FLAGS, ...(options.flags ?? [])];
}

function refuseUnsupported({ flags }: ParsedArguments, options: HydraMainOptions): void {
  for (const flag of flagsOf(options))
    if (flag.refusal !== undefined && flags.has(flag.id))
      throw new ConfigError({
        code: "app.unsupported",
        message: `${flagLabel(flag)}: ${flag.refusal}`,
      });
}

const COMMANDS = ["run", "cfg", "multirun", "shell-completion", "info", "explain"];

function refuseConflicts({ flags }: ParsedArguments, { whenBare }: HydraMainOptions): void {
  if (flags.has("help")) return;
  if (flags.has("resolve") && !flags.has("cfg") && whenBare !== "show")
    throw conflict("The --resolve flag can only be used in conjunction with --cfg or --help");
  if (COMMANDS.filter((id) => flags.has(id)).length > 1)
    throw conflict(
      "Only one of --run, --multirun, --cfg, --info and --shell_completion can be specified",
    );
}

const conflict = (message: string): ConfigError => new ConfigError({ code: "app.flags", message });
