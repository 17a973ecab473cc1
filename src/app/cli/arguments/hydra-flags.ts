/** The flags of every program: Hydra's and ours, with their help. */
import { DIALECT_NAMES } from "../../../engine/values/dialect.ts";
import type { ConfigError } from "../../../engine/values/errors.ts";
import { visibleControls } from "../../../foundation/text/printable.ts";
import {
  type Flag,
  flagLabel,
  flagValueName,
  type ProgramOptions,
  type Tool,
} from "../../job/options.ts";

/** A flag of a version of Hydra with aliases. */
export const withAliases = (flag: Flag): Flag =>
  flag.id === "info" && flag.choices !== undefined
    ? { ...flag, choices: [...flag.choices.slice(0, 1), "aliases", ...flag.choices.slice(1)] }
    : flag;

/** Hydra's own flags, in the order of its usage text, with Hydra's meanings. */
export const HYDRA_FLAGS: readonly Flag[] = [
  {
    id: "help",
    names: ["--help", "-h"],
    takes: "nothing",
    help: "Show the application's help; with KEYs, explain them",
  },
  {
    id: "hydra-help",
    names: ["--hydra-help"],
    takes: "nothing",
    help: "Show the help of Hydra's flags",
  },
  {
    id: "version",
    names: ["--version"],
    takes: "nothing",
    final: true,
    help: "Show the version and the Hydra dialect, and exit",
  },
  {
    id: "cfg",
    names: ["--cfg", "-c"],
    takes: "value",
    choices: ["job", "hydra", "all"],
    help: "Show a configuration instead of running",
  },
  {
    id: "resolve",
    names: ["--resolve"],
    takes: "nothing",
    help: "With --cfg: resolve interpolations before printing",
  },
  {
    id: "package",
    names: ["--package", "-p"],
    takes: "value",
    completes: "key",
    help: "With --cfg: the part to show",
  },
  { id: "run", names: ["--run", "-r"], takes: "nothing", help: "Run one job (the default)" },
  {
    id: "multirun",
    names: ["--multirun", "-m"],
    takes: "nothing",
    help: "Run several jobs: a sweep",
  },
  {
    id: "shell-completion",
    names: ["--shell-completion", "-sc"],
    takes: "nothing",
    help: "Install or uninstall shell completion: install=SHELL, uninstall=SHELL, for bash, zsh or fish",
  },
  {
    id: "config-path",
    names: ["--config-path", "-cp"],
    takes: "value",
    completes: "directory",
    help: "Replace the application's configuration directory; relative to the application",
  },
  {
    id: "config-name",
    names: ["--config-name", "-cn"],
    takes: "value",
    completes: "config",
    help: "Replace the name of the primary config",
  },
  {
    id: "config-dir",
    names: ["--config-dir", "-cd"],
    takes: "value",
    completes: "directory",
    help: "Add a directory to the end of the config search path",
  },
  {
    id: "experimental-rerun",
    names: ["--experimental-rerun"],
    takes: "value",
    help: "Rerun a job from its output directory (Hydra 1.4)",
    refusal: "only Python can read a pickled config: rerun with the overrides in overrides.yaml",
  },
  {
    id: "info",
    names: ["--info", "-i"],
    takes: "optional-value",
    valueIfBare: "all",
    choices: ["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"],
    help: "Show how the configuration is composed",
  },
];

/** Our additional flags, which every program has. */
export const OWN_FLAGS: readonly Flag[] = [
  {
    id: "explain",
    names: ["--explain"],
    takes: "value",
    completes: "key",
    help: "Show which file or override set a key, and what it replaced",
  },
  {
    id: "origins",
    names: ["--origins"],
    takes: "nothing",
    help: "With --cfg: name the file or override behind every line, as a comment",
  },
  {
    id: "diff",
    names: ["--diff"],
    takes: "overrides",
    help: "Show what MORE overrides change; with two run directories, how their configs differ",
  },
  {
    id: "dry-run",
    names: ["--dry-run"],
    takes: "nothing",
    help: "Show the jobs that would run, their directories and configs; write nothing",
  },
  {
    id: "resume",
    names: ["--resume"],
    takes: "value",
    completes: "directory",
    help: "Continue a sweep: run the jobs that have not finished",
  },
  {
    id: "retry-failed",
    names: ["--retry-failed"],
    takes: "value",
    completes: "directory",
    help: "Run the failed jobs of a sweep again",
  },
  {
    id: "accept-changes",
    names: ["--accept-changes"],
    takes: "nothing",
    help: "With --resume or --retry-failed: also run jobs whose config has changed",
  },
  {
    id: "accept-damaged",
    names: ["--accept-damaged"],
    takes: "value",
    help: "With --resume or --retry-failed: run these jobs (3 or 3,5) again, whose record is damaged",
  },
  {
    id: "detach",
    names: ["--detach"],
    takes: "nothing",
    help: "With --multirun or --resume: start the sweep and exit; manage it with 'hydraconf sweep'",
  },
  {
    id: "schema",
    names: ["--schema"],
    takes: "nothing",
    help: "Show the JSON Schema that the configuration must fit",
  },
  {
    id: "json",
    names: ["--json"],
    takes: "nothing",
    help: "With --cfg, --explain, --diff, --info, --dry-run or --help KEY: print JSON",
  },
];

/** The flag of a program whose user chooses the version of Hydra to imitate. */
export const DIALECT_FLAG: Flag = {
  id: "version-base",
  names: ["--version-base"],
  takes: "value",
  choices: DIALECT_NAMES,
  help: "Behave as this version of Hydra, as version_base of @hydra.main",
};

const COLUMNS = 80;

/** The usage text of a program, wrapped and ordered as by argparse. Ends with a line break. */
export function usageText(
  program: string,
  flags: readonly Flag[],
  positionals = "[overrides ...]",
): string {
  const lead = `usage: ${program} `;
  const optional = wrap(flags.map(usagePart), COLUMNS - 2 - lead.length);
  const lines = [...optional, positionals];
  return `${lead}${lines.join(`\n${" ".repeat(lead.length)}`)}\n`;
}

/** One flag per line with its help, for `--help`. */
export function flagsHelp(flags: readonly Flag[]): string {
  const lines = flags
    .map((flag) => {
      const choices = flag.choices === undefined ? "" : ` [${flag.choices.join("|")}]`;
      const refused = flag.refusal === undefined ? "" : " (not in this version)";
      return `${flagLabel(flag).replace("/", ",")} : ${flag.help}${choices}${refused}`;
    })
    .join("\n");
  return `${lines}\nOverrides : Any key=value arguments to override config values (use dots for nested=overrides)`;
}

function usagePart(flag: Flag): string {
  const [name] = flag.names;
  switch (flag.takes) {
    case "nothing":
      return `[${name}]`;
    case "value":
      return `[${name} ${flagValueName(flag)}]`;
    case "optional-value":
      return `[${name} [${flagValueName(flag)}]]`;
    case "overrides":
      return `[${name} MORE [MORE ...]]`;
  }
}

/** Fills lines greedily; a part that is wider than the line gets a line of its own. */
function wrap(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + part.length <= width)
      lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(part);
  }
  return lines;
}

/**
 * The usage, then one line with the error, in argparse's words. A program with subcommands gets a short
 * usage, because its full list of flags would push the error off the screen.
 */
export function usageError(
  { message, details }: ConfigError,
  options: ProgramOptions,
  flags: readonly Flag[],
): string {
  const rest = options.restAsOverrides === undefined ? "" : " [-- ARG ...]";
  const usage =
    options.tool !== undefined
      ? `usage: ${options.name} [flags] ${argumentsUsage(options.tool)}    (more: ${options.name} --help)\n`
      : options.subcommands === undefined
        ? usageText(options.name, flags, `[overrides ...]${rest}`)
        : `usage: ${options.name} [flags] [overrides ...]${rest}    (more: ${options.name} --help)\n`;
  const near = details.nearest === undefined ? "" : ` (did you mean ${details.nearest}?)`;
  const hint = details.hint === undefined ? "" : `  ${details.hint}\n`;
  return visibleControls(`${usage}${options.name}: error: ${message}${near}\n${hint}`);
}

/** What a tool takes besides flags, for its usage text. */
export function argumentsUsage({ positionals = [] }: Tool): string {
  const words = positionals.map(({ isOptional, isRepeated, name }) => {
    const shown = `${name}${isRepeated === true ? "..." : ""}`;
    return isOptional === true ? `[${shown}]` : shown;
  });
  return [...words, "[key=value ...]"].join(" ");
}

/** The keys that `--help KEY...` describes: the words that cannot be overrides. */
export const keysOfHelp = ({
  overrides,
}: {
  readonly overrides: readonly string[];
}): readonly string[] =>
  overrides.filter((word) => word.trim() !== "" && !word.includes("=") && !/^[~+]/.test(word));
