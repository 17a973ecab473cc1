/** Runs the enabled tools one after the other, with repeats. */

import { rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { type CodedError, isCodedError } from "../../engine/values/errors.ts";
import { makeDirectory, namedFileProblem } from "../../foundation/system/files.ts";
import { completedNote } from "../../report/view/notes.ts";
import { describeOutcome, succeeded, unwrittenOfAll, type Workload } from "../machine/process.ts";
import { ToolError } from "../machine/tool-error.ts";
import { below } from "../tools/collection.ts";
import {
  type CollectContext,
  type Collection,
  type Collector,
  isEnabled,
  type ProfilingTool,
  type ToolParts,
} from "../tools/tool.ts";

/** The tools that a config enables, in the order in which they run. */
export const enabledCollectors = (
  parts: ToolParts,
  tools: readonly ProfilingTool[],
): readonly Collector[] =>
  tools
    .filter(({ name }) => isEnabled(parts.config.pipeline, name))
    .map((tool) => repeated(tool, parts));

function repeated({ name, repeatsItself, collect }: ProfilingTool, parts: ToolParts): Collector {
  const collector: Collector = {
    name,
    collect: (workload, context) => collect(workload, { ...context, ...parts }),
  };
  const { repeats: runs, warmup_runs: warmup } = parts.config;
  return repeatsItself || runs === 1 ? collector : repeatCollector(collector, { runs, warmup });
}

/** A collector without results, and the reason. */
export interface MissingCollection {
  readonly collector: string;
  readonly error: CodedError;
}

export interface CollectionRun {
  /** In chronological order. */
  readonly collections: readonly Collection[];
  readonly missing: readonly MissingCollection[];
}

export interface RunCollectorsOptions extends Omit<CollectContext, "directory" | "earlier"> {
  readonly runDirectory: string;
}

/**
 * Runs the collectors one after the other, each in a folder of its own. The failure of one does not affect the others;
 * but if the workload fails, or the user stops, no further collector runs, since it would run the same workload again.
 */
export async function runCollectors(
  collectors: readonly Collector[],
  workload: Workload,
  { runDirectory, ...context }: RunCollectorsOptions,
): Promise<CollectionRun> {
  const collections: Collection[] = [];
  const missing: MissingCollection[] = [];
  for (const collector of collectors) {
    const reason = whyNotToGoOn(collections, context);
    if (reason !== null) {
      missing.push({ collector: collector.name, error: notRun(collector.name, reason) });
      continue;
    }
    context.say(`recording ${workload.label} with collector ${collector.name}`);
    const directory = join(runDirectory, collector.name);
    try {
      makeDirectory(directory);
      collections.push(
        await collector.collect(workload, { ...context, directory, earlier: collections }),
      );
    } catch (error) {
      missing.push({ collector: collector.name, error: codedError(error, collector.name) });
    } finally {
      context.progress.stop();
    }
  }
  return { collections, missing };
}

function whyNotToGoOn(
  collections: readonly Collection[],
  { interrupt }: Pick<CollectContext, "interrupt">,
): string | null {
  if (interrupt.stop.aborted) return `the run was stopped by ${interrupt.stop.reason}`;
  const failed = collections.find(({ outcome, problem }) => !problem && !succeeded(outcome));
  return failed === undefined
    ? null
    : `${describeOutcome(failed.outcome)} under collector ${failed.collector}`;
}

const notRun = (name: string, reason: string): ToolError =>
  new ToolError({
    tool: name,
    code: "profile.collector",
    message: `the collector ${name} was not run: ${reason}`,
  });

/** Any failure of a collector as an error with a code. */
function codedError(error: unknown, name: string): CodedError {
  if (isCodedError(error)) return error;
  return new ToolError({
    tool: name,
    code: "profile.collector",
    message: `the collector ${name} failed: ${namedFileProblem(error)}`,
    cause: error,
  });
}

export interface Repeats {
  /** The number of measured runs. */
  readonly runs: number;
  /** The number of preceding runs, whose results are discarded. */
  readonly warmup: number;
}

/**
 * A collector that runs the workload several times, each in a folder `repeats/<number>`. It stops after a failed run or
 * a signal, and keeps what was measured.
 */
export function repeatCollector(collector: Collector, { runs, warmup }: Repeats): Collector {
  return {
    ...collector,
    collect: async (workload, context) => {
      const collectIn = async (name: string) => {
        const directory = join(context.directory, "repeats", name);
        makeDirectory(directory);
        const collection = await collector.collect(workload, { ...context, directory });
        const source = below(`repeats/${name}`, collection.source);
        return { directory, collection: { ...collection, source } };
      };
      for (let run = 1; run <= warmup; run++) {
        context.say(`warm-up run ${run} of ${warmup}`);
        const { directory, collection } = await collectIn(`warmup-${run}`);
        if (!isWhole(collection) || context.interrupt.stop.aborted) return collection;
        rmSync(directory, { recursive: true, force: true });
      }
      const collections: Collection[] = [];
      for (let run = 1; run <= runs && !context.interrupt.stop.aborted; run++) {
        context.say(`run ${run} of ${runs}`);
        try {
          const { collection } = await collectIn(String(run));
          collections.push(collection);
          if (!isWhole(collection)) break;
        } catch (error) {
          // The results of earlier runs are more valuable than the reason for this failure.
          if (collections.length === 0) throw error;
          return {
            ...together(collections, runs, context.directory),
            problem: codedError(error, collector.name),
          };
        }
      }
      return together(collections, runs, context.directory);
    },
  };
}

export const isWhole = ({ outcome, problem }: Collection): boolean =>
  problem === undefined && succeeded(outcome);

/** The outcome is that of the last run; only complete runs are measured. */
export function together(
  collections: readonly Collection[],
  wanted: number,
  directory: string,
): Collection {
  const last = collections.at(-1);
  if (last === undefined) throw new Error("no run was completed");
  const whole = collections.filter(isWhole);
  const short = whole.length < wanted ? [completedNote(whole.length, wanted)] : [];
  const notes = [...new Set([...collections.flatMap((collection) => collection.notes), ...short])];
  // Large recordings are read on demand, possibly by another process.
  const repeats = whole.flatMap(({ measured, outcome: { stdoutFile, unwritten } }) =>
    measured.kind === "timeline"
      ? [
          {
            get timeline() {
              return measured.timeline;
            },
            stdoutFile: unwritten === undefined ? stdoutFile : null,
          },
        ]
      : [],
  );
  const unwritten = unwrittenOfAll(collections.map(({ outcome }) => outcome));
  const [first] = repeats;
  if (first === undefined) return { ...last, notes };
  return {
    ...last,
    outcome: { ...last.outcome, ...unwritten },
    measured: {
      kind: "timeline",
      get timeline() {
        return first.timeline;
      },
      repeats,
    },
    ...(whole.some(({ isLarge }) => isLarge === true) && { isLarge: true }),
    source: {
      kind: "repeats",
      runs: whole.map(({ source }) => source),
      outputs: repeats.map(({ stdoutFile }) => stdoutFile && inFolder(directory, stdoutFile)),
    },
    notes,
  };
}

const inFolder = (directory: string, file: string): string =>
  relative(directory, file).replaceAll(sep, "/");
