/** Makes the reports of a run again from its raw files. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { ConfigError, isCodedError } from "../../engine/values/errors.ts";
import { draftBeside, removeDeadDrafts } from "../../foundation/system/atomic-write.ts";
import {
  fileProblem,
  isSystemError,
  makeDirectory,
  readablePath,
} from "../../foundation/system/files.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { INTERRUPTS } from "../../foundation/system/process-signals.ts";
import { plural } from "../../foundation/text/plural.ts";
import { regionReportFile, regionsFolder } from "../../report/model/report-files.ts";
import type { ConfigLine } from "../../report/render/report-page.ts";
import type { LabelRules } from "../analysis/labels.ts";
import { signalExitCode, type WithTool } from "../machine/stop-signals.ts";
import { ToolError } from "../machine/tool-error.ts";
import type { CollectionSource } from "../tools/run-types.ts";
import type { Collection, ProfilingTool } from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";
import { readSavedRun } from "./read-run.ts";
import { rereadRun } from "./reread-run.ts";
import { type CollectedRun, type ProfileResult, reportOn } from "./run.ts";
import type { SavedCollection } from "./saved-run.ts";
import { type WrittenRun, writeRun } from "./write-run.ts";

export interface RebuildRequest {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  /** Absolute path of an empty directory for the reports; null to replace the run's own. */
  readonly output: string | null;
  readonly cwd: string;
  /** Whether pages and traces are written even if the run wrote none. */
  readonly html: boolean;
  readonly trace: boolean;
  /** Replace the label rules of the run's config; null keeps those. */
  readonly labels: LabelRules | null;
  readonly now: Date;
  readonly withTool: WithTool;
  readonly say: (line: string) => void;
  /** The tools that may have made the run. Default: those of the table. */
  readonly tools?: readonly ProfilingTool[];
}

export interface Rebuilt {
  readonly result: ProfileResult;
  readonly written: WrittenRun;
}

/** Small files that reports link to, but that no report is made from. */
const LINKED = ["config.yaml", "overrides.yaml", "hydra.yaml", "run.log"];

/**
 * Makes all reports of a run again. Everything is written before the first of the old reports is replaced; if something
 * could not be written, no old report is removed without a successor.
 *
 * @throws ConfigError for a directory that is no run, missing raw files, and a directory without write permission
 */
export async function rebuildReports(request: RebuildRequest): Promise<Rebuilt> {
  const { runDirectory, output, cwd, now, withTool, say, tools = TOOLS } = request;
  const saved = readSavedRun(runDirectory, cwd);
  const { labels } = request;
  const run = await rereadRun(saved, { runDirectory, withTool, say, labels, tools });
  const { pipeline } = run.config;
  const report = {
    ...pipeline.report,
    html: pipeline.report.html || request.html,
    trace: pipeline.report.trace || request.trace,
  };
  const config = { ...run.config, pipeline: { ...pipeline, report } };
  const result = reportOn(run, now);
  const configLines =
    request.labels === null ? saved.config_lines : withLabels(saved.config_lines, request.labels);
  if (output !== null) {
    orRefuse(output, "choose another directory with --output DIR", () => {
      for (const name of LINKED)
        if (existsSync(join(runDirectory, name)))
          copyFileSync(join(runDirectory, name), join(output, name));
    });
    return { result, written: await writeRun(result, config, { directory: output, configLines }) };
  }
  const write = <T>(step: () => T): T =>
    orRefuse(readablePath(runDirectory, cwd), "choose another directory with --output DIR", step);
  // Beside the old reports, because files can be moved only within a file system.
  const { directory, remove } = write(() => openStaging(runDirectory));
  try {
    const place = { directory, runDirectory, configLines };
    const { reports, failures } = await writeRun(result, config, place);
    const published = write(() => {
      if (failures.length === 0) removeStale(directory, runDirectory);
      return publish(directory, runDirectory, reports);
    });
    // Messages must not name the temporary folder.
    const named = failures.map((failure) => failure.replaceAll(directory, runDirectory));
    return { result, written: { reports: published, failures: named } };
  } finally {
    remove();
  }
}

/** Requests reports of the beginnings of a run's recordings, after its reports were stopped. */
export interface BeginningRequest extends Pick<RebuildRequest, "runDirectory" | "cwd"> {
  /** The reason for the stop, in words. */
  readonly stopped: string;
  /** The command for complete reports, quoted for a shell. */
  readonly again: string;
}

/**
 * Makes reports of the beginnings of a run's recordings, if it has no reports and nothing but recordings.
 *
 * @returns in words, what they cover; null if there are none
 */
export async function rebuildBeginning(request: BeginningRequest): Promise<string | null> {
  const { runDirectory, cwd } = request;
  try {
    const saved = readSavedRun(runDirectory, cwd);
    const hasReports = ({ collector }: SavedCollection) =>
      existsSync(regionReportFile(join(runDirectory, collector)));
    const isRecording = ({ kind }: CollectionSource): boolean => kind === "recording";
    const areRecordings = saved.collectors.every(({ source }) =>
      source.kind === "repeats" ? source.runs.every(isRecording) : isRecording(source),
    );
    if (saved.collectors.some(hasReports) || !areRecordings) return null;
    const withTool = () => Promise.reject(new Error("recordings need no tool"));
    const run = await rereadRun(saved, {
      ...{ runDirectory, withTool, say: () => {}, labels: null, tools: TOOLS },
      onlyBeginning: true,
    });
    return await reportBeginning(run, { ...request, configLines: saved.config_lines });
  } catch (error) {
    if (!isCodedError(error) && !isSystemError(error)) throw error;
    return null;
  }
}

/**
 * Reports of the beginnings of large recordings, with notes that they are incomplete.
 *
 * @returns in words, what they cover; null if there are none
 */
export async function reportBeginning(
  run: CollectedRun,
  {
    runDirectory,
    stopped,
    again,
    configLines,
  }: BeginningRequest & { readonly configLines: readonly ConfigLine[] },
): Promise<string | null> {
  let count = 0;
  try {
    const collections = run.collections.map(({ beginning, ...collection }): Collection => {
      if (beginning === undefined) return collection;
      const timeline = beginning();
      const read = timeline.processes.reduce((sum, { ranges }) => sum + ranges.length, 0);
      count += read;
      const message = `${stopped}: this report has only the first ${plural(read, "range")}; '${again}' makes all of it`;
      const problem = new ToolError({
        tool: collection.collector,
        code: "profile.stopped",
        message,
      });
      return { ...collection, measured: { kind: "timeline", timeline }, problem };
    });
    const result = reportOn({ ...run, collections }, new Date());
    const { failures } = await writeRun(result, run.config, {
      directory: runDirectory,
      configLines,
    });
    return failures.length > 0 ? null : `reports have the first ${plural(count, "range")}`;
  } catch (error) {
    // The stop is reported here; unreadable and unwritable files are reported when all reports are made.
    if (!isCodedError(error) && !isSystemError(error)) throw error;
    return null;
  }
}

/** The config lines of the page, with the label rules that were used. */
const withLabels = (lines: readonly ConfigLine[], labels: LabelRules): readonly ConfigLine[] => [
  ...lines.filter(({ key }) => !/^labels(?:$|[.[])/.test(key)),
  { key: "labels", value: JSON.stringify(labels), origin: "options of deep-profile report" },
];

/** Performs a step with files; errors of the system are reported with the directory and a remedy. */
function orRefuse<T>(directory: string, hint: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    if (!isSystemError(cause)) throw cause;
    throw new ConfigError({
      code: "app.run_directory",
      message: `Cannot write the reports to '${directory}': ${fileProblem(cause)}`,
      hint,
      cause,
    });
  }
}

// Replaces old reports by new ones.

/** Our files in the folder of a single region. */
const REGION_FILES = ["report.json", "report.md", "raw.csv", "sections.txt"];

/**
 * Moves the files in `staging` to the run's directory one by one, each atomically: a reader sees an old or a new
 * report, never a part of one. Both must be in one file system.
 *
 * @returns the new paths of the given files
 */
export function publish(
  staging: string,
  runDirectory: string,
  files: readonly string[],
): readonly string[] {
  for (const file of filesBelow(staging)) {
    const place = join(runDirectory, relative(staging, file));
    makeDirectory(dirname(place));
    renameSync(file, place);
  }
  return files.map((file) => join(runDirectory, relative(staging, file)));
}

/** Removes old files from folders of regions that the new reports do not have. */
export function removeStale(staging: string, runDirectory: string): void {
  for (const collector of foldersIn(staging)) removeStaleOf(collector, staging, runDirectory);
}

function removeStaleOf(collector: string, staging: string, runDirectory: string): void {
  const old = regionsFolder(join(runDirectory, collector));
  if (!existsSync(old)) return;
  for (const name of foldersIn(old)) {
    const fresh = join(regionsFolder(join(staging, collector)), name);
    for (const file of REGION_FILES)
      if (!existsSync(join(fresh, file))) rmSync(join(old, name, file), { force: true });
    // Files of the user are kept.
    if (readdirSync(join(old, name)).length === 0) rmdirSync(join(old, name));
  }
}

const foldersIn = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

// A folder for files that are not complete yet.

export interface Staging {
  /** Absolute path of the new folder. */
  readonly directory: string;
  /** Removes it with everything in it. */
  readonly remove: () => void;
}

/**
 * Makes a hidden folder in `directory`. It is also removed if Ctrl-C ends the process before `remove`.
 *
 * @throws the system's error if it cannot be created
 */
export function openStaging(directory: string): Staging {
  removeDeadDrafts(directory);
  const staging = draftBeside(join(directory, "reports"));
  mkdirSync(staging);
  const onSignal = (signal: Signal): void => {
    remove();
    process.exit(signalExitCode(signal));
  };
  const remove = (): void => {
    for (const signal of INTERRUPTS) process.off(signal, onSignal);
    rmSync(staging, { recursive: true, force: true });
  };
  for (const signal of INTERRUPTS) process.on(signal, onSignal);
  return { directory: staging, remove };
}
