/** The contract of a profiling tool: its input, its results, and how its files are read. */

import yoctoSpinner from "yocto-spinner";
import type { CodedError } from "../../engine/values/errors.ts";
import { writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import type { TextStream } from "../../foundation/system/platform-types.ts";
import { printable } from "../../foundation/text/printable.ts";
import { shellCommand } from "../../foundation/text/shell-words.ts";
import type { LabelRules } from "../analysis/labels.ts";
import type { RegionModel } from "../analysis/region-model.ts";
import type { GpuFindings } from "../machine/doctor/gpu-checks.ts";
import type { Check, Machine, Verdict } from "../machine/doctor/machine.ts";
import type { NativePart } from "../machine/native.ts";
import type { ProcessOutcome, StopRequests, Workload } from "../machine/process.ts";
import type { WithTool } from "../machine/stop-signals.ts";
import type { Timeline } from "../model/timeline.ts";
import type { Importer } from "./importer.ts";
import type { ProfileConfig } from "./profiler-config.ts";
import type { CollectionSource } from "./run-types.ts";

/**
 * A profiling tool: one object in `tools/<name>/tool.ts`, and one entry of the table `tools/tool-table.ts`. The object is
 * loaded with every start of the command, so that its functions import what they need when they are called.
 */
export interface ProfilingTool {
  /** Its key under `pipeline`, and its folder in a run directory. */
  readonly name: string;
  /** Its name in messages, e.g. `Nsight Compute`. */
  readonly product: string;
  /** It measures only GPU kernels: a run without a GPU is refused. */
  readonly needsGpu?: true;
  /** It repeats each kernel itself: `repeats` does not apply to it. */
  readonly repeatsItself?: true;
  /** How to check its part of the config. */
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
   * Reads the files of a finished run again.
   *
   * @param source source of the collection, or of one of its repeats
   * @param directory the tool's folder in the run directory
   */
  readonly reread: (
    source: CollectionSource,
    directory: string,
    context: RereadContext,
  ) => Promise<Reread>;
  readonly import: ToolImport;
  /** Which parts of the tool are installed, and what works with them. Never throws. */
  readonly doctor: (facts: DoctorFacts) => Promise<ToolFindings>;
}

/** The input from which a tool is made. */
export interface ToolParts {
  readonly config: ProfileConfig;
  readonly native: NativePart;
}

/** How `pipeline.<name>` is checked beyond its schema, before anything is made. Only of tools that are enabled. */
export interface ToolSettings {
  /** Settings that are not supported. The first that applies is the error. */
  readonly refusals?: readonly SettingsRefusal[];
  /**
   * What depends on the installed tool. Each check throws; the errors of all tools are shown together. Jobs of a sweep with equal
   * settings are checked once.
   *
   * @param how `isPlan`: the run is only shown, so that a missing tool is no reason to refuse it
   */
  readonly checks?: (
    config: Pick<ProfileConfig, "pipeline">,
    how: { readonly isPlan: boolean },
  ) => readonly (() => unknown)[];
  /** The settings also apply to what other tools measure: they have an effect while this one is off. */
  readonly shared?: true;
}

/** Settings of the config tree that are not supported: refused, never ignored. */
export interface SettingsRefusal {
  readonly key: string;
  /** Whether the config has it. */
  readonly applies: (config: ProfileConfig) => boolean;
  readonly message: string;
  readonly hint: string;
}

/** What files are imported of: a tool, or a profiler that programs run themselves. */
export type ImportTool = Pick<ProfilingTool, "name" | "product" | "import">;

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

/** The runs that a tool would make. */
export interface ToolPlan {
  readonly runs: readonly ToolRun[];
  readonly notes: readonly string[];
}

/** The input of a plan in addition to the workload. */
export interface PlanContext extends ToolParts {
  /** The directory where the tool's files would be. */
  readonly directory: string;
  /** The same program without a GPU, where the plan is for another machine since this one has none; else null. */
  readonly withoutGpu: Workload | null;
  readonly interrupt: StopRequests;
  /** Receives a line about each step that takes time. */
  readonly say: (line: string) => void;
}

/** The formats of a tool that `deep-profile import` reads. */
export interface ToolImport {
  readonly formats: readonly ImportFormat[];
  /** Whether all given files of the tool belong to one measurement, with one report. */
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

/** Facts about the machine for the checks of tools. */
export interface DoctorFacts {
  readonly machine: Machine;
  readonly gpu: GpuFindings;
  /** Whether the native part is built, or can be. */
  readonly nativeUsable: boolean;
}

/** The findings of `doctor` about a tool. */
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

/** The input of a collector in addition to the workload. */
export interface CollectContext {
  /** The collector's folder in the run directory; exists. */
  readonly directory: string;
  readonly interrupt: StopRequests;
  readonly progress: Progress;
  /** Receives lines about the progress. */
  readonly say: (line: string) => void;
  /** The collections of earlier collectors. */
  readonly earlier: readonly Collection[];
  /** Waits for other processes that record into the same directory; returns notes on them. */
  readonly awaitOthers?: () => Promise<readonly string[]>;
}

/** One of several runs of a workload. */
export interface MeasuredRun {
  readonly timeline: Timeline;
  /** The workload's output in this run; null if it did not end, or the file is incomplete. */
  readonly stdoutFile: string | null;
}

/** Events from which regions are made, or regions if the tool gives nothing finer. */
export type Measured =
  | {
      readonly kind: "timeline";
      readonly timeline: Timeline;
      /** All successful runs, if the workload was run several times. */
      readonly repeats?: readonly MeasuredRun[];
    }
  | { readonly kind: "regions"; readonly model: RegionModel };

/**
 * Writes further files to the folders of single regions, next to their reports: receives the folder `regions`, and the
 * names of the regions' folders in it by `regionKey`.
 */
export type WriteRegionFiles = (
  directory: string,
  names: ReadonlyMap<string, string>,
) => Promise<void>;

/** The result of a collection, also for a failed workload: measured data is never thrown away. */
export interface Collection {
  readonly collector: string;
  /** Whether reading it is slow, and deferred until it is needed. */
  readonly isLarge?: boolean;
  /** For a large one: the part that can be read in a fraction of a second. */
  readonly beginning?: () => Timeline;
  readonly measured: Measured;
  /** The files that `measured` was read from, to read it again. */
  readonly source: CollectionSource;
  /** How the workload ended, or the tool that ran it. */
  readonly outcome: ProcessOutcome;
  /** Notes for readers of the report. */
  readonly notes: readonly string[];
  readonly writeRegionFiles?: WriteRegionFiles;
  /** Whether the config limited the collection to a part of the run: missing regions may exist all the same. */
  readonly partial?: true;
  /** Version of the tool; ours where absent. */
  readonly toolVersion?: string;
  /** Why the collection is incomplete, with a remedy; the run counts as failed. */
  readonly problem?: CodedError;
}

/** Shows the progress of long steps. Silent unless a person watches a terminal, but for `begin`. */
export interface Progress {
  /** Whether a person watches the status line. */
  readonly isShown: boolean;
  /** Shows that a step has begun that may take minutes: with its seconds on a terminal, as one line elsewhere. */
  begin(text: string): void;
  /** Replaces the status line. */
  update(text: string): void;
  /** Removes the status line, e.g. before something else writes to the terminal. */
  stop(): void;
}

/** Shows nothing: for programs without a terminal. */
export const silentProgress: Progress = {
  isShown: false,
  begin: () => {},
  update: () => {},
  stop: () => {},
};

/** A status line on standard error if that is a terminal; else only lines of steps that may take minutes. */
export function terminalProgress(stream: TextStream = process.stderr): Progress {
  if (!stream.isTTY)
    return { ...silentProgress, begin: (text) => void stream.write(`${printable(text)}\n`) };
  const started = performance.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  // By default the spinner ends the process on a signal, before the results are reported.
  const spinner = yoctoSpinner({ stream: stream as NodeJS.WriteStream, handleSignals: false });
  const show = (text: string): void => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    spinner.text = `${printable(text)} (${seconds} s)`;
    if (!spinner.isSpinning) spinner.start();
  };
  return {
    isShown: true,
    begin: (text) => {
      clearInterval(timer);
      show(text);
      timer = setInterval(() => show(text), REFRESH_MS).unref();
    },
    update: (text) => {
      clearInterval(timer);
      show(text);
    },
    stop: () => {
      clearInterval(timer);
      spinner.stop();
    },
  };
}

const REFRESH_MS = 200;
/** Reading the recordings of thousands of processes is slow: the pause is this many times its duration. */
const PAUSE_TIMES = 10;

/**
 * Keeps the status line up to date while a workload runs, unless the program itself writes to the terminal.
 *
 * @returns removes the status line
 */
export function showProgress(
  workload: Workload,
  { progress }: CollectContext,
  text: () => string,
): () => void {
  if (workload.stdout === "forward" || !progress.isShown) return () => {};
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

/** `cmd.txt` of a collector: every command that it ran, in a form for a shell. */
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

// The input and the result of reading a collector's files again.

/** What the files of a finished run give. */
export interface Reread extends Pick<Collection, "beginning"> {
  readonly measured: Measured;
  readonly writeRegionFiles?: WriteRegionFiles;
  /** Differences from the original run. */
  readonly notes?: readonly string[];
  /** Notes and messages of problems in the run's files that no longer apply. */
  readonly outdated?: readonly string[];
}

/** The input for reading files again. */
export interface RereadContext {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  readonly config: ProfileConfig;
  /** The label rules of the reports, whatever the config has. */
  readonly labels?: LabelRules;
  readonly earlier: readonly Collection[];
  /** There is no time for all: what takes long to read is left for later, and its beginning given. */
  readonly onlyBeginning?: boolean;
  readonly withTool: WithTool;
  /** Receives a line about each step that takes time. */
  readonly say: (line: string) => void;
}
