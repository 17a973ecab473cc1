import { join } from "node:path";
import { makeDirectory } from "../../system/files.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import type { CollectContext, Collection, Collector } from "../collection/collector.ts";
import type { CollectorName } from "../collection/collector-names.ts";
import { describeOutcome, succeeded } from "../machine/process.ts";
import type { Workload } from "../workload/workload.ts";

/** A collector that brought nothing back, or was not run, and why. */
export interface MissingCollection {
  readonly collector: CollectorName;
  readonly error: ConfigError;
}

export interface CollectionRun {
  /** In the order in which they were made. */
  readonly collections: readonly Collection[];
  readonly missing: readonly MissingCollection[];
}

export interface RunCollectorsOptions extends Omit<CollectContext, "directory" | "earlier"> {
  readonly runDirectory: string;
}

/**
 * Runs the collectors one after the other, each in a folder of its own. One that fails takes nothing
 * from the others; a workload that fails, or a user who wants to stop, ends the row, since every
 * further collector would run that workload again.
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
      missing.push({ collector: collector.name, error: asConfigError(error, collector.name) });
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

const notRun = (name: CollectorName, reason: string): ConfigError =>
  new ConfigError({
    code: "profile.collector",
    message: `the collector ${name} was not run: ${reason}`,
  });

/** What went wrong in a collector, whatever it threw. */
export function asConfigError(error: unknown, name: CollectorName): ConfigError {
  if (isConfigError(error)) return error;
  return new ConfigError({
    code: "profile.collector",
    message: `the collector ${name} failed: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}
