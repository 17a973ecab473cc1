/**
 * The recorder as a tool: runs a workload with the injection library, imports its recordings, and reads those of a run
 * again.
 */

import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import {
  checkOptions,
  count,
  listOf,
  type OptionChecks,
  oneOf,
  optional,
  path,
  text,
  trueOrFalse,
} from "../../../engine/values/check-options.ts";
import { isError } from "../../../foundation/system/builtin-types.ts";
import { plural } from "../../../foundation/text/plural.ts";
import { regionReportFile } from "../../../report/model/report-files.ts";
import { type JsonText, textOfFile } from "../../../report/validation/json-text.ts";
import {
  type ProcessOutcome,
  type ProgramTimes,
  pauseNotes,
  runWorkload,
  type Workload,
} from "../../machine/process.ts";
import { ToolError } from "../../machine/tool-error.ts";
import type { Importer } from "../importer.ts";
import type { ProfileConfig } from "../profiler-config.ts";
import type { CollectionSource, RecordingSource } from "../run-types.ts";
import { beginsWith, missingFileError } from "../source-file.ts";
import {
  type CollectContext,
  type Collection,
  type Collector,
  type Reread,
  type RereadContext,
  showProgress,
  type ToolParts,
} from "../tool.ts";
import { FILE_SUFFIX, MAGIC } from "./format.ts";
import { containerNote, injectionFor } from "./injection.ts";
import { type InjectionWatch, type OtherInjection, watchInjections } from "./other-injections.ts";
import {
  NOTHING_RECORDED,
  noteEnd,
  otherInjectionNotes,
  type RecordedTimeline,
  readBeginning,
  readRecording,
  readRecordingFiles,
  recordingFiles,
  refusedRecording,
  withProgram,
} from "./read.ts";
import { watchRecording } from "./recording-progress.ts";
import { sampleThreads, type ThreadSampling } from "./thread-samples.ts";

/**
 * Whether to record GPU activities if the workload uses a GPU. CUPTI admits one tool: `auto` leaves it to another tool that
 * `CUDA_INJECTION64_PATH` names, and to a profiler of the workload from its beginning; `on` keeps it from them.
 */
export type GpuChoice = "auto" | "on" | "off";

/** The library that the recorder loads into a workload, and what it records. */
export interface RecorderOptions {
  /** Path of the injection library. */
  readonly library: string;
  /** Domains that do not count as regions in the progress line. */
  readonly operationDomains: readonly string[];
  /** Whether to record GPU activities if the workload uses a GPU. */
  readonly gpu: GpuChoice;
  /** Whether to record the processor time of threads, additionally page faults, context switches and disk blocks, or neither. */
  readonly cpu?: "time" | "counts" | "off";
  /** Whether to count the instructions of threads in each range, where the kernel and the processor allow it. */
  readonly instructions?: boolean;
  /** How often, in Hz, to look at what threads do; 0, the default: never. */
  readonly samplingFrequency?: number;
  /** Path of a request for hardware counters of ranges, which are then measured in place of GPU activities. */
  readonly counters?: string;
}

const OPTIONS: OptionChecks<RecorderOptions> = {
  library: path,
  operationDomains: listOf("strings", text, '["my_program.ops"]'),
  gpu: oneOf("auto", "on", "off"),
  cpu: optional(oneOf("time", "counts", "off")),
  instructions: optional(trueOrFalse),
  samplingFrequency: optional(count),
  counters: optional(path),
};

/**
 * Our own recorder: a library that the workload's NVTX and CUDA driver load themselves, so that any program with NVTX
 * ranges can be recorded on any machine, and kernels if there is a GPU.
 */
export function createRecorder(options: RecorderOptions): Collector {
  checkOptions("createRecorder", options, OPTIONS);
  return {
    name: "recorder",
    collect: async (workload, context) => {
      const injection = injectionFor(workload.argv, workload.cwd, options.library);
      const library = injection.library;
      const injected =
        library === null ? NOT_INJECTED : inject(workload, options, library, context.directory);
      const notes = [...injected.notes, ...(injection.note === null ? [] : [injection.note])];
      const text = recordedSoFar(workload, context, options.operationDomains);
      const stopProgress = showProgress(workload, context, text);
      let times: ProgramTimes | null = null;
      let injections: InjectionWatch | null = null;
      let sampling: ThreadSampling | null = null;
      const outcome = await runWorkload(workload, {
        directory: context.directory,
        env: injected.env,
        interrupt: context.interrupt,
        onStart: (pid) => {
          if (library === null) return;
          injections = watchInjections(pid, library);
          sampling = sampleThreads(pid, context.directory, options.samplingFrequency ?? 0);
        },
        onEnd: (program) => {
          times = program;
          noteEnd(context.directory, program.pid, program.endNs);
        },
      }).finally(() => {
        sampling?.stop();
        stopProgress();
      });
      const elsewhere = unrecorded(injections, context.directory);
      const others = (await context.awaitOthers?.()) ?? [];
      const source = recordingSource(times);
      const isRecorded = injection.library !== null;
      const isLarge = isRecorded && recordedBytes(context.directory) > LARGE_BYTES;
      const read = () =>
        withProgram(isRecorded ? readRecording(context.directory) : NOTHING_RECORDED, source);
      const timeline = isLarge ? null : read();
      const problem = timeline && whyIncomplete(timeline, outcome.stderrTail);
      const inContainer =
        timeline?.processes.length === 0 ? containerNote(workload.argv, options.library) : null;
      return {
        collector: "recorder",
        measured: timeline === null ? readLater(read) : { kind: "timeline", timeline },
        ...(isLarge && { isLarge, beginning: () => readBeginning(context.directory) }),
        source,
        outcome,
        notes: [
          ...notes,
          ...others,
          ...otherInjectionNotes(elsewhere, "everything"),
          ...(inContainer === null ? [] : [inContainer]),
          ...pauseNotes(outcome),
        ],
        ...(problem !== null && { problem }),
      } satisfies Collection;
    },
  };
}

/** Reading a larger recording takes a noticeable time. */
const LARGE_BYTES = 2e6;

/** Reads the timeline on first use, which may be in another process. */
function readLater(read: () => RecordedTimeline): Collection["measured"] {
  let timeline: RecordedTimeline | null = null;
  return {
    kind: "timeline",
    get timeline() {
      timeline ??= read();
      return timeline;
    },
  };
}

function recordedBytes(directory: string): number {
  try {
    return recordingFiles(directory).reduce(
      (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512,
      0,
    );
  } catch (error) {
    // The error is reported when the recording is read.
    if (!isError(error)) throw error;
    return 0;
  }
}

const recordingSource = (times: ProgramTimes | null): RecordingSource => ({
  kind: "recording",
  directory: ".",
  ...(times !== null && {
    program: { pid: times.pid, start_ns: String(times.startNs), end_ns: String(times.endNs) },
  }),
});

/** The recorder as a config sets it. */
export const recorderOf = (parts: ToolParts, gpu: GpuChoice): Collector =>
  createRecorder(optionsOf(parts, gpu));

const optionsOf = ({ config, native }: ToolParts, gpu: GpuChoice): RecorderOptions => ({
  library: native.regionRecorder,
  operationDomains: config.pipeline.recorder.operation_domains,
  gpu,
  cpu: config.pipeline.recorder.cpu,
  instructions: config.pipeline.recorder.instructions,
  samplingFrequency: config.pipeline.recorder.sampling_frequency,
});

/**
 * Runs a workload whose recording another process reads.
 *
 * @param place the folders for its output and for the recordings
 */
export async function recordRank(
  parts: ToolParts,
  workload: Workload,
  place: Pick<CollectContext, "directory" | "interrupt"> & { readonly recordings: string },
): Promise<ProcessOutcome> {
  const { directory, recordings, interrupt } = place;
  const options = optionsOf(parts, parts.config.pipeline.recorder.gpu);
  const { library } = injectionFor(workload.argv, workload.cwd, options.library);
  let sampling: ThreadSampling | null = null;
  return runWorkload(workload, {
    directory,
    env: library === null ? {} : inject(workload, options, library, recordings).env,
    interrupt,
    onStart: (pid) => {
      if (library !== null)
        sampling = sampleThreads(pid, recordings, options.samplingFrequency ?? 0);
    },
    onEnd: ({ pid, endNs }) => noteEnd(recordings, pid, endNs),
  }).finally(() => sampling?.stop());
}

/** Whether the recorder records kernels if the workload uses a GPU. */
export const recordsKernels = ({ pipeline }: ProfileConfig): boolean =>
  pipeline.recorder.gpu !== "off";

/** Null if the recordings of all processes could be read. */
function whyIncomplete(
  { processes, refused }: RecordedTimeline,
  stderrTail: string,
): ToolError | null {
  if (refused) return refusedRecording();
  const [said] = processes.length === 0 ? (CANNOT_RECORD.exec(stderrTail) ?? []) : [];
  return said === undefined
    ? null
    : new ToolError({ tool: "recorder", code: "profile.collector", message: said });
}

/** The recorder's message in a process in which it cannot create a file. */
const CANNOT_RECORD = /^region_recorder: cannot record into .*$/m;

/** What a workload gets, and notes on what that replaces or leaves. */
interface Injected {
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

const NOT_INJECTED: Injected = { env: {}, notes: [] };

const NVTX_VARIABLE = "NVTX_INJECTION64_PATH";
const CUDA_VARIABLE = "CUDA_INJECTION64_PATH";

/**
 * NVTX and CUDA each load one injection library. Ours replaces another tool's for NVTX; the GPU is left to it, unless the
 * user says otherwise.
 *
 * @param library the recorder for this workload
 */
function inject(
  workload: Workload,
  { gpu, cpu = "time", instructions = false, counters }: RecorderOptions,
  library: string,
  directory: string,
): Injected {
  const named = variableOf(workload, CUDA_VARIABLE);
  const isLeft = gpu === "auto" && named !== "" && named !== library;
  const recorded = isLeft ? "off" : gpu;
  // The first also serves programs without NVTX; the second applies if NVTX loads the library.
  const replaced = {
    [NVTX_VARIABLE]: library,
    ...(recorded !== "off" && { [CUDA_VARIABLE]: library }),
  };
  return {
    env: {
      ...replaced,
      HYDRACONF_RECORDER_DIR: directory,
      HYDRACONF_RECORDER_CPU: cpu,
      HYDRACONF_RECORDER_INSTRUCTIONS: instructions ? "on" : "off",
      HYDRACONF_RECORDER_GPU: recorded,
      ...(counters !== undefined && { HYDRACONF_RECORDER_COUNTERS: counters }),
    },
    notes: [
      ...Object.keys(replaced)
        .filter((variable) => !["", library].includes(variableOf(workload, variable)))
        .map(
          (variable) =>
            `${variable} named another tool's library, which the recorder has replaced for this run`,
        ),
      ...(isLeft ? [leftToOtherTool(named)] : []),
    ],
  };
}

/** The value that the workload would have without the recorder; empty if it is not set. */
const variableOf = ({ env }: Workload, variable: string): string =>
  env[variable] ?? process.env[variable] ?? "";

const leftToOtherTool = (library: string): string =>
  `GPU work was not recorded: ${CUDA_VARIABLE} names another tool's library (${library}), to which the recorder leaves the GPU; pipeline.recorder.gpu=on replaces it for this run`;

/** Those of which not even the GPU's work was recorded. */
function unrecorded(watch: InjectionWatch | null, directory: string): readonly OtherInjection[] {
  const others = watch?.stop() ?? [];
  if (others.length === 0) return [];
  const names = recordingNames(directory);
  return others.filter(({ pid }) => !names.some((name) => name.startsWith(`events-${pid}-`)));
}

function recordingNames(directory: string): readonly string[] {
  try {
    return recordingFiles(directory).map((path) => basename(path));
  } catch (error) {
    // The error is reported when the recording is read.
    if (!isError(error)) throw error;
    return [];
  }
}

/** The progress of the recording, in a line. */
function recordedSoFar(
  { label }: Workload,
  { directory }: CollectContext,
  ignoreDomains: readonly string[],
): () => string {
  const watch = watchRecording(directory, { ignoreDomains });
  return () => {
    const { ranges, openRegion } = watch();
    const inside = openRegion === null ? "" : `, in ${openRegion}`;
    return `recording ${label}: ${plural(ranges, "range")}${inside}`;
  };
}

/** A file of our own recorder, or the directory of a run. */
export const recordingImporter: Importer = {
  matches: (source) =>
    source.isDirectory
      ? source.entries.some((name) => name.endsWith(FILE_SUFFIX))
      : beginsWith(source, MAGIC),
  read: async ({ name, path, isDirectory }) => {
    const timeline = isDirectory ? readRecording(path) : readRecordingFiles([path]);
    if (timeline.processes.length === 0)
      throw new ToolError({
        tool: "recorder",
        code: "recording.invalid",
        // Notes about files already name them.
        message: isDirectory ? `${name}: ${timeline.notes.join("; ")}` : timeline.notes.join("; "),
      });
    return { kind: "timeline", timeline, toolVersion: null, machine: null };
  },
};

// Reads a finished run again.

/** @throws ConfigError where the recording is gone or damaged */
export function rereadRecording(
  source: CollectionSource,
  directory: string,
  { onlyBeginning = false }: Pick<RereadContext, "onlyBeginning"> = {},
): Reread {
  if (source.kind !== "recording") throw new Error(`${source.kind} is no recording`);
  const folder = join(directory, source.directory);
  if (!existsSync(folder)) throw missingFileError(folder);
  const read = () => withProgram(readRecording(folder), source);
  if (onlyBeginning) return { measured: readLater(read), beginning: () => readBeginning(folder) };
  const timeline = read();
  if (timeline.refused) throw refusedRecording();
  // A program without NVTX leaves no file either, but then its reports have no process.
  if (timeline.processes.length === 0 && reportsKnowProcesses(directory))
    throw missingFileError(join(folder, "events-*"));
  return { measured: { kind: "timeline", timeline }, outdated: [refusedRecording().message] };
}

function reportsKnowProcesses(directory: string): boolean {
  const file = regionReportFile(directory);
  return (
    statSync(file, { throwIfNoEntry: false })?.isFile() === true &&
    hasProcessScope(textOfFile(file))
  );
}

/** Quotes inside names are escaped, so that only a report's own scope matches this. */
const PROCESS_SCOPE = /"scope": ?"(?:process|rank):/;
/** How much of the earlier text to keep: a match that spans two pieces has less on either side. */
const TAIL = '"scope": "process:'.length - 1;

/** Whether a report file, of any size and possibly damaged, has the report of a process. */
export function hasProcessScope(whole: JsonText): boolean {
  let tail = "";
  for (const piece of whole()) {
    const text = tail + piece;
    if (PROCESS_SCOPE.test(text)) return true;
    tail = text.slice(-TAIL);
  }
  return false;
}
