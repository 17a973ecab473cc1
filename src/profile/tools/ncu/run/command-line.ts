import type { Workload } from "../../../machine/process.ts";
import { ToolError } from "../../../machine/tool-error.ts";
import type { NcuCliConfig } from "../../config.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { configArguments } from "./cli-options.ts";
import type { Pass } from "./pass-plan.ts";

export interface PassFiles {
  /** Without `.ncu-rep`, which ncu adds. */
  readonly report: string;
  readonly log: string;
  /** For options that are too long for a command line. */
  readonly options: string;
}

export interface PassCommand {
  readonly argv: readonly string[];
  /** What `PassFiles.options` must hold before this runs; null: nothing. */
  readonly options: string | null;
}

/**
 * The command line of one pass. What differs between versions of ncu, or hangs on files that lie
 * around, is said explicitly: the same config gives the same measurement everywhere.
 *
 * @throws ToolError `profile.ncu` where its options are longer than a command line can be
 */
export function passCommand(
  pass: Pass,
  files: PassFiles,
  { config, ncu, workload }: { config: NcuCliConfig; ncu: NcuCapabilities; workload: Workload },
): PassCommand {
  const isGiven = (option: string) =>
    config.extra_args.some((given) => given === option || given.startsWith(`${option}=`));
  /** Of what ncu takes once, the user's own word counts. */
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

/** ncu replaces `%p`, `%h` and others in the path of a report, and there alone. */
const literalPath = (path: string): string => path.replaceAll("%", "%%");

// Options of ncu that are too long for a command line: Linux takes 128 KiB of one argument, and some 2 MB of all
// (execve(2)). ncu reads others from a file that it is given as `@FILE` (Nsight Compute CLI, "Response File").

/** What Linux takes of one argument (`MAX_ARG_STRLEN`), with the zero at its end. */
const LONGEST_ARGUMENT = 128 * 1024;
/** Half of what it takes of all of them: the program has arguments of its own, and an environment. */
const LONGEST_OPTIONS = 1 << 20;
/** Shorter ones are seen in `ps` and in `cmd.txt` as they are. */
const COMFORTABLE = LONGEST_ARGUMENT / 2;

export interface FittedOptions {
  readonly options: readonly string[];
  /** What the file has to hold; null where there is none. */
  readonly text: string | null;
}

/**
 * Moves long options into a file. It is split at white space, and knows neither quotes nor escapes (found out from ncu
 * 2024.1): a regular expression names white space by its codes, and other values with it stay on the command line.
 *
 * @param options each followed by its value, if it has one
 * @throws ToolError `profile.ncu` where what has to stay is too long
 */
export function fitOptions(options: readonly string[], file: string): FittedOptions {
  if (bytesOf(options) <= COMFORTABLE) return { options, text: null };
  const kept: string[] = [];
  const moved: string[] = [];
  for (let at = 0; at < options.length; at++) {
    const option = options[at] ?? "";
    const value = options[at + 1];
    const asWord = MOVABLE.has(option) && value !== undefined ? wordOf(value) : null;
    if (asWord === null) kept.push(option);
    else {
      moved.push(`${option} ${asWord}\n`);
      at++;
    }
  }
  refuseTooLong(kept);
  return moved.length === 0
    ? { options: kept, text: null }
    : { options: [...kept, `@${file}`], text: moved.join("") };
}

/** Those that grow with the program: all others stay in sight. */
const MOVABLE: ReadonlySet<string> = new Set([
  "--nvtx-include",
  "--nvtx-exclude",
  "--kernel-name",
  "--metrics",
]);

/** Null for a value that a file cannot hold as one word. */
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
