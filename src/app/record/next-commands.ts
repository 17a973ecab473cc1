/** The commands that a user may type next about a sweep. */
import { basename, delimiter, dirname, relative, resolve } from "node:path";
import { isBelow } from "../../foundation/system/files.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { EndStatus } from "../job/ender.ts";
import type { Invocation } from "../job/process/invocation.ts";

/** The actions of `hydraconf sweep` on an existing sweep, with a line of help each. */
export const SWEEP_ACTIONS = {
  status: "shows the state of its jobs",
  wait: "waits for its end; returns the sweep's exit code",
  cancel: "ends its running jobs; --resume continues later",
  collect: "writes its results as a table: JSON, CSV, Markdown, HTML",
  best: "shows its best jobs, with the command lines that run them again",
  watch: "shows its page in a browser while it runs",
  compare: "compares it with other sweeps",
} as const;

export type SweepAction = keyof typeof SWEEP_ACTIONS;

/** @param hydraconf the `hydraconf` command as the user would type it */
export const nextCommand = (
  action: SweepAction,
  directory: string,
  hydraconf = "hydraconf",
): string => `${hydraconf} sweep ${action} ${shellQuote(directory)}`;

/** The commands for following a sweep, a line each. */
export function nextCommands(
  directory: string,
  actions: readonly SweepAction[] = ["status", "wait", "cancel", "collect"],
  hydraconf = "hydraconf",
): string {
  const commands = actions.map((action) => nextCommand(action, directory, hydraconf));
  const width = Math.max(...commands.map(({ length }) => length));
  return actions
    .map(
      (action, index) => `  ${(commands[index] ?? "").padEnd(width)}   ${SWEEP_ACTIONS[action]}\n`,
    )
    .join("");
}

/** The jobs that `--retry-failed` runs again: `failed job`, `failed and timed_out jobs`. */
export const jobsToRetry = (statuses: readonly EndStatus[]): string =>
  `${[...new Set(statuses)].sort().join(" and ")} ${statuses.length === 1 ? "job" : "jobs"}`;

/** Commands to paste into a shell, in the directory where the program was started. */
export interface TypedCommand {
  /** `npx hydraconf`, `node app.ts`. */
  readonly program: string;
  /** The `hydraconf` command, which has `sweep status` and others for sweeps of any program. */
  readonly hydraconf: string;
}

/** The command that the user typed to start a program, without arguments; undefined if it cannot be determined. */
export function typedCommand({
  command = [],
  cwd,
  env,
  script = command[0],
}: Pick<Invocation, "command" | "cwd" | "env" | "script">): TypedCommand | undefined {
  const [execPath] = command;
  if (execPath === undefined || script === undefined) return undefined;
  const index = command.indexOf(script);
  const typed = commandAsTyped({
    script,
    cwd,
    env,
    execPath,
    options: command.slice(1, Math.max(1, index)),
  });
  const words = command.slice(index + 1).map((word) => ` ${shellQuote(word)}`);
  return { ...typed, program: `${typed.program}${words.join("")}` };
}

export interface StartedProcess extends Pick<Invocation, "cwd" | "env"> {
  /** The absolute path of the script or executable. */
  readonly script: string;
  readonly execPath: string;
  /** Node's own options. */
  readonly options: readonly string[];
}

/**
 * Reconstructs the command that the user typed. A package's script is started by a package runner, or by its name if it
 * is on `PATH`.
 */
export function commandAsTyped(started: StartedProcess): TypedCommand {
  const { cwd, env, execPath, options, script } = started;
  const name = basename(script);
  const inPackages = packageRunner(started);
  const isInPackages = script.includes("/node_modules/");
  const runner =
    runnerOf(started) ?? (isInPackages && OF_PACKAGE.test(name) ? inPackages : undefined);
  const isSource = /\.[cm]?[jt]s$/.test(name) && script !== execPath;
  // Loader options that tsx adds were not typed.
  const isTsx = options.some((option) => option.includes("/tsx/dist/"));
  const start = isTsx ? [...(inPackages ?? ["npx"]), "tsx"] : ["node", ...options];
  const program =
    runner !== undefined
      ? [...runner, name.replace(OF_PACKAGE, "$1")]
      : isSource
        ? [...start, pathFrom(cwd, script)]
        : isOnPath(script, env)
          ? [name]
          : script.includes("/node_modules/.bin/")
            ? [...(inPackages ?? ["npx"]), name]
            : [pathFrom(cwd, script)];
  const isOurs = /^hydraconf(\.[cm]?js)?$/.test(name);
  const shown = program.map(shellQuote).join(" ");
  // A project whose program runs with tsx also has hydraconf among its packages.
  const beside = [...(runner ?? (isTsx ? start.slice(0, -1) : [])), "hydraconf"].join(" ");
  return { program: shown, hydraconf: isOurs ? shown : beside };
}

/** `npx`, if it started this very program rather than a parent of it. */
function runnerOf({ env, script }: StartedProcess): readonly string[] | undefined {
  const asked = env["npm_lifecycle_script"]?.split(" ")[0]?.replaceAll(/^['"]|['"]$/g, "");
  if (env["npm_lifecycle_event"] !== "npx" || asked !== basename(script)) return undefined;
  return ["npx"];
}

/** The names of our commands in package managers that do not link them into `.bin`. */
const OF_PACKAGE = /^(hydraconf|deep-profile|validate-regions)\.js$/;

/** Runners of a project's packages, by the name in the package manager's user agent. */
const PACKAGE_RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["pnpm", ["pnpm", "exec"]],
  ["yarn", ["yarn"]],
  ["bun", ["bunx"]],
]);

/** Undefined if npm or no package manager started this process. */
function packageRunner({ env, script }: StartedProcess): readonly string[] | undefined {
  const [agent = ""] = (env["npm_config_user_agent"] ?? "").split("/");
  // A package fetched for a single call is not part of a project.
  if (agent === "pnpm" && /\/dlx[-/]/.test(script)) return ["pnpm", "dlx"];
  return PACKAGE_RUNNERS.get(agent);
}

/** Directories that only package scripts have on their `PATH` do not count. */
const isOnPath = (script: string, env: Invocation["env"]): boolean =>
  (env["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => !folder.includes("node_modules") && resolve(folder) === dirname(script));

/** As typed in a shell, which searches `PATH` for a name without a slash. */
function pathFrom(cwd: string, file: string): string {
  if (!isBelow(file, cwd)) return file;
  const path = relative(cwd, file);
  return path.includes("/") || /\.[cm]?[jt]s$/.test(path) ? path : `./${path}`;
}
