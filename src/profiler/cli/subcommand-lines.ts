/** The command lines of the subcommands, whose implementations are loaded on demand. */

import { resolve } from "node:path";
import { type CommandLine, NO_POSITIONALS, usage } from "../../app/command-line/command-line.ts";
import { wrapText } from "../../foundation/text/text-width.ts";
import { COMPARED_NUMBERS } from "../../report/model/compared-numbers.ts";
import { IMPORT_TOOLS, REPORT_FOLDERS } from "../tools/tool-table.ts";
import { LABEL_OPTIONS } from "./label-options.ts";
import type { OpenRun } from "./measured-side.ts";
import { NAME_BASES, NVTX_SCOPES, READERS, SORTS } from "./option-values.ts";
import { NO_REPORTS, type Subcommand, stoppable, subcommand } from "./subcommand.ts";

const CALIBRATION_OPTION = {
  calibration: {
    value: "FILE",
    help: "what deep-profile calibrate wrote (default: the one of this machine\nand program in the user's cache, if there is one)",
  },
} as const;

/** The numbers of conditions, by what has them. */
function comparedNumbers(): string {
  const { totals, regions, kernels } = COMPARED_NUMBERS;
  const text = `Numbers of the whole: ${totals.join(", ")}; of regions: ${regions.join(", ")}, and metrics by their names; of kernels: ${kernels.join(", ")}.`;
  return wrapText(text, HELP_WIDTH).join("\n");
}

const HELP_WIDTH = 96;

export const COMPARE: CommandLine = {
  name: "deep-profile compare",
  takes: { shown: "A B", expected: "two runs or reports", least: 2, most: 2 },
  about: `Compares two runs, A before and B after a change. Each is a run directory, the folder of a collector
in it, or a report.json. Regions are matched by their paths, kernels by their names. Counts are exact.
Differences of times are certain only between repeated runs (repeats=5 of both), beyond their spread;
those of single runs are called unclear. deep-profile ab runs both programs in turns.`,
  options: {
    "fail-on": {
      value: "CONDITIONS",
      repeatable: true,
      help: `exit with 3 if a condition holds, e.g. 'total_ms>5%' (all kernels together),
'region:stem.kernel_count>0', 'kernel:*gemm*.total_ms>=0.1'; separated by commas. auto:
a region takes longer by more than the noise that deep-profile calibrate found`,
    },
    ...CALIBRATION_OPTION,
    strict: {
      help: `also fail limits that are exceeded only within the noise or in single runs, and those
that a selection leaves unchecked`,
    },
    "allow-failed": {
      help: `also check conditions against a run that failed, which is otherwise an error, since
what a run did not reach looks faster`,
    },
    collector: { value: "NAME", choices: REPORT_FOLDERS, help: "if the runs have several" },
    scope: { value: "SCOPE", help: "e.g. process:4711 or device:cuda:0\n(default: the aggregate)" },
    regions: {
      value: "N",
      help: "regions to list; of more, those that changed\n(default: 60)",
    },
    kernels: { value: "N", help: "kernels to list (default: 10)" },
    json: { help: "print everything as JSON" },
    markdown: { help: "print Markdown, for a pull request" },
    html: { value: "FILE", help: "also write an HTML page" },
  },
  epilogue: `${comparedNumbers()}

Exit code: 0 no condition holds, 1 something cannot be read, 2 wrong usage, 3 a condition holds.`,
};

/** `deep-profile compare`. */
export const runCompare = subcommand(COMPARE, async (command, io) =>
  (await import("./compare-runs.ts")).compareRuns(command, io),
);

export const AB: CommandLine = {
  name: "deep-profile ab",
  takes: {
    shown: "[OVERRIDE...] -- A... -- B...",
    expected: "two programs, each behind '--'",
    least: 2,
  },
  about: `Profiles A and B in turns (A B B A ...) and compares them: what disturbs the machine meanwhile disturbs
both. Each side is a program with its arguments, overrides (KEY=VALUE), or overrides and a program; those in front of the first
'--' are for both. B may contain further '--'.`,
  options: {
    pairs: {
      value: "N",
      help: "how many runs of each are measured, after one of each that is not\n(default: 10; with --until at most 100)",
    },
    until: {
      value: "WHEN",
      choices: ["decided"],
      help: `stop when every gate is known to be breached or not; without gates, when it is known
whether the processor time (or else the wall time) of all regions differs`,
    },
    "max-minutes": { value: "M", help: "begin no further pair after so many minutes" },
    gate: {
      value: "CONDITIONS",
      repeatable: true,
      help: "exit with 3 if a condition holds, e.g. 'cpu_ms>5%', or auto; see\ndeep-profile compare --fail-on",
    },
    ...CALIBRATION_OPTION,
    strict: { help: "also fail limits that are exceeded and not decided" },
    output: {
      short: "o",
      value: "DIR",
      help: "gets a/, b/ and comparison.{md,html,json}\n(default: tmp/profile-output/<date>-<time>)",
    },
  },
  epilogue: `A conclusion is wrong in at most 5 % of the cases, also where it is looked for after each pair.

Exit code: 0 no gate is breached, 1 a run failed, 2 wrong usage, 3 a gate is breached.`,
};

/** `deep-profile ab`. */
export const runAb = (open: OpenRun) =>
  subcommand(AB, async (command, io) => (await import("./ab.ts")).abRuns(command, io, open));

export const CALIBRATE: CommandLine = {
  name: "deep-profile calibrate",
  takes: { shown: "[OVERRIDE...] [-- PROG ARG...]", expected: "overrides and a program", least: 0 },
  about: `Runs a program against itself on this machine, in sessions of several runs, and finds which differences
are noise: for each region, the smallest effect that so many runs can tell, and what the noise comes
from. compare and ab read the result: they call nothing smaller, and --fail-on auto fails what is larger.`,
  options: {
    sessions: {
      value: "N",
      help: "how often the runs are repeated, as a stored baseline and a later\nrun are two sessions (default: 6, at least 3)",
    },
    runs: { value: "N", help: "runs in each, after one that is not measured (default: 5)" },
    pause: {
      value: "SECONDS",
      help: "between sessions: noise that changes slowly is only seen by\nsessions far apart (default: 0)",
    },
    output: {
      short: "o",
      value: "FILE",
      help: "where the calibration goes, for --calibration FILE (default: in the\nuser's cache, where compare and ab look for it)",
    },
  },
  epilogue: `A calibration is of one machine and one program; another one of it replaces it. It is kept in
$XDG_CACHE_HOME/hydraconf/calibrations (default: ~/.cache).

Exit code: 0 calibrated, 1 a run failed, 2 wrong usage.`,
};

/** `deep-profile calibrate`. */
export const runCalibrate = (open: OpenRun) =>
  subcommand(CALIBRATE, async (command, io) =>
    (await import("./calibrate.ts")).calibrate(command, io, open),
  );

const SORT_OPTION = {
  sort: {
    value: "BY",
    choices: SORTS,
    help: "order of the regions shown here: their own time, with inner\nregions, kernel time, counts, or as a tree\n(default: exclusive)",
  },
} as const;

export const IMPORT: CommandLine = {
  name: "deep-profile import",
  takes: { shown: "FILE|DIR|RUN...", expected: "files, directories or runs", least: 1 },
  about: `Makes region reports from files that a profiler wrote, on any machine. Files are recognised by
their content:

${IMPORT_TOOLS.toReversed()
  .flatMap(({ import: { formats } }) => formats.map(({ format }) => `  ${format}`))
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
      help: "how a CSV writes numbers: C (1234.5), or as in a locale by\nits name: en (1,234.5), de (1.234,5), fr, de-CH, ...\n(default: what the file shows, else C)",
    },
    "nvtx-scope": {
      value: "SCOPE",
      choices: NVTX_SCOPES,
      help: "whose push/pop ranges a kernel belongs to: those of its\nthread, or of another one if its own has none (default:\nthread; process needs .ncu-rep files)",
    },
    ...SORT_OPTION,
    ranks: {
      help: "exports of nsys are of the ranks of one run, in the order\ngiven (names with rank0, rank1, ... need no flag)",
    },
    "no-aggregate": { help: "only reports per process and per device" },
    trace: { help: "also write trace.json (Perfetto) and trace.speedscope.json" },
    "no-html": { help: "no HTML pages beside the other reports" },
  },
  epilogue: `Files of ncu given together are one measurement. A recording or nsys export given with
them adds calls and wall times, and the order of ranges of several domains.
A directory means the reports, exports and recordings in it, and a pattern such as 'nodes/**/*.ncu-rep'
the files that it takes. That of a run means the files that its collectors left in it;
\`deep-profile report DIR\` rebuilds its own reports, with its config.

Exit code: 0 the reports are written, 1 a file cannot be imported, 2 wrong usage.`,
};

/** `deep-profile import`. */
export const runImport: Subcommand["run"] = async (args, io) =>
  (await import("./apart.ts")).apartIfLarge({
    line: IMPORT,
    run: importFiles,
    begin: async (command, { cwd }) =>
      (await import("./output-directory.ts")).watchBegun(command.value("output"), cwd),
    // Partial reports would occupy the name of the complete ones.
    stopped: async () => NO_REPORTS,
  })(args, io);

const importFiles = subcommand(IMPORT, async (command, io) => {
  const { importNamed } = await import("./import-named.ts");
  return stoppable(io, (withTool) => importNamed(command, io, withTool));
});

export const REPORT: CommandLine = {
  name: "deep-profile report",
  takes: { shown: "DIR", expected: "a run directory", least: 1 },
  about: `Rebuilds every report of a run from its raw files, without running anything: after an update of
hydraconf, for a page or traces that the run did not write, or after reports were deleted.
The same version makes the same reports, except for the time they were made.

For a sweep's directory it makes sweep-report.{md,html,json,csv} from the reports of its jobs: regions
by jobs, the best job (of least time, or with --work of highest throughput), and how times grow with
the swept values.`,
  options: {
    output: {
      short: "o",
      value: "DIR",
      help: "where the reports go; a new or empty directory outside of the run\n(default: DIR, replacing the old ones)",
    },
    ...LABEL_OPTIONS,
    ...SORT_OPTION,
    html: { help: "write HTML pages even if the run wrote none" },
    trace: { help: "write traces even if the run wrote none" },
    collector: {
      value: "NAME",
      choices: REPORT_FOLDERS,
      help: "for a sweep whose jobs have several",
    },
    work: {
      value: "UNIT=FACTOR*...",
      help: `for a sweep: how much each job does, as a product of numbers
and keys of its config; jobs are then compared by throughput:
--work images=infer.batch_size*infer.iterations`,
    },
    merge: {
      help: `make one run of several, DIR...: of ranks that recorded into directories of their own. It
becomes a run directory itself, named by --output`,
    },
    open: { help: "open the HTML page in the browser (implies --html)" },
  },
  epilogue: `--labels, --label-rule and --fold replace the rules in the run's config, for these reports only.
DIR must contain run.json and the collectors' files. ncu or nsys are needed only if the tables or
the export that they made are gone.

Exit code: 0 the reports are written, 1 they cannot be made, 2 wrong usage.`,
};

/** `deep-profile report`. */
export const runReport: Subcommand["run"] = async (args, io) =>
  (await import("./apart.ts")).apartIfLarge({
    line: REPORT,
    run: rebuild,
    begin: async (command, { cwd }) => {
      const { watchBegun } = await import("./output-directory.ts");
      const [name = ""] = command.positionals;
      const isInPlace = command.value("output") === undefined && !command.has("merge");
      return watchBegun(isInPlace ? name : command.value("output"), cwd);
    },
    stopped: async (command, io, signal) =>
      (await import("./report-directory.ts")).stoppedReport(command, io, signal),
  })(args, io);

const rebuild = subcommand(REPORT, async (command, io) => {
  const { mergeRuns, reportDirectory } = await import("./report-directory.ts");
  const [name = "", ...others] = command.positionals;
  if (command.has("merge")) return stoppable(io, (withTool) => mergeRuns(command, io, withTool));
  if (others.length > 0)
    throw usage("expected one run directory", "--merge makes one run of several");
  return stoppable(io, (withTool) => reportDirectory(resolve(io.cwd, name), command, io, withTool));
});

export const QUERY: CommandLine = {
  name: "deep-profile query",
  takes: { shown: "RUN [QUESTION]", expected: "a run and a question", least: 1, most: 3 },
  about: `Answers a question about a run: a run directory, the folder of a collector in it, or a report.json.

  summary           what takes the time of the run, and what to do first (the default)
  top               the regions with most time of their own, each with its reason
  regions           times and counts of regions
  kernels           the longest kernels, or CPU operations
  calls             the longest calls of CUDA and of the system, from nsys
  why REGION        why a region takes its time
  timeline          ranges and kernels between two times
  compare OTHER     what changed from RUN to another`,
  options: {
    json: { help: "print JSON, whose form schemas/query.schema.json describes" },
    limit: { value: "N", help: "most items of the answer (default: 20, at most 1000)" },
    bytes: {
      value: "N",
      help: "longest answer with --json; what is left follows with --cursor\n(default: 50000)",
    },
    cursor: { value: "NEXT", help: "go on where an answer ended: its 'next'" },
    region: {
      value: "GLOB",
      repeatable: true,
      help: "regions with this name, or this path, as `step / load`\n(regions, kernels, calls)",
    },
    kernel: { value: "GLOB", repeatable: true, help: "kernels with this name (kernels)" },
    metric: { value: "GLOB", repeatable: true, help: "also these metrics, with --json (regions)" },
    sort: { value: "BY", choices: SORTS, help: "(regions; default: exclusive)" },
    from: { value: "MS", help: "milliseconds since the start of the run (timeline)" },
    to: { value: "MS", help: "milliseconds since the start of the run (timeline)" },
    collector: {
      value: "NAME",
      choices: REPORT_FOLDERS,
      help: "if the run has several\n(default: that which knows most about time)",
    },
    scope: {
      value: "SCOPE",
      help: "e.g. process:4711 or device:cuda:0\n(not of timeline; default: the aggregate)",
    },
  },
  epilogue: "Exit code: 0 answered, 1 something cannot be read, 2 wrong usage.",
};

/** `deep-profile query`. */
export const runQuery = subcommand(QUERY, async (command, io) => {
  const { queryRun } = await import("./query.ts");
  return stoppable(io, (withTool) => queryRun(command, io, withTool));
});

export const DOCTOR: CommandLine = {
  name: "deep-profile doctor",
  takes: NO_POSITIONALS,
  about: `Shows in ten lines what is installed, what is allowed, and which ways to profile will work on this
machine, with the remedy if something is missing. It changes nothing.`,
  options: {
    verbose: { short: "v", help: "one line per finding, with its remedy below" },
    json: { help: "print the findings as JSON" },
  },
  epilogue: "Exit code: 0 some way to profile works, 1 none does, 2 wrong usage.",
};

/** `deep-profile doctor`. */
export const runDoctor = subcommand(DOCTOR, async (command, io) =>
  (await import("./show-doctor.ts")).showDoctor(command, io),
);
