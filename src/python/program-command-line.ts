/** The program of `hydraconf run ... -- PROG ARG...`, and how a job's config is passed to it. */
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import type { Flag } from "../app/job/options.ts";
import type { ParsedArguments } from "../app/job/session.ts";
import type { Settings } from "../app/plugins/load-settings.ts";
import { ConfigError } from "../engine/values/errors.ts";
import { shellCommand } from "../foundation/text/shell-words.ts";
import { type App, type AppPlace, declaredApps } from "./apps.ts";

/** How a job's config is passed to a program. */
export type Pass = "hydra" | "file" | "args" | "env";

/** A program, and how its jobs receive their config. */
export interface Program {
  readonly argv: readonly string[];
  readonly pass: Pass;
  /** The reason for this way of passing, for `--dry-run`. */
  readonly reason: string;
  /** The app whose configs it composes itself, if that can be read. */
  readonly app: App | undefined;
  /** `hydra`: the flags for the program's own search path. */
  readonly ownFlags: readonly string[];
  /** `args`: the keys that become flags; `all`, or none. */
  readonly flagKeys: "all" | readonly string[];
  readonly envPrefix: string;
  readonly format: "yaml" | "json";
  /** Whether the last line of standard output is the result. */
  readonly resultOnStdout: boolean;
}

/** Makes flags before `--` set keys, as `plainFlags` of `hydraMain` does. */
export const PLAIN_FLAGS: Flag = {
  id: "plain-flags",
  names: ["--plain-flags"],
  takes: "nothing",
  help: "--db.port 1 sets a value as db.port=1 does, --db pg chooses an option; all other flags are then written in full",
};

/** The flags of `hydraconf run` in addition to those of every program. */
export const RUN_FLAGS: readonly Flag[] = [
  PLAIN_FLAGS,
  {
    id: "pass",
    names: ["--pass"],
    takes: "value",
    choices: ["hydra", "file", "args", "env"],
    help: "How the config reaches PROG: Hydra's overrides, a file, PROG's arguments, or environment variables",
  },
  {
    id: "program-flags",
    names: ["--flags"],
    takes: "optional-value",
    gluedOnly: true,
    valueIfBare: "all",
    help: "Pass the config as --key value: all of it, or --flags=KEY,KEY",
  },
  {
    id: "env-prefix",
    names: ["--env-prefix"],
    takes: "value",
    help: "With --pass env: what the names of the variables begin with (CFG_)",
  },
  {
    id: "config-format",
    names: ["--config-format"],
    takes: "value",
    choices: ["yaml", "json"],
    help: "With --pass file: the format of the file (yaml)",
  },
  {
    id: "result",
    names: ["--result"],
    takes: "value",
    choices: ["file", "stdout"],
    help: "Where a job's result is: the file $HYDRACONF_RESULT, or else the last line of standard output, as JSON",
  },
  {
    id: "app",
    names: ["--app"],
    takes: "value",
    completes: "file",
    help: "The program whose configs are composed, where PROG does not say it",
  },
];

/** A Python or JavaScript source in a command line; the following words are its own arguments. */
interface Script {
  readonly file: string;
  /** The index of the word after it. */
  readonly end: number;
}

/**
 * Reads the command line of a program.
 *
 * @throws ConfigError `app.usage` if it is empty, or flags contradict each other
 */
export function readProgram(
  argv: readonly string[],
  { flags }: Pick<ParsedArguments, "flags">,
  place: AppPlace,
  settings: Settings,
): { readonly program: Program; readonly tail: readonly string[] } {
  if (argv.length === 0)
    throw usage("no program follows '--'", "hydraconf run [overrides] [-m] -- PROG ARG...");
  const script = scriptIn(argv, place.cwd);
  const apps = script === undefined ? [] : declaredApps(script.file, place, settings);
  const app = apps.find(({ kind }) => kind !== "compose") ?? apps[0];
  const wished = flags.get("pass") as Pass | undefined;
  const keys = flags.get("program-flags");
  const { pass, reason } = choosePass(argv, wished, { flags, app });
  refuseIdle(pass, flags);
  const takesOverrides = pass === "hydra" && script !== undefined && app?.kind !== "compose";
  const head = takesOverrides ? argv.slice(0, script.end) : argv;
  return {
    program: {
      argv: head,
      pass,
      reason,
      app,
      ownFlags: [],
      flagKeys: typeof keys !== "string" ? [] : keys === "all" ? "all" : keys.split(","),
      envPrefix: String(flags.get("env-prefix") ?? "CFG_"),
      format: (flags.get("config-format") ?? "yaml") as Program["format"],
      resultOnStdout: flags.get("result") === "stdout",
    },
    tail: takesOverrides ? argv.slice(script.end) : [],
  };
}

function choosePass(
  argv: readonly string[],
  wished: Pass | undefined,
  { app, flags }: { readonly app: App | undefined; readonly flags: ParsedArguments["flags"] },
): Pick<Program, "pass" | "reason"> {
  if (wished !== undefined) return { pass: wished, reason: "--pass" };
  if (flags.has("program-flags")) return { pass: "args", reason: "--flags" };
  if (flags.has("env-prefix")) return { pass: "env", reason: "--env-prefix" };
  if (app?.kind === "main")
    return { pass: "hydra", reason: `@hydra.main in ${basename(app.file)}:${app.line}` };
  if (app?.kind === "script")
    return { pass: "hydra", reason: `hydraMain in ${basename(app.file)}:${app.line}` };
  if (argv.some((word) => word.includes(CONFIG_FILE)))
    return { pass: "file", reason: `${CONFIG_FILE} in its arguments` };
  if (argv.some((word) => /(?<!\\)\$\{/.test(word)))
    return { pass: "args", reason: "${...} in its arguments" };
  return { pass: "file", reason: "nothing else was said" };
}

/** The placeholder for the path of the config in a program's arguments. */
export const CONFIG_FILE = "{config}";

/** @throws ConfigError `app.usage` for a flag without effect in this way of passing */
function refuseIdle(pass: Pass, flags: ParsedArguments["flags"]): void {
  const idle = [
    { id: "program-flags", name: "--flags", mode: "args" },
    { id: "env-prefix", name: "--env-prefix", mode: "env" },
    { id: "config-format", name: "--config-format", mode: "file" },
  ].find(({ id, mode }) => flags.has(id) && mode !== pass);
  if (idle !== undefined)
    throw usage(
      `argument ${idle.name}: not allowed with --pass ${pass}`,
      `it belongs to --pass ${idle.mode}`,
    );
}

/**
 * The script of a command line: `train.py` in `python train.py`, `uv run train.py` and
 * `torchrun --nproc-per-node 2 train.py`, a module's file (`python -m pkg.train`), or a program that is itself a script
 * (`./train.py`, or a file with a shebang of Python).
 */
export function scriptIn(argv: readonly string[], cwd: string): Script | undefined {
  for (const [index, word] of argv.entries()) {
    if (/\.(py|[mc]?[jt]s)$/.test(word) && isFile(resolve(cwd, word)))
      return { file: resolve(cwd, word), end: index + 1 };
    if (word === "-m" && index > 0) {
      const file = moduleFile(argv[index + 1] ?? "", cwd);
      if (file !== undefined) return { file, end: index + 2 };
    }
  }
  const [first = ""] = argv;
  const file = resolve(cwd, first);
  return first.includes("/") && extname(first) === "" && namesPython(file)
    ? { file, end: 1 }
    : undefined;
}

/**
 * A script that an interpreter or a launcher is to run and that does not exist. Undefined where the command line does not
 * tell for certain which word is the script.
 *
 * @param outputDir where the job may run; without it, a path above the working directory may yet be found from there
 */
export function absentScript(
  argv: readonly string[],
  cwd: string,
  outputDir?: string,
): string | undefined {
  const word = argv[scriptPosition(argv) ?? -1];
  if (word === undefined || !/^[^${}]+\.(py|[mc]?[jt]s|sh)$/.test(word)) return undefined;
  if (existsSync(resolve(cwd, word))) return undefined;
  if (!word.startsWith("../")) return word;
  return outputDir === undefined || existsSync(resolve(outputDir, word)) ? undefined : word;
}

/** The index of the word that names the script: the first that is no option, nor the value of one. */
function scriptPosition(argv: readonly string[]): number | undefined {
  const name = basename(argv[0] ?? "");
  if (/^(torchrun|deepspeed)$/.test(name) || (name === "accelerate" && argv[1] === "launch")) {
    const index = argv.findIndex((word) => /\.py$/.test(word));
    const preceding = argv.slice(1, index);
    return !preceding.at(-1)?.startsWith("-") && !preceding.includes("-m") ? index : undefined;
  }
  const [skipped, options] =
    (name === "uv" || name === "poetry") && argv[1] === "run"
      ? [2, NO_OPTIONS]
      : [1, interpreterOptions(name)];
  if (options === undefined) return undefined;
  let index = skipped;
  for (; argv[index]?.startsWith("-") === true; index++) {
    const word = argv[index] ?? "";
    if (options.valued.includes(word)) index++;
    else if (!options.bare.test(word)) return undefined;
  }
  return index;
}

/** Options that may stand before a script; any other may name the program itself, such as `-c` and `-m`. */
interface InterpreterOptions {
  readonly bare: RegExp;
  readonly valued: readonly string[];
}

const NO_OPTIONS: InterpreterOptions = { bare: /$^/, valued: [] };

function interpreterOptions(name: string): InterpreterOptions | undefined {
  if (/^python(\d(\.\d+)?)?$/.test(name))
    return { bare: /^-[bBdEiIOPqsSuvx]+$/, valued: ["-W", "-X"] };
  if (name === "node") return { bare: /^--[\w-]+=/, valued: ["--import", "--require", "-r"] };
  if (/^(ba|da|z)?sh$/.test(name)) return { bare: /^-[euxv]+$/, valued: [] };
  return name === "tsx" || name === "bun" ? NO_OPTIONS : undefined;
}

/**
 * How many words of a command line are those of Python and its options, if a source or `-m MODULE` is all that follows; undefined
 * if another program starts Python, or an option changes how the source is read.
 */
export function interpreterWords(argv: readonly string[]): number | undefined {
  const name = basename(argv[0] ?? "");
  const options = name.startsWith("python") ? interpreterOptions(name) : undefined;
  if (options === undefined) return undefined;
  let index = 1;
  for (; argv[index]?.startsWith("-") === true && argv[index] !== "-m"; index++) {
    const word = argv[index] ?? "";
    if (options.valued.includes(word)) index++;
    else if (!options.bare.test(word) || /[ix]/.test(word)) return undefined;
  }
  return argv.length - index === (argv[index] === "-m" ? 2 : 1) ? index : undefined;
}

function moduleFile(module: string, cwd: string): string | undefined {
  if (!/^[\p{L}_][\w.]*$/u.test(module)) return undefined;
  const path = join(...module.split("."));
  return [`${path}.py`, join(path, "__main__.py")]
    .flatMap((name) => [join(cwd, name), join(cwd, "src", name)])
    .find(isFile);
}

const isFile = (path: string): boolean =>
  existsSync(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** `#!/usr/bin/env python3` */
function namesPython(file: string): boolean {
  if (!isFile(file)) return false;
  const bytes = Buffer.alloc(128);
  try {
    const descriptor = openSync(file, "r");
    try {
      readSync(descriptor, bytes, 0, bytes.length, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
  return /^#!.*\bpython/.test(bytes.toString("latin1").split("\n", 1)[0] ?? "");
}

/** Flags that a Hydra program accepts after its name, as if they preceded `--`. */
const TAKEN = ["multirun", "config-path", "config-name", "config-dir", "run"];

/**
 * The command line with the program's own overrides moved before `--`.
 *
 * @throws ConfigError `app.usage` for flags of Hydra that do not run jobs
 */
export function withTail(line: ParsedArguments, tail: ParsedArguments): ParsedArguments {
  const other = [...tail.flags.keys()].find((id) => !TAKEN.includes(id));
  if (other !== undefined)
    throw usage(
      `the program's own --${other} does not run jobs`,
      `use the flag without the program: hydraconf --${other} ...`,
    );
  return {
    ...line,
    flags: new Map([...line.flags, ...tail.flags]),
    overrides: [...line.overrides, ...tail.overrides],
  };
}

const usage = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, hint });

/** A command as messages show it: `python train.py`. */
export const shownCommand = (argv: readonly string[]): string => shellCommand(argv);
