import type { CommandLine } from "../../command-line/command-line.ts";
import { FORMATS } from "../import/formats.ts";
import { LABEL_OPTIONS } from "./label-options.ts";
import { stoppable } from "./stoppable.ts";
import { subcommand } from "./subcommand.ts";

export const READERS = ["auto", "ncu", "own"] as const;
export const LOCALES = ["C", "en", "de"] as const;
export const NVTX_SCOPES = ["thread", "process"] as const;
export const NAME_BASES = ["function", "demangled", "mangled"] as const;

export const COMMAND: CommandLine = {
  name: "deep-profile import",
  takes: { shown: "FILE|RUN...", expected: "files or runs", least: 1 },
  about: `Makes region reports from files that a profiler wrote, on any machine. Files are recognised by
their content:

${Object.values(FORMATS)
  .map((format) => `  ${format}`)
  .join("\n")}`,
  options: {
    output: {
      short: "o",
      value: "DIR",
      help: "where the reports go; a new or empty directory\n(default: tmp/profile-output/<date>-<time>)",
    },
    include: { value: "GLOB", repeatable: true, help: "show regions with this label" },
    exclude: { value: "GLOB", repeatable: true, help: "leave out regions with this label" },
    ...LABEL_OPTIONS,
    kernel: {
      value: "PATTERN",
      repeatable: true,
      help: "count kernels with this name: exact, GLOB or regex:EXPR",
    },
    "kernel-exclude": {
      value: "PATTERN",
      repeatable: true,
      help: "leave out kernels with this name, even chosen ones",
    },
    "kernel-name-base": {
      value: "BASE",
      choices: NAME_BASES,
      help: "which name the patterns match (default: demangled)",
    },
    "top-kernels": {
      value: "N",
      help: "count the N kernels that take longest in a recording\nor nsys export given as well",
    },
    reader: {
      value: "READER",
      choices: READERS,
      help: "how to read .ncu-rep files: with ncu, with our own reader,\nor with ncu if it is installed (default: auto)",
    },
    locale: {
      value: "LOCALE",
      choices: LOCALES,
      help: "how a CSV writes numbers: 1234.5; 1,234.5; 1.234,5\n(default: what the file shows)",
    },
    "nvtx-scope": {
      value: "SCOPE",
      choices: NVTX_SCOPES,
      help: "whose push/pop ranges a kernel belongs to: those of its\nthread, or of another one if its own has none (default:\nthread; process needs .ncu-rep files)",
    },
    "no-aggregate": { help: "only reports per process and per device" },
    "no-html": { help: "no HTML pages beside the other reports" },
  },
  epilogue: `Files of ncu given together are one measurement. A recording or nsys export given with
them adds calls and wall times, and the order of ranges of several domains.
The directory of a run means the files that its collectors left in it; \`deep-profile report DIR\`
rebuilds its own reports, with its config.

Exit code: 0 the reports are written, 1 a file cannot be imported, 2 wrong usage.`,
};

/** `deep-profile import`. */
export const runImport = subcommand(COMMAND, async (command, io) => {
  const { importNamed } = await import("./import-named.ts");
  return stoppable(io, (withTool) => importNamed(command, io, withTool));
});
