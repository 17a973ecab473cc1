/** The command line of ncu for a pass. */
import type { Workload } from "../../../machine/process.ts";
import { ToolError } from "../../../machine/tool-error.ts";
import type { NcuCliConfig } from "../../profiler-config.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { configArguments } from "./cli-options.ts";
import type { Pass } from "./pass-plan.ts";

export interface PassFiles {
  /** Without `.ncu-rep`, which ncu appends. */
  readonly report: string;
  readonly log: string;
  /** The file for options that are too long for a command line. */
  readonly options: string;
}

export interface PassCommand {
  readonly argv: readonly string[];
  /** The required content of `PassFiles.options` before this runs; null: no file. */
  readonly options: string | null;
}

/**
 * The command line of one pass. Options whose defaults differ between versions of ncu, or depend on stray files, are
 * set explicitly: the same config gives the same measurement everywhere.
 *
 * @throws ToolError `profile.ncu` if its options are longer than a command line can be
 */
export function passCommand(
  pass: Pass,
  files: PassFiles,
  { config, ncu, workload }: { config: NcuCliConfig; ncu: NcuCapabilities; workload: Workload },
): PassCommand {
  const isGiven = (option: string) =>
    config.extra_args.some((extra) => extra === option || extra.startsWith(`${option}=`));
  /** If ncu accepts an option only once, the user's setting takes precedence. */
  const pinned = (option: string, value: string) =>
    ncu.options.has(option) && !isGiven(option) ? [option, value] : [];
  const { options, text } = fitOptions(
    [
      ...pinned("--config-file", "off"),
      ...pinned("--rename-kernels", "off"),
      ...configArguments({ ...config, replay_mode: pass.mode }),
      // Without it ncu records no ranges, and nothing could be attributed.
      "--nvtx",
      ...pass.include.flatMap((expression) => ["--nvtx-include", expression]),
      ...pass.exclude.flatMap((expression) => ["--nvtx-exclude", expression]),
      "--export",
      literalPath(files.report),
      ...(config.force_overwrite ? ["--force-overwrite"] : []),
      "--log-file",
      files.log,
    ],
    files.options,
  );
  return { argv: [ncu.path, ...options, ...workload.argv], options: text };
}

/** ncu expands `%p`, `%h` and others only in the path of a report. */
const literalPath = (path: string): string => path.replaceAll("%", "%%");

// Options of ncu that are too long for a command line: Linux allows 128 KiB for one argument, and some 2 MB for all
// (execve(2)). ncu reads further options from a file given as `@FILE` (Nsight Compute CLI, "Response File").

/** Linux's limit for one argument (`MAX_ARG_STRLEN`), including the terminating zero. */
const LONGEST_ARGUMENT = 128 * 1024;
/** Half of Linux's limit for all arguments: the program has its own arguments, and an environment. */
const LONGEST_OPTIONS = 1 << 20;
/** Shorter options stay visible in `ps` and in `cmd.txt`. */
const COMFORTABLE = LONGEST_ARGUMENT / 2;

export interface FittedOptions {
  readonly options: readonly string[];
  /** The required content of the file; null without a file. */
  readonly text: string | null;
}

/**
 * Moves long options to a file. ncu splits the file at white space, without quotes or escapes (tested with ncu 2024.1):
 * so a regular expression encodes white space by its codes, and other values with white space stay on the command line.
 *
 * @param options each followed by its value, if it has one
 * @throws ToolError `profile.ncu` if the remaining options are too long
 */
export function fitOptions(options: readonly string[], file: string): FittedOptions {
  if (bytesOf(options) <= COMFORTABLE) return { options, text: null };
  const kept: string[] = [];
  const moved: string[] = [];
  for (let index = 0; index < options.length; index++) {
    const option = options[index] ?? "";
    const value = options[index + 1];
    const asWord = MOVABLE.has(option) && value !== undefined ? wordOf(value) : null;
    if (asWord === null) kept.push(option);
    else {
      moved.push(`${option} ${asWord}\n`);
      index++;
    }
  }
  refuseTooLong(kept);
  return moved.length === 0
    ? { options: kept, text: null }
    : { options: [...kept, `@${file}`], text: moved.join("") };
}

/** Options that grow with the program; all others stay visible. */
const MOVABLE: ReadonlySet<string> = new Set([
  "--nvtx-include",
  "--nvtx-exclude",
  "--kernel-name",
  "--metrics",
]);

/** Null for a value that cannot be a single word of the file. */
function wordOf(value: string): string | null {
  if (value.startsWith("regex:"))
    return value.replaceAll(ESCAPED_OR_SPACE, (text) => {
      const character = text.at(-1) ?? "";
      return SPACE.test(character) ? codeOf(character) : text;
    });
  return value === "" || SPACE.test(value) ? null : value;
}

const SPACE = /[ \t\n\r\v\f]/;
const ESCAPED_OR_SPACE = /\\.|[ \t\n\r\v\f]/gs;

const codeOf = (character: string): string =>
  `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);

function refuseTooLong(options: readonly string[]): void {
  const bytes = bytesOf(options);
  if (bytes <= LONGEST_OPTIONS && options.every((text) => bytesOf([text]) <= LONGEST_ARGUMENT))
    return;
  throw new ToolError({
    tool: "ncu",
    code: "profile.ncu",
    message: `ncu's options are ${Math.ceil(bytes / 1024)} KiB long, more than a command line can hold`,
    hint: "name regions with globs (pipeline.ncu.ncu_cli.nvtx.include='step*'), unify labels that differ by a number (labels=pytorch or your own rules), or let ncu measure everything and select in the report: pipeline.ncu.native_nvtx=false",
  });
}
