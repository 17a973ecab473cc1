/** `hydraconf run`: jobs, sweeps and searches of a program in any language. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { HYDRA_FLAGS, keysOfHelp } from "../app/cli/arguments/hydra-flags.ts";
import { flagIn, parseArgv } from "../app/cli/arguments/parse-argv.ts";
import { type AdaptableCall, type Adaptation, runMain } from "../app/cli/main.ts";
import { METRICS_FILE } from "../app/job/metrics.ts";
import type { Delegate, JobFacts } from "../app/job/options.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { Plugin } from "../app/plugins/contract/plugin.ts";
import { sweepCells } from "../app/sweep/sweep-tables.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import { ConfigError, isConfigError, nearest } from "../engine/values/errors.ts";
import { findExecutable, startedAs } from "../foundation/system/find-program.ts";
import { getOrCreate, once } from "../foundation/system/get-or-create.ts";
import { printable } from "../foundation/text/printable.ts";
import { shellCommand } from "../foundation/text/shell-words.ts";
import { drawTable } from "../foundation/text/text-table.ts";
import { type App, namedApp } from "./apps.ts";
import { commandTask } from "./command-task.ts";
import { hydraPluginFiles, optionsOfJobs } from "./hydra-plugin.ts";
import { jobCommand, multirunCommand, RESULT_FILE } from "./job-command.ts";
import { latestMetrics } from "./job-result.ts";
import {
  absentScript,
  PLAIN_FLAGS,
  type Program,
  RUN_FLAGS,
  readProgram,
  scriptIn,
  shownCommand,
  withTail,
} from "./program-command-line.ts";
import {
  adaptToProject,
  completedApps,
  composedApp,
  hiddenTree,
  projectEnv,
  treeOptions,
  withCompletedFlags,
} from "./project.ts";
import { type PythonFiles, sweepCallbacks } from "./python-callbacks.ts";
import { mayBeAsked, openInspection } from "./python-inspection.ts";

const ABOUT = `hydraconf run runs a program, in any language, with a composed config: one job, or a sweep of many.

  hydraconf run -m lr=0.1,0.2 -- python train.py             a program of Python's Hydra, as it is
  hydraconf run -m lr=0.1,0.2 -- ./prog --rate '\${lr}'       any program; no config tree is needed
  hydraconf run -m lr=0.1,0.2 --flags -- ./prog              --lr 0.1, --lr 0.2
  hydraconf run -- ./prog --config {config}                  the config as a file; also in $HYDRACONF_CONFIG
  hydraconf run --resume DIR                                 runs what is not done of a sweep

A job's result is what its task returned (Python's Hydra), or JSON in the file $HYDRACONF_RESULT.
--dry-run shows the command of every job.`;

/** @returns the exit code */
export async function runCommandLine(
  args: readonly string[],
  invocation: Invocation,
): Promise<number> {
  const { command } = invocation;
  const end = args.indexOf("--");
  const isPlain = (word: string, index: number): boolean =>
    (end < 0 || index < end) && flagIn(word, RUN_FLAGS)?.flag === PLAIN_FLAGS;
  const plainFlags = args.some(isPlain);
  // All other flags are then written in full; this one may still be short.
  const argv = args.flatMap((word, index) => (isPlain(word, index) ? PLAIN_FLAGS.names : word));
  return runMain(
    {
      name: "hydraconf run",
      about: ABOUT,
      base: invocation.cwd,
      configPath: "conf",
      configName: "config",
      whenBare: "run",
      settingsFiles: true,
      trustCommand: "hydraconf trust",
      hasUserCode: false,
      reusesWorkers: true,
      launchesRuns: true,
      flags: RUN_FLAGS,
      plainFlags,
      resultFiles: [RESULT_FILE, METRICS_FILE],
      progress: (outputDir) => latestMetrics(join(outputDir, METRICS_FILE)),
      restAsOverrides: () => [],
      subcommands: [],
    },
    () => undefined,
    { ...invocation, argv, ...(command && { command: [...command, "run"] }) },
    adaptToProgram,
  );
}

/** Determines the program to run, and its configs. */
async function adaptToProgram(
  call: AdaptableCall,
  plugins: () => readonly Plugin[],
): Promise<Adaptation> {
  const { invocation, parsed, settings } = call;
  const isHelp = parsed.flags.has("help");
  if (parsed.flags.has("hydra-help") || (isHelp && keysOfHelp(parsed).length === 0)) return {};
  if (parsed.flags.has("shell-completion")) return adaptToLine(withCompletedFlags(call));
  if (isHelp && parsed.rest === undefined) return adaptToProject(call);
  if (parsed.rest === undefined)
    throw new ConfigError({
      code: "app.usage",
      message: "no program: put -- and its command line behind the overrides",
      hint: "hydraconf run [overrides] [-m] -- PROG ARG...",
    });
  refuseAbsentScript(parsed.rest, invocation.cwd);
  const env = projectEnv(invocation.env, settings);
  const place = { cwd: invocation.cwd, env };
  const { program, tail } = readProgram(parsed.rest, parsed, place, settings);
  const all = tail.length === 0 ? parsed : withTail(parsed, parseArgv(tail, HYDRA_FLAGS));
  const app = appOf(program, call, place);
  const other = app === undefined ? composedApp(call, place) : undefined;
  const tree = treeOptions(app ?? other, call, env);
  const notes = other && hiddenTree(other, call);
  if (isHelp) return tree;
  const adapted = { ...program, app, ownFlags: ownFlags(all, invocation.cwd, tail) };
  const requireProgram = once(() => refuseAbsent(adapted, invocation));
  const files = new Map<Dialect, PythonFiles>();
  const carried = (dialect: Dialect) =>
    getOrCreate(files, dialect, () => hydraPluginFiles(optionsOfJobs(plugins(), dialect)));
  return {
    parsed: all,
    task: commandTask(adapted, invocation, carried),
    env: tree.env,
    ...(notes !== undefined && { notes }),
    options: {
      ...tree.options,
      ...(adapted.pass === "hydra" && {
        delegate: {
          sweepCallbacks: callbacksOf(adapted, invocation, carried),
          ...(mayBeAsked(adapted, invocation.cwd) && {
            inspection: openInspection(adapted, { invocation, plugins, carried }),
          }),
        },
      }),
      jobName: jobName(adapted),
      check: (_resolved, { isPlan }, job) => {
        refuseAbsentScript(adapted.argv, invocation.cwd, job.outputDir);
        jobCommand(adapted, job);
        if (!isPlan) requireProgram();
      },
      planJob: async (_resolved, _outputDir, job) => jobPlan(adapted, job),
      summarizeSweep: async (rows) =>
        rows.some(({ result }) => result !== null)
          ? drawTable(shortCells(rows), { width: invocation.console.stdoutWidth })
          : undefined,
    },
  };
}

/** The configs for a line that is completed: of the program behind the cursor, or of any in the directory. */
function adaptToLine(call: AdaptableCall): Adaptation {
  const env = projectEnv(call.invocation.env, call.settings);
  const place = { cwd: call.invocation.cwd, env };
  try {
    const { completedProgram, parsed, settings } = call;
    const program =
      completedProgram && readProgram(completedProgram, parsed, place, settings).program;
    const named = appOf({ app: program?.app }, call, place);
    const [app, ...others] = named === undefined ? completedApps(call, place) : [named];
    return {
      ...treeOptions(app, call, env),
      alternatives: others.map((other) => treeOptions(other, call, env)),
    };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return { env };
  }
}

/** A program in TypeScript calls its callbacks in each job itself, and has no sweep callbacks. */
const callbacksOf =
  (
    program: Program,
    invocation: Invocation,
    carried: (dialect: Dialect) => PythonFiles,
  ): Delegate["sweepCallbacks"] =>
  (root, context) =>
    sweepCallbacks(
      program.app?.kind === "script" ? undefined : root,
      () => multirunCommand(program, { context, root }),
      invocation,
      () => carried(context.dialect),
    );

/** The app that the program itself composes, else that of `--app` or the settings. */
function appOf(
  { app }: Pick<Program, "app">,
  { parsed, settings, invocation: { cwd } }: AdaptableCall,
  place: Parameters<typeof namedApp>[1],
): App | undefined {
  const named = parsed.flags.get("app");
  if (typeof named === "string") return namedApp({ folder: cwd, text: named }, place, settings);
  return app ?? (settings.app === undefined ? undefined : namedApp(settings.app, place, settings));
}

/** A Hydra program resolves relative directories from its source file. */
function ownFlags(
  { flags }: AdaptableCall["parsed"],
  cwd: string,
  tail: readonly string[],
): readonly string[] {
  const flagNames = new Set(parseArgv(tail, HYDRA_FLAGS).flags.keys());
  return ["config-path", "config-name", "config-dir"].flatMap((id) => {
    const value = flags.get(id);
    if (typeof value !== "string") return [];
    const isPath = id !== "config-name" && !value.includes("://");
    return [`--${id}`, isPath && !flagNames.has(id) ? resolve(cwd, value) : value];
  });
}

/** Names a job after its file, as Hydra does. */
function jobName({ app, argv }: Program): string {
  const file = app?.name ?? scriptIn(argv, process.cwd())?.file ?? argv[0] ?? "job";
  return (file.split("/").at(-1) ?? file).replace(/\.(py|sh|[mc]?[jt]s)$/, "") || "job";
}

/** @throws ConfigError `app.unsupported` for a program that does not exist */
function refuseAbsent({ argv }: Program, { cwd, env }: Invocation): void {
  const [file = ""] = argv;
  if (findExecutable(file, cwd, env["PATH"] ?? "") !== null) return;
  const path = resolve(cwd, file);
  const isFile = file.includes("/") && existsSync(path);
  const started = startedAs(file, cwd, env["PATH"]);
  throw new ConfigError({
    code: "app.unsupported",
    message: isFile
      ? `'${file}' is not executable`
      : `The program '${file}' was not found${file.includes("/") ? "" : " on PATH"}`,
    hint: isFile
      ? `make it so (chmod +x ${file}), or name what runs it: ${started.length > 1 ? shellCommand(started) : `python ${file}`}`
      : existsSync(path)
        ? `for the file here, write ${shellCommand(started.length > 1 ? started : [`./${file}`])}`
        : "give it after -- as the shell would find it: a name on PATH, or a path such as ./prog",
  });
}

/**
 * Before anything is composed, as the script says which config tree it is; for a path that begins with `..` only when the
 * directories of the jobs are known, before the first of them runs.
 *
 * @throws ConfigError `app.unsupported` for a script that does not exist
 */
function refuseAbsentScript(argv: readonly string[], cwd: string, outputDir?: string): void {
  const script = absentScript(argv, cwd, outputDir);
  if (script === undefined) return;
  const near = nearest(basename(script), filesBeside(resolve(cwd, script)));
  throw new ConfigError({
    code: "app.unsupported",
    message: `The script '${script}' was not found`,
    ...(near !== undefined && { nearest: join(dirname(script), near) }),
    hint: `paths begin in ${cwd}`,
  });
}

/** The files of the same kind in its directory; empty if that cannot be read. */
function filesBeside(file: string): readonly string[] {
  try {
    return readdirSync(dirname(file)).filter((name) => extname(name) === extname(file));
  } catch {
    return [];
  }
}

function jobPlan(program: Program, job: JobFacts) {
  const { argv, env, file } = jobCommand(program, job);
  const number = job.number === undefined ? "" : `#${job.number} `;
  const set = Object.entries(env).map(([name, value]) => shownCommand([`${name}=${value}`]));
  const from = file === undefined ? "" : `  (config in ${file.path})`;
  return {
    text: `${number}[--pass ${program.pass}: ${program.reason}]\n  ${[...set, shownCommand(argv)].join(" ")}${from}\n`,
    data: {
      pass: program.pass,
      reason: program.reason,
      command: argv,
      env,
      ...(file !== undefined && { config_file: file.path }),
    },
  };
}

/** The parameters and the outcome of each job: the columns that fit a terminal. */
function shortCells(rows: Parameters<typeof sweepCells>[0]): readonly (readonly string[])[] {
  const cells = sweepCells(rows);
  const left = new Set(["attempts", "output_dir", "error"]);
  const kept = (cells[0] ?? []).flatMap((name, index) => (left.has(name) ? [] : [index]));
  return cells.map((line) => kept.map((index) => printable(line[index] ?? "")));
}
