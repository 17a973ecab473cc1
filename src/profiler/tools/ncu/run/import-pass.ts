/** Converts a report file to tables: `ncu --import`, with explicit units and locale. */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { appendFile, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileProblem, isSystemError } from "../../../../foundation/system/files.ts";
import { askTool, type ToolControl } from "../../../machine/run-tool.ts";
import { type NcuCapabilities, ncuEnvironment } from "./capabilities.ts";

export interface Page {
  /** Its name in messages. */
  readonly what: string;
  readonly args: readonly string[];
}

/** Every metric of every result; with explicit units, since `--csv` alone does not print base units. */
export const RAW: Page = {
  what: "the metrics",
  args: ["--csv", "--page", "raw", "--print-units", "base"],
};

/** Linux allows 128 KiB for one argument; beyond that, all metrics are printed again. */
const MAX_ARGUMENT = 100_000;

/** The metrics in automatically scaled units: base units round fractions to two decimals. */
export const rawInFittingUnits = (metrics: readonly string[]): Page => ({
  what: "the exact ratios",
  args: [
    ...["--csv", "--page", "raw", "--print-units", "auto", "--print-fp"],
    ...(metrics.join(",").length > MAX_ARGUMENT ? [] : ["--metrics", metrics.join(",")]),
  ],
});

export const DETAILS: Page = {
  what: "the sections",
  args: [
    ...["--csv", "--page", "details", "--print-units", "base"],
    ...["--print-metric-name", "name"],
  ],
};

export const SECTIONS_TEXT: Page = {
  what: "the text of the sections",
  args: ["--page", "details", "--print-units", "auto"],
};

/** The result of printing a page; `why` is a text for users. */
export type PrintedPage =
  | { readonly kind: "printed" }
  /** The report is valid but has no results. */
  | { readonly kind: "empty"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** Prints a page of a report to a file, which exists only if it is complete. */
export async function importPage(
  { path, options }: NcuCapabilities,
  report: string,
  { what, args }: Page,
  file: string,
  control: ToolControl,
): Promise<PrintedPage> {
  // A stray config.ncu-cfg may choose another page, or omit results from this one.
  const supported = withoutUnknown(["--config-file", "off", ...args], options);
  const partial = `${file}.part`;
  // Written by this process: on a full disk ncu truncates the file and exits with 0.
  const { exitCode, stderr, unwritten } = await askTool(
    {
      argv: [path, "--import", report, ...supported],
      env: { ...process.env, ...ncuEnvironment() },
      stdout: createWriteStream(partial),
    },
    { doing: `printing ${what} of ${basename(report)} with ncu`, output: partial },
    control,
  );
  const size = await sizeOf(partial);
  const message = size < MESSAGE_BYTES && size > 0 ? await readFile(partial, "utf8") : "";
  const isNothing = NO_RESULTS.test(message);
  if (exitCode === 0 && unwritten === undefined && size > 0 && !isNothing) {
    await rename(partial, file);
    return { kind: "printed" };
  }
  await rm(partial, { force: true });
  if (exitCode === 0 && isNothing)
    return { kind: "empty", why: `${basename(report)} holds no results` };
  const reason = unwritten?.syscall === undefined ? lastLine(stderr, message) : unwritten.message;
  return {
    kind: "failed",
    why: `ncu could not print ${what} of ${report}${reason === "" ? "" : `: ${reason}`}`,
  };
}

/** ncu prints most of its errors in place of the table. */
const lastLine = (...texts: readonly string[]): string =>
  texts.map((text) => text.trim().split("\n").at(-1) ?? "").find((line) => line !== "") ?? "";

/** Printed in place of the table, with exit code 0. */
const NO_RESULTS = /^==WARNING== No results are found/m;

/** A file that contains only messages is smaller. */
const MESSAGE_BYTES = 4096;

/** Removes options of printing, with their values, that an older version does not know. */
function withoutUnknown(args: readonly string[], options: ReadonlySet<string>): readonly string[] {
  return args.filter((argument, index) => {
    const option = argument.startsWith("--") ? argument : args[index - 1];
    return option === undefined || options.has(option);
  });
}

/** 0 if the file does not exist. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}

/**
 * Concatenates the tables of several passes, one file per page.
 *
 * @returns notes about files that could not be written (the tables of the passes exist all the same)
 */
export async function joinTables(
  directory: string,
  prefixes: readonly string[],
): Promise<readonly string[]> {
  const notes: string[] = [];
  for (const name of ["raw.csv", "details.csv", "sections.txt"]) {
    const parts = prefixes
      .map((prefix) => join(directory, `${prefix}${name}`))
      .filter((file) => existsSync(file));
    try {
      if (parts.length > 0) await joinFiles(parts, join(directory, name));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      notes.push(`${name} could not be written: ${fileProblem(error)}`);
    }
  }
  return notes;
}

async function joinFiles(parts: readonly string[], target: string): Promise<void> {
  const partial = `${target}.part`;
  for (const [index, part] of parts.entries()) {
    if (index > 0) await appendFile(partial, "\n");
    await pipeline(
      createReadStream(part),
      createWriteStream(partial, { flags: index > 0 ? "a" : "w" }),
    );
  }
  await rename(partial, target);
}
