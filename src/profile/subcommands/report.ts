import { resolve } from "node:path";
import type { CommandLine } from "../../command-line/command-line.ts";
import { COLLECTOR_NAMES } from "../collection/collector-names.ts";
import { LABEL_OPTIONS } from "./label-options.ts";
import { stoppable } from "./stoppable.ts";
import { subcommand } from "./subcommand.ts";

export const COMMAND: CommandLine = {
  name: "deep-profile report",
  takes: { shown: "DIR", expected: "one run directory", least: 1, most: 1 },
  about: `Rebuilds every report of a run from its raw files, without running anything: after an update of
hydraconf, for a page or traces that the run did not write, or after reports were deleted.
The same version makes the same reports, except for the time they were made.

For a sweep's directory it makes sweep-report.{md,html,json,csv} from the reports of its jobs: regions
by jobs, the fastest job, and how times grow with the swept values.`,
  options: {
    output: {
      short: "o",
      value: "DIR",
      help: "where the reports go; a new or empty directory outside of the run\n(default: DIR, replacing the old ones)",
    },
    ...LABEL_OPTIONS,
    html: { help: "write HTML pages even if the run wrote none" },
    trace: { help: "write traces even if the run wrote none" },
    collector: {
      value: "NAME",
      choices: COLLECTOR_NAMES,
      help: "for a sweep whose jobs have several",
    },
    open: { help: "open the HTML page in the browser (implies --html)" },
  },
  epilogue: `--labels and --label-rule replace the rules in the run's config, for these reports only.
DIR must contain run.json and the collectors' files. ncu or nsys are needed only if the tables or
the export that they made are gone.

Exit code: 0 the reports are written, 1 they cannot be made, 2 wrong usage.`,
};

/** `deep-profile report`. */
export const runReport = subcommand(COMMAND, async (command, io) => {
  const { reportDirectory } = await import("./report-directory.ts");
  const [name = ""] = command.positionals;
  return stoppable(io, (withTool) => reportDirectory(resolve(io.cwd, name), command, io, withTool));
});
