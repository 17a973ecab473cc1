import { rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { makeDirectory } from "../../system/files.ts";
import { agreeing, plural } from "../../text/plural.ts";
import type { Collection, Collector } from "../collection/collector.ts";
import { below } from "../collection/source.ts";
import { succeeded, unwrittenOfAll } from "../machine/process.ts";
import { asConfigError } from "./run-collectors.ts";

export interface Repeats {
  /** Runs that are measured. */
  readonly runs: number;
  /** Runs before them, whose results are thrown away. */
  readonly warmup: number;
}

/**
 * A collector that runs the workload several times, each into a folder of its own,
 * `repeats/<number>`. A run that fails, or a signal, ends the row; what was measured until then is
 * kept.
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
          // What earlier runs measured is worth more than the reason why this one could not.
          if (collections.length === 0) throw error;
          return {
            ...together(collections, runs, context.directory),
            problem: asConfigError(error, collector.name),
          };
        }
      }
      return together(collections, runs, context.directory);
    },
  };
}

const isWhole = ({ outcome, problem }: Collection): boolean =>
  problem === undefined && succeeded(outcome);

/** The last run says how the row ended; all whole ones are measured. */
function together(
  collections: readonly Collection[],
  wanted: number,
  directory: string,
): Collection {
  const last = collections.at(-1);
  if (last === undefined) throw new Error("no run was completed");
  const whole = collections.filter(isWhole);
  const short =
    whole.length < wanted
      ? [
          `${whole.length} of ${plural(wanted, "run")} ${agreeing(whole.length, "was", "were")} completed`,
        ]
      : [];
  const notes = [...new Set([...collections.flatMap((one) => one.notes), ...short])];
  const repeats = whole.flatMap(({ measured, outcome: { stdoutFile, unwritten } }) =>
    measured.kind === "timeline"
      ? [{ timeline: measured.timeline, stdoutFile: unwritten === undefined ? stdoutFile : null }]
      : [],
  );
  const unwritten = unwrittenOfAll(collections.map(({ outcome }) => outcome));
  const [first] = repeats;
  if (first === undefined) return { ...last, notes };
  return {
    ...last,
    outcome: { ...last.outcome, ...unwritten },
    measured: { kind: "timeline", timeline: first.timeline, repeats },
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
