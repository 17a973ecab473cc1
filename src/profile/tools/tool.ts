/** The contract of a profiling tool: what it works with, what it returns, and how its files are read. */

import yoctoSpinner from "yocto-spinner";
import { writeFileAtomic } from "../../system/atomic-write.ts";
import { shellCommand } from "../../text/shell-words.ts";
import type { CodedError } from "../../values/errors.ts";
import type { LabelRules } from "../analysis/labels.ts";
import type { RegionModel } from "../analysis/region-model.ts";
import type { GpuFindings } from "../machine/doctor/gpu.ts";
import type { Check, Machine, Verdict } from "../machine/doctor/machine.ts";
import type { WithTool } from "../machine/interrupt.ts";
import type { NativePart } from "../machine/native.ts";
import type { ProcessOutcome, StopRequests, Workload } from "../machine/process.ts";
import type { Timeline } from "../model/timeline.ts";
import type { CollectionSource } from "./collection.ts";
import type { ProfileConfig } from "./config.ts";
import type { Importer } from "./importer.ts";

/**
 * A profiling tool: one object in `tools/<name>/tool.ts`, and one entry of the table `tools/table.ts`. The object is
 * loaded with every start of the command, so that its functions import what they need when they are called.
 */
export interface ProfilingTool {
  /** Its key under `pipeline`, and its folder in a run directory. */
  readonly name: string;
  /** Its name in messages, e.g. `Nsight Compute`. */
  readonly product: string;
  /** It measures kernels of a GPU and nothing else: a run without a GPU is refused. */
  readonly needsGpu?: true;
  /** It measures each kernel several times by itself: `repeats` does not apply to it. */
  readonly repeatsItself?: true;
  /** How its part of the config is checked. */
  readonly settings: () => Promise<ToolSettings>;
  /**
   * Runs a workload and brings back what was seen. What goes wrong once something was measured is part of the collection.
   *
   * @throws ToolError, ConfigError where nothing was measured and nothing can be
   */
  readonly collect: (
    workload: Workload,
    context: CollectContext & ToolParts,
  ) => Promise<Collection>;
  /** The command lines that `collect` would run, for `--dry-run`. Leaves no files behind. */
  readonly plan: (workload: Workload, context: PlanContext) => Promise<ToolPlan>;
  /**
   * Reads the files of a finished run once more.
   *
   * @param source of the collection, or of one of its repeats
   * @param directory the tool's folder in the run directory
   */
  readonly reread: (
    source: CollectionSource,
    directory: string,
    context: RereadContext,
  ) => Promise<Reread>;
  readonly import: ToolImport;
  /** What of the tool is installed, and what will work with it. Never throws. */
  readonly doctor: (facts: DoctorFacts) => Promise<ToolFindings>;
}

/** What a tool is made from. */
export interface ToolParts {
  readonly config: ProfileConfig;
  readonly native: NativePart;
}

/** How `pipeline.<name>` is checked beyond its schema, before anything is made. Only of tools that are enabled. */
export interface ToolSettings {
  /** Settings that cannot be carried out. The first that applies is the error. */
  readonly refusals?: readonly SettingsRefusal[];
  /** What depends on the installed tool. Each check throws; the errors of all tools are shown together. */
  readonly checks?: (config: ProfileConfig) => readonly (() => unknown)[];
  /** The settings also apply to what other tools measure: they have an effect while this one is off. */
  readonly shared?: true;
}

/** Settings that the config tree has and that are not carried out: refused, never ignored. */
export interface SettingsRefusal {
  readonly key: string;
  /** Whether the config has it. */
  readonly applies: (config: ProfileConfig) => boolean;
  readonly message: string;
  readonly hint: string;
}

/** Whether `pipeline` enables a tool. */
export const isEnabled = (pipeline: object, name: string): boolean => {
  const settings: unknown = Reflect.get(pipeline, name);
  return (
    typeof settings === "object" && settings !== null && Reflect.get(settings, "enable") === true
  );
};

/** One run of the workload. */
export interface ToolRun {
  /** Which of the tool's runs, if it has several. */
  readonly pass?: string;
  readonly command: readonly string[];
  /** Environment variables that the tool needs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What a tool would run. */
export interface ToolPlan {
  readonly runs: readonly ToolRun[];
  readonly notes: readonly string[];
}

/** What a plan is made from beside the workload. */
export interface PlanContext extends ToolParts {
  /** Where the tool's files would be. */
  readonly directory: string;
  /** The same program without a GPU, where the plan is for another machine since this one has none; else null. */
  readonly withoutGpu: Workload | null;
  readonly interrupt: StopRequests;
  /** Receives a line about each step that takes time. */
  readonly say: (line: string) => void;
}

/** What `deep-profile import` reads of a tool. */
export interface ToolImport {
  readonly formats: readonly ImportFormat[];
  /** All files of the tool that are given together are one measurement, with one report. */
  readonly isOneMeasurement?: true;
  /** Of the names in the tool's folder in a run directory: what to import from there. `.` is the folder itself. */
  readonly filesOfRun: (names: readonly string[]) => readonly string[];
}

/** A format, with its reader. */
export interface ImportFormat {
  /** In messages and in help, e.g. `Nsight Systems SQLite export (*.sqlite)`. */
  readonly format: string;
  /** Loads the code that reads it. */
  readonly load: () => Promise<Importer>;
}

/** What is known of the machine when tools are examined. */
export interface DoctorFacts {
  readonly machine: Machine;
  readonly gpu: GpuFindings;
  /** Whether the native part is built, or can be. */
  readonly nativeUsable: boolean;
}

/** What `doctor` says of a tool. */
export interface ToolFindings {
  readonly checks: readonly Check[];
  readonly verdicts: readonly Verdict[];
}

/** A tool, or several runs of it, ready to be run: `ProfilingTool.collect` with the parts that it needs. */
export interface Collector {
  readonly name: string;
  /** As `ProfilingTool.collect`. */
  collect(workload: Workload, context: CollectContext): Promise<Collection>;
}

/** What a collector works with beside the workload. */
export interface CollectContext {
  /** The collector's folder in the run directory; exists. */
  readonly directory: string;
  readonly interrupt: StopRequests;
  readonly progress: Progress;
  /** Told a line at a time what goes on. */
  readonly say: (line: string) => void;
  /** What the collectors before this one brought back. */
  readonly earlier: readonly Collection[];
  /** Waits for other processes that record into the same directory; returns notes on them. */
  readonly awaitOthers?: () => Promise<readonly string[]>;
}

/** One of several runs of a workload. */
export interface MeasuredRun {
  readonly timeline: Timeline;
  /** What the workload printed in it; null where it did not come to its end, or the file has not all of it. */
  readonly stdoutFile: string | null;
}

/** Events that regions are made of, or regions where the tool gives nothing finer. */
export type Measured =
  | {
      readonly kind: "timeline";
      readonly timeline: Timeline;
      /** All runs that ended well, where the workload was run several times. */
      readonly repeats?: readonly MeasuredRun[];
    }
  | { readonly kind: "regions"; readonly model: RegionModel };

/**
 * Writes what belongs into the folders of single regions beside their reports: the folder
 * `regions`, and the names of the regions' folders in it by `regionKey`.
 */
export type WriteRegionFiles = (
  directory: string,
  names: ReadonlyMap<string, string>,
) => Promise<void>;

/** What was collected, also from a workload that failed: measured data is never thrown away. */
export interface Collection {
  readonly collector: string;
  /** Whether reading it takes long, and is left for when it is needed. */
  readonly isLarge?: boolean;
  /** Of a large one: what can be read of it in a part of a second. */
  readonly beginning?: () => Timeline;
  readonly measured: Measured;
  /** The files that `measured` was read from, to read it again. */
  readonly source: CollectionSource;
  /** How the workload ended, or the tool that ran it. */
  readonly outcome: ProcessOutcome;
  /** What a reader of the report must know. */
  readonly notes: readonly string[];
  readonly writeRegionFiles?: WriteRegionFiles;
  /** Only a part of the run was looked at, as the config wanted: what is missing may be there all the same. */
  readonly partial?: true;
  /** Version of the tool; ours where absent. */
  readonly toolVersion?: string;
  /** Why this is not all that was asked for, with its remedy; the run counts as failed. */
  readonly problem?: CodedError;
}

/** Shows what is going on during long steps. Silent unless a person watches a terminal. */
export interface Progress {
  /** Replaces the status line. */
  update(text: string): void;
  /** Removes the status line, e.g. before something else writes to the terminal. */
  stop(): void;
}

/** Shows nothing: for programs without a terminal. */
export const silentProgress: Progress = { update: () => {}, stop: () => {} };

/** A status line on standard error if that is a terminal, else nothing. */
export function terminalProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return silentProgress;
  const started = performance.now();
  // By default the spinner ends the process on a signal, before the results are reported.
  const spinner = yoctoSpinner({ stream, handleSignals: false });
  return {
    update: (text) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      spinner.text = `${text} (${seconds} s)`;
      if (!spinner.isSpinning) spinner.start();
    },
    stop: () => {
      spinner.stop();
    },
  };
}

const REFRESH_MS = 200;
/** Looking at the recordings of thousands of processes takes long: the pause is so many times what it took. */
const PAUSE_TIMES = 10;

/**
 * Keeps the status line up to date while a workload runs. A program that writes to the terminal
 * itself gets none.
 *
 * @returns what removes it
 */
export function showProgress(
  workload: Workload,
  { progress }: CollectContext,
  text: () => string,
): () => void {
  if (workload.stdout === "forward" || progress === silentProgress) return () => {};
  let timer: ReturnType<typeof setTimeout>;
  const show = () => {
    const started = performance.now();
    progress.update(text());
    const took = performance.now() - started;
    timer = setTimeout(show, Math.max(REFRESH_MS, took * PAUSE_TIMES));
  };
  show();
  return () => {
    clearTimeout(timer);
    progress.stop();
  };
}

/** `cmd.txt` of a collector: every command that it ran, to be run again from a shell. */
export interface CommandFile {
  /** Resolves once the command is on file: before it runs. */
  add(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<void>;
}

export function createCommandFile(file: string): CommandFile {
  const lines: string[] = [];
  return {
    async add(argv, env) {
      lines.push(shellCommand(argv, env));
      await writeFileAtomic(file, `${lines.join("\n")}\n`);
    },
  };
}

// What is known when a collector's files are read once more, and what they give.

/** What the files of a finished run give. */
export interface Reread extends Pick<Collection, "beginning"> {
  readonly measured: Measured;
  readonly writeRegionFiles?: WriteRegionFiles;
  /** What is not as it was in the run. */
  readonly notes?: readonly string[];
  /** What the run says of its files and is no longer so: notes, and messages of problems. */
  readonly outdated?: readonly string[];
}

/** What files are read again with. */
export interface RereadContext {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  readonly config: ProfileConfig;
  /** What reports call the regions, whatever the config says. */
  readonly labels?: LabelRules;
  readonly earlier: readonly Collection[];
  /** There is no time for all: what takes long to read is left for later, and its beginning given. */
  readonly onlyBeginning?: boolean;
  readonly withTool: WithTool;
  /** Receives a line about each step that takes time. */
  readonly say: (line: string) => void;
}
