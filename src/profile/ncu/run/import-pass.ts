/** From a report file to tables: `ncu --import`, with units and locale said explicitly. */
import { readFile, rename, rm, stat } from "node:fs/promises";
import { basename } from "node:path";
import { execa } from "execa";
import { ncuEnvironment } from "./ask.ts";
import type { NcuCapabilities } from "./capabilities.ts";

export interface Page {
  /** What it is called in messages. */
  readonly what: string;
  readonly args: readonly string[];
}

/** Every metric of every result; units said, since `--csv` alone does not give base units. */
export const RAW: Page = {
  what: "the metrics",
  args: ["--csv", "--page", "raw", "--print-units", "base"],
};

/** Linux takes 128 KiB in one argument; above that, all metrics are printed again. */
const MAX_ARGUMENT = 100_000;

/** The same in units of fitting size: base units round fractions to two decimals. */
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
  args: ["--page", "details"],
};

/**
 * Prints a page of a report into a file; a file that stands is complete.
 *
 * @returns null, or why there is none, in words
 */
export async function importPage(
  { path, options }: NcuCapabilities,
  report: string,
  { what, args }: Page,
  file: string,
  stop: AbortSignal,
): Promise<string | null> {
  const known = withoutUnknown(args, options);
  const partial = `${file}.part`;
  const result = await execa(path, ["--import", report, ...known], {
    env: ncuEnvironment(),
    stdin: "ignore",
    stdout: { file: partial },
    reject: false,
    cancelSignal: stop,
    buffer: { stdout: false },
  });
  const size = await sizeOf(partial);
  if (result.exitCode !== 0 || size === 0) {
    await rm(partial, { force: true });
    const said =
      String(result.stderr ?? "")
        .trim()
        .split("\n")
        .at(-1) ?? "";
    return `ncu could not print ${what} of ${report}${said === "" ? "" : `: ${said}`}`;
  }
  if (size < MESSAGE_BYTES && NO_RESULTS.test(await readFile(partial, "utf8"))) {
    await rm(partial, { force: true });
    return `${basename(report)} holds no results`;
  }
  await rename(partial, file);
  return null;
}

/** Said in place of the table, with exit code 0. */
const NO_RESULTS = /^==WARNING== No results are found/m;

/** A file that holds nothing but messages is smaller. */
const MESSAGE_BYTES = 4096;

/** Older versions lack some options of printing, with their values. */
function withoutUnknown(args: readonly string[], options: ReadonlySet<string>): readonly string[] {
  return args.filter((argument, index) => {
    const option = argument.startsWith("--") ? argument : args[index - 1];
    return option === undefined || options.has(option);
  });
}

/** 0 where there is no such file. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch {
    return 0;
  }
}
