/** A finished run as it was when its collectors came back: from `run.json` and the raw files. */
import { createHash } from "node:crypto";
import { existsSync, rmSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { regionReportFile } from "../../report/model/report-files.ts";
import { type JsonText, textOfFile } from "../../report/validation/json-text.ts";
import { ConfigError } from "../../values/errors.ts";
import type { LabelRules } from "../analysis/labels.ts";
import { makeTemporaryDirectory } from "../machine/files.ts";
import { succeeded } from "../machine/process.ts";
import type { Timeline } from "../model/timeline.ts";
import type { CollectionSource } from "../tools/collection.ts";
import type { Collection, MeasuredRun, Reread, RereadContext } from "../tools/collector.ts";
import { rereadNcu } from "../tools/ncu/reread.ts";
import { mergeCaptures } from "../tools/nsys/collector.ts";
import { exportCommand } from "../tools/nsys/command.ts";
import { callNsys, nsysFailure, requireNsysPath } from "../tools/nsys/tool.ts";
import { readRecording, refusedRecording } from "../tools/recorder/index.ts";
import { missingFileError } from "../tools/source-file.ts";
import type { CollectedRun } from "./run.ts";
import type { SavedCollection, SavedProblem, SavedRun } from "./saved-run.ts";

export interface RereadOptions extends Pick<RereadContext, "runDirectory" | "withTool" | "say"> {
  /** In the place of the label rules in the run's config; null: those. */
  readonly labels: LabelRules | null;
}

/**
 * @throws ConfigError where raw files are gone or damaged, or can be read only with a tool that is not
 *   installed
 */
export async function rereadRun(
  saved: SavedRun,
  { runDirectory, withTool, say, labels }: RereadOptions,
): Promise<CollectedRun> {
  const { workload, environment, inputs } = saved;
  const config = labels === null ? saved.config : { ...saved.config, labels };
  const context = {
    runDirectory,
    config: saved.config,
    withTool,
    say,
    ...(config.labels && { labels: config.labels }),
  };
  const collections: Collection[] = [];
  for (const collection of saved.collectors)
    collections.push(await rereadCollection(collection, { ...context, earlier: collections }));
  return {
    config,
    fingerprint: labels === null ? saved.config_fingerprint : relabelled(saved, labels),
    workload: { ...workload, env: {} },
    environment,
    inputs,
    collections,
    missing: saved.missing.map(({ collector, problem }) => ({
      collector,
      error: errorOf(problem),
    })),
  };
}

/** Names the config of a run with other label rules: as all fingerprints, equal for what is equal. */
const relabelled = ({ config_fingerprint }: SavedRun, labels: LabelRules): string =>
  `sha256:${createHash("sha256")
    .update(JSON.stringify({ run: config_fingerprint, labels }))
    .digest("hex")}`;

async function rereadCollection(
  saved: SavedCollection,
  context: RereadContext,
): Promise<Collection> {
  const { collector, source, outcome, problem, tool_version, notes } = saved;
  const directory = join(context.runDirectory, collector);
  if (!existsSync(directory)) throw missingFileError(directory);
  context.say(`reading the files of ${collector}`);
  const inRun = (file: string) => resolve(context.runDirectory, file);
  const {
    notes: more = [],
    outdated = [],
    ...found
  } = await rereadSource(source, directory, {
    ...context,
    lastOutput: succeeded(outcome) ? inRun(outcome.stdoutFile) : null,
  });
  return {
    ...found,
    collector,
    source,
    outcome: {
      ...outcome,
      stdoutFile: inRun(outcome.stdoutFile),
      stderrFile: inRun(outcome.stderrFile),
    },
    notes: [...new Set([...notes.filter((note) => !outdated.includes(note)), ...more])],
    ...(tool_version !== null && { toolVersion: tool_version }),
    ...(problem !== null && !outdated.includes(problem.message) && { problem: errorOf(problem) }),
  };
}

async function rereadSource(
  source: CollectionSource,
  directory: string,
  context: RereadContext & { readonly lastOutput: string | null },
): Promise<Reread> {
  if (source.kind === "ncu") return rereadNcu(source, directory, context);
  const outdated = [refusedRecording().message];
  if (source.kind !== "repeats")
    return {
      measured: { kind: "timeline", timeline: await timelineOf(source, directory, context) },
      outdated,
    };
  const repeats: MeasuredRun[] = [];
  for (const [index, run] of source.runs.entries()) {
    const output = source.outputs?.[index];
    repeats.push({
      timeline: await timelineOf(run, directory, context),
      // Contract 1.0 has the output of the last run only.
      stdoutFile: output === undefined ? context.lastOutput : output && join(directory, output),
    });
  }
  const [first] = repeats;
  if (first === undefined) throw missingFileError(directory);
  return { measured: { kind: "timeline", timeline: first.timeline, repeats }, outdated };
}

async function timelineOf(
  source: CollectionSource,
  directory: string,
  context: RereadContext,
): Promise<Timeline> {
  if (source.kind === "recording") {
    const folder = join(directory, source.directory);
    if (!existsSync(folder)) throw missingFileError(folder);
    const timeline = readRecording(folder);
    if (timeline.refused) throw refusedRecording();
    // A program that used no NVTX leaves no file either, and then its reports know no process.
    if (timeline.processes.length === 0 && reportsKnowProcesses(directory))
      throw missingFileError(join(folder, "events-*"));
    return timeline;
  }
  if (source.kind !== "nsys") throw new Error(`${source.kind} gives no timeline`);
  const timelines: Timeline[] = [];
  for (const name of source.reports)
    timelines.push(await readNsysReport(join(directory, source.directory, name), context));
  return mergeCaptures(timelines);
}

function reportsKnowProcesses(directory: string): boolean {
  const file = regionReportFile(directory);
  return (
    statSync(file, { throwIfNoEntry: false })?.isFile() === true &&
    hasProcessScope(textOfFile(file))
  );
}

/** From the export that the run made or, where it was removed, from a new one of the report. */
async function readNsysReport(stem: string, { withTool, say }: RereadContext): Promise<Timeline> {
  // SQLite loads only when it has something to read.
  const { readNsysExport } = await import("../tools/nsys/read/read-export.ts");
  const kept = `${stem}.sqlite`;
  if (existsSync(kept)) return readNsysExport(kept);
  const report = `${stem}.nsys-rep`;
  if (!existsSync(report)) throw missingFileError(kept);
  const nsys = requireNsysPath(`${basename(report)} can only be read by nsys`);
  const scratch = makeTemporaryDirectory("deep-profile-report-");
  try {
    const sqlite = join(scratch, "run.sqlite");
    const { failed, text } = await withTool((stop) =>
      callNsys(
        exportCommand(nsys, report, sqlite),
        { doing: `exporting ${basename(report)} with nsys`, output: sqlite },
        { stop, say },
      ),
    );
    if (failed) throw nsysFailure(`nsys could not export ${basename(report)}`, text);
    return readNsysExport(sqlite);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const errorOf = (problem: SavedProblem): ConfigError => new ConfigError(problem);

/** Quotes inside of names are escaped, so that only a report's own scope looks like this. */
const PROCESS_SCOPE = /"scope": ?"process:/;
/** What is kept of the text so far: a match that a piece cuts in two has less on either side. */
const TAIL = '"scope": "process:'.length - 1;

/** Whether a report file, of any size and also a damaged one, has the report of a process. */
export function hasProcessScope(whole: JsonText): boolean {
  let tail = "";
  for (const piece of whole()) {
    const text = tail + piece;
    if (PROCESS_SCOPE.test(text)) return true;
    tail = text.slice(-TAIL);
  }
  return false;
}
