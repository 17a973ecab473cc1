import { join } from "node:path";
import type { ConfigError } from "../../values/errors.ts";
import type { CollectContext, Collection, Collector } from "../collection/collector.ts";
import type { NsysSettings } from "../config/nsys-settings.ts";
import { type ProcessOutcome, pauseNotes, runWorkload } from "../machine/process.ts";
import { mergeCaptures } from "../nsys/merge-captures.ts";
import { type ProfileCommand, profileCommand, REPORT_NAME } from "../nsys/run/command.ts";
import { emptyCapture, NO_REPORTS, nsysFailure, nsysWarnings } from "../nsys/run/failures.ts";
import { keepDocument } from "../nsys/run/own-output.ts";
import { probeNsys, withoutProgress } from "../nsys/run/tool.ts";
import type { Workload } from "../workload/workload.ts";
import { createCommandFile } from "./command-file.ts";
import { type ReadReports, readReports } from "./nsys-reports.ts";
import { showProgress } from "./show-progress.ts";

/** A stopped nsys still has to write its report, which may be of gigabytes. */
const GRACE_MS = 60_000;
/** More of nsys's output than that is the program's. */
const SAID_CHARACTERS = 64_000;

/**
 * Nsight Systems: records the workload, exports the recording to SQLite and reads that. Everything
 * stays in the collector's folder: the report, the export, nsys's own summaries and the commands.
 */
export function createNsys(settings: NsysSettings): Collector {
  return {
    name: "nsys",
    collect: async (workload, context) => {
      const tool = await probeNsys("pipeline.nsys.enable");
      const { directory } = context;
      const report = join(directory, REPORT_NAME);
      const command = profileCommand(tool, settings, report, workload);
      const commands = createCommandFile(join(directory, "cmd.txt"));
      await commands.add(command.argv, command.env);
      for (const note of command.notes) context.say(note);

      const { outcome, said } = await record(workload, command, context);
      const found = await readReports(tool.path, context, commands);
      const problem = found.problem ?? whyNothing(found, said, outcome, command, settings);
      const timeline = mergeCaptures(found.timelines);
      return {
        collector: "nsys",
        measured: { kind: "timeline", timeline },
        source: { kind: "nsys", directory: ".", reports: found.read },
        outcome,
        toolVersion: tool.version,
        ...(command.isGated && { partial: true }),
        notes: [...command.notes, ...pauseNotes(outcome), ...nsysWarnings(said), ...found.notes],
        ...(problem !== null && { problem }),
      } satisfies Collection;
    },
  };
}

/**
 * The command that records a workload, without running it.
 *
 * @param directory where the collector's files would be
 */
export async function planNsys(
  settings: NsysSettings,
  workload: Workload,
  directory: string,
): Promise<ProfileCommand> {
  const tool = await probeNsys("pipeline.nsys.enable");
  return profileCommand(tool, settings, join(directory, REPORT_NAME), workload);
}

/** Runs the workload under nsys, which ends as the workload does. */
async function record(workload: Workload, command: ProfileCommand, context: CollectContext) {
  const text = `recording ${workload.label} with nsys`;
  const stopProgress = showProgress(workload, context, () => text);
  const outcome = await runWorkload(
    { ...workload, argv: command.argv },
    {
      directory: context.directory,
      env: command.env,
      interrupt: context.interrupt,
      graceMs: GRACE_MS,
    },
  ).finally(stopProgress);
  const said =
    workload.stdout === "document" && outcome.startError === null
      ? await keepDocument(outcome.stdoutFile)
      : "";
  return {
    said: withoutProgress(`${said.slice(-SAID_CHARACTERS)}\n${outcome.stderrTail}`),
    // What ended, and how, is the program: nsys passes its exit code on.
    outcome: { ...outcome, argv: workload.argv } satisfies ProcessOutcome,
  };
}

/** Why there is no report, where there is none. */
function whyNothing(
  { reports }: ReadReports,
  said: string,
  outcome: ProcessOutcome,
  { isGated }: ProfileCommand,
  { capture_range, nvtx_capture }: NsysSettings,
): ConfigError | null {
  if (reports > 0 || outcome.startError !== null || outcome.interruptedBy !== null) return null;
  const recordedNothing = NO_REPORTS.test(said) || !/error|lost/i.test(said);
  if (isGated && outcome.exitCode === 0 && recordedNothing)
    return emptyCapture(
      capture_range === "nvtx"
        ? `the range ${nvtx_capture} (pipeline.nsys.nvtx_capture) never began`
        : "the program never called cudaProfilerStart",
    );
  return nsysFailure("nsys wrote no report", said, "nsys and program");
}
