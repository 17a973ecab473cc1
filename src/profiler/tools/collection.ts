/** The files that a collection was read from, as stored in `run.json`. */
import type { CollectionSource } from "./run-types.ts";

/** The source with paths relative to a folder above. */
export function below(directory: string, source: CollectionSource): CollectionSource {
  if (source.kind === "repeats")
    return { ...source, runs: source.runs.map((run) => below(directory, run)) };
  // ncu's runs are not repeated.
  if (source.kind === "ncu") return source;
  const inside = source.directory === "." ? directory : `${directory}/${source.directory}`;
  return { ...source, directory: inside };
}

/** The run's data apart from its raw files: `profiler/run/saved-run.ts`. */
export const RUN_FILE = "run.json";
