/** The contract of a profiling tool: what it works with, what it brings back, and how it is read once more. */

import yoctoSpinner from "yocto-spinner";
import { writeFileAtomic } from "../../system/atomic-write.ts";
import { shellCommand } from "../../text/shell-words.ts";
import type { ConfigError } from "../../values/errors.ts";
import type { RegionModel } from "../analysis/index.ts";
import type { LabelRules } from "../analysis/labels.ts";
import type { WithTool } from "../machine/interrupt.ts";
import type { ProcessOutcome, StopRequests, Workload } from "../machine/process.ts";
import type { Timeline } from "../model/timeline.ts";
import type { CollectionSource, CollectorName } from "./collection.ts";
import type { ProfileConfig } from "./config.ts";

/** Runs a workload and brings back what was seen. One object per tool, in a file of its own. */
export interface Collector {
  readonly name: CollectorName;
  /**
   * What goes wrong once something was measured is part of the collection.
   *
   * @throws ConfigError where nothing was measured and nothing can be
   */
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
  readonly collector: CollectorName;
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
  readonly problem?: ConfigError;
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

export interface Reread {
  readonly measured: Measured;
  readonly writeRegionFiles?: WriteRegionFiles;
  /** What is not as it was in the run. */
  readonly notes?: readonly string[];
  /** What the run says of its files and is no longer so: notes, and messages of problems. */
  readonly outdated?: readonly string[];
}

export interface RereadContext {
  /** Absolute path of the run directory. */
  readonly runDirectory: string;
  readonly config: ProfileConfig;
  /** What reports call the regions, whatever the config says. */
  readonly labels?: LabelRules;
  readonly earlier: readonly Collection[];
  readonly withTool: WithTool;
  readonly say: (line: string) => void;
}
