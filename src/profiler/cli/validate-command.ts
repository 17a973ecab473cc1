/** The `validate-regions` command without its process: takes arguments, writes lines, and returns the exit code. */

import picocolors from "picocolors";
import {
  type CommandLine,
  commandHelp,
  usage,
  usageText,
} from "../../app/command-line/command-line.ts";
import type { ParsedCommand } from "../../app/command-line/parse.ts";
import {
  checkOptions,
  fn,
  type OptionChecks,
  trueOrFalse,
} from "../../engine/values/check-options.ts";
import { isConfigError } from "../../engine/values/errors.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { errorJson } from "../../engine/values/render-error.ts";
import { fileProblem } from "../../foundation/system/files.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { readDocument } from "../../report/validation/check-text.ts";
import { createDocumentValidator } from "../../report/validation/document-contracts.ts";
import { textOfBytes, textOfFile } from "../../report/validation/json-text.ts";
import type { ReportIssue } from "../../report/validation/report-rules.ts";
import type { ReportValidator } from "../../report/validation/validate.ts";

/** The streams of the command. */
export interface CommandIo {
  /** The bytes of standard input; called once, and only if `-` is among the files. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  /** Writes text unchanged, including line breaks. */
  readonly stdout: (text: string) => void;
  /** Writes text unchanged, including line breaks. */
  readonly stderr: (text: string) => void;
  readonly color: boolean;
}

const COMMAND_IO: OptionChecks<CommandIo> = {
  stdin: fn,
  stdout: fn,
  stderr: fn,
  color: trueOrFalse,
};

const EXIT_VALID = 0;
const EXIT_INVALID = 1;
/** Wrong usage, or a file that cannot be read. */
const EXIT_TROUBLE = 2;

const COMMAND: CommandLine = {
  name: "validate-regions",
  takes: { shown: "FILE...", expected: "files", least: 1 },
  about: `Checks reports against the contract that they name: region reports
(report.json), reports of sweeps (sweep-report.json) and comparisons
(deep-profile compare --json). The contracts are in schemas/.

FILE may be - for standard input, e.g.
  deep-profile compare A B --json | validate-regions -

Prints per file "valid", or every error with its JSON pointer and line.`,
  options: {
    json: { help: "print the result as JSON" },
    version: { alone: true, help: "print the version" },
  },
  epilogue: `Exit code: 0 all files are valid, 1 some file is invalid, 2 wrong usage or
a file that cannot be read.`,
};

interface FileResult {
  readonly file: string;
  readonly valid: boolean;
  /** Why the file could not be read; null if it could. */
  readonly unreadable: string | null;
  readonly errors: readonly ReportIssue[];
}

/**
 * The command `validate-regions`.
 *
 * @returns 0: all valid; 1: one is not; 2: wrong usage, or a file cannot be read
 */
export async function runValidateCommand(args: readonly string[], io: CommandIo): Promise<number> {
  checkOptions("runValidateCommand", io, COMMAND_IO);
  try {
    return await run(args, io);
  } catch (error) {
    if (!isConfigError(error) || error.code !== "app.usage") throw error;
    if (asksForJson(args)) io.stdout(errorJson(error));
    io.stderr(usageText(COMMAND.name, error));
    return EXIT_TROUBLE;
  }
}

/** Also of a line that cannot be parsed. */
function asksForJson(args: readonly string[]): boolean {
  const dashes = args.indexOf("--");
  return (dashes < 0 ? args : args.slice(0, dashes)).includes("--json");
}

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  // Imported here, so that importing the library does not load yargs.
  const { parseCommandLine } = await import("../../app/command-line/parse.ts");
  const command = parseCommandLine(COMMAND, args);
  if (command.has("help")) {
    io.stdout(commandHelp(COMMAND));
    return EXIT_VALID;
  }
  if (command.has("version")) {
    io.stdout(`validate-regions ${packageInfo().version}\n`);
    return EXIT_VALID;
  }
  const files = filesOf(command);
  const validator = createDocumentValidator();
  const results: FileResult[] = [];
  for (const { file, path } of files) {
    const result = { file, ...(await check(path, validator, io)) };
    results.push(result);
    if (!command.has("json")) printResult(result, io);
  }
  if (command.has("json"))
    io.stdout(`${JSON.stringify({ version: 1, files: results }, null, 2)}\n`);
  if (results.some(({ unreadable }) => unreadable !== null)) return EXIT_TROUBLE;
  return results.every(({ valid }) => valid) ? EXIT_VALID : EXIT_INVALID;
}

interface NamedFile {
  /** The name in messages. */
  readonly file: string;
  /** Null for standard input. */
  readonly path: string | null;
}

/** The name of standard input in messages. */
const STANDARD_INPUT = "(standard input)";

/** After `--`, `-` is the name of a file. */
function filesOf({ positionals, verbatim }: ParsedCommand): readonly NamedFile[] {
  const names = positionals.slice(0, positionals.length - verbatim.length);
  if (names.filter((name) => name === "-").length > 1)
    throw usage("standard input (-) can be read only once");
  return [
    ...names.map((name) =>
      name === "-" ? { file: STANDARD_INPUT, path: null } : { file: name, path: name },
    ),
    ...verbatim.map((name) => ({ file: name, path: name })),
  ];
}

async function check(
  path: string | null,
  validator: ReportValidator,
  io: CommandIo,
): Promise<Omit<FileResult, "file">> {
  try {
    const text = path === null ? textOfBytes(await all(io.stdin())) : textOfFile(path);
    const { issues } = readDocument(text, validator);
    return { valid: issues.length === 0, unreadable: null, errors: issues };
  } catch (error) {
    return { valid: false, unreadable: fileProblem(error), errors: [] };
  }
}

async function all(chunks: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const list: Uint8Array[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

function printResult({ file, valid, unreadable, errors }: FileResult, io: CommandIo): void {
  const colors = picocolors.createColors(io.color);
  if (unreadable !== null) {
    io.stderr(`${printable(file)}: ${colors.red("cannot be read")}: ${unreadable}\n`);
    return;
  }
  if (valid) {
    io.stdout(`${printable(file)}: ${colors.green("valid")}\n`);
    return;
  }
  const count = plural(errors.length, "error");
  io.stdout(`${printable(file)}: ${colors.red("invalid")} (${count})\n`);
  for (const { pointer, message, expected, line, column } of errors) {
    const place = line === undefined ? "" : `:${line}:${column}`;
    io.stdout(
      `  ${printable(file)}${place}: ${colors.bold(printable(pointer) || "(document)")}: ${printable(message)}; expected ${printable(expected)}\n`,
    );
  }
}
