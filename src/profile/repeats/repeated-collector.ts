import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../make-directory.ts";
import type { Collection, Collector } from "../collectors/collector.ts";
import { asConfigError } from "../collectors/run-collectors.ts";
import { below } from "../collectors/source.ts";
import { succeeded } from "../machine/process.ts";
import type { Timeline } from "../timeline.ts";

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
          return { ...together(collections, runs), problem: asConfigError(error, collector.name) };
        }
      }
      return together(collections, runs);
    },
  };
}

const isWhole = ({ outcome, problem }: Collection): boolean =>
  problem === undefined && succeeded(outcome);

/** The last run says how the row ended; all whole ones are measured. */
function together(collections: readonly Collection[], wanted: number): Collection {
  const last = collections.at(-1);
  if (last === undefined) throw new Error("no run was made");
  const whole = collections.filter(isWhole);
  const measured = whole.length > 0 ? whole : [last];
  const timelines = measured.flatMap(timelineOf);
  const [first] = timelines;
  if (first === undefined) return last;
  const short = whole.length < wanted ? [`${whole.length} of ${wanted} runs were made`] : [];
  return {
    ...last,
    measured: { kind: "timeline", timeline: first, repeats: timelines },
    source: { kind: "repeats", runs: measured.map(({ source }) => source) },
    notes: [...new Set([...collections.flatMap(({ notes }) => notes), ...short])],
  };
}

const timelineOf = ({ measured }: Collection): readonly Timeline[] =>
  measured.kind === "timeline" ? [measured.timeline] : [];
