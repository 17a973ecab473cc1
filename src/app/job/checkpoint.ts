/** Where a job keeps its checkpoint, and finds that of the job that it continues. */
import { rmdirSync } from "node:fs";
import { join } from "node:path";
import { overrideText } from "../../engine/overrides/index.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { fileProblem, makeDirectory } from "../../foundation/system/files.ts";

/** Programs find the path of the directory in it. */
export const CHECKPOINT_VARIABLE = "HYDRACONF_CHECKPOINT";

/** Hidden, as `.hydra` is: programs write files of the name `checkpoint` themselves. */
const DIRECTORY = ".checkpoint";

/** An earlier job that another one continues: the same trial of a search, with a smaller budget. */
export interface Continuation {
  /** The number of the earlier job. */
  readonly job: number;
  /** The absolute path of the directory in which the trial keeps its checkpoint: all of its jobs have the same. */
  readonly checkpoint: string;
}

interface CheckpointPlace {
  readonly outputDir: string;
  /** Absent unless the job continues another one. */
  readonly continuation?: Continuation;
}

/** The absolute path of the directory for a job's checkpoint: in its own directory, or that of the first job that it continues. */
export const checkpointOf = ({ continuation, outputDir }: CheckpointPlace): string =>
  continuation?.checkpoint ?? join(outputDir, DIRECTORY);

/**
 * Makes the directory for a job's checkpoint, where it does not exist.
 *
 * @returns its path
 * @throws ConfigError `app.run_directory`
 */
export function makeCheckpoint(place: CheckpointPlace): string {
  const path = checkpointOf(place);
  try {
    makeDirectory(path);
  } catch (cause) {
    throw new ConfigError({
      code: "app.run_directory",
      message: `Cannot create the directory '${path}' for the checkpoint of the job: ${fileProblem(cause)}`,
      hint: "move away what is there, or choose another directory for the job: hydra.run.dir=DIR, of a sweep hydra.sweep.dir=DIR",
      cause,
    });
  }
  return path;
}

/** Removes the directory of a checkpoint that was not used. */
export function removeUnusedCheckpoint(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It holds a checkpoint, or is gone.
  }
}

/**
 * The override that tells a program where to continue.
 *
 * @param file a name in the directory of the checkpoint; undefined for the directory itself
 */
export const resumeOverride = (key: string, checkpoint: string, file: string | undefined): string =>
  `${key}=${overrideText(file === undefined ? checkpoint : join(checkpoint, file))}`;

/** The overrides of a job without the one that tells where it continues: what it would run with if it began anew. */
export function withoutResumption(
  overrides: readonly string[],
  continuation: Pick<Continuation, "checkpoint"> | undefined,
): readonly string[] {
  if (continuation === undefined) return overrides;
  const path = overrideText(continuation.checkpoint).replaceAll(/^'|'$/g, "");
  return overrides.filter((override) => !override.includes(path));
}
