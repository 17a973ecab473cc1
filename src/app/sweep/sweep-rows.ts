import { splitAtEquals } from "../../text/shell-words.ts";
import { recordLeft } from "../worker/left-behind.ts";
import { tookMs } from "./record/attempt-time.ts";
import type { Attempt, JobState } from "./record/job-state.ts";
import { sweepFolder } from "./record/layout.ts";
import { type ManifestJob, readManifest } from "./record/manifest.ts";
import { type JobStanding, type Prospect, standing } from "./standing.ts";

/** A job in the table of a sweep; keys are those of `sweep.json`. */
export interface SweepRow {
  readonly number: number;
  /** What the job's overrides set, by key. */
  readonly swept: Readonly<Record<string, string>>;
  readonly status: JobStanding;
  readonly attempts: number;
  /** Seconds that the last attempt took, of a running job so far; null where nobody knows. */
  readonly seconds: number | null;
  readonly exit_code: number | null;
  readonly error: string | null;
  /** What the task returned. */
  readonly result: unknown;
  readonly output_dir: string;
}

/**
 * A row for each job; of those that the sweep has no more, for each that is done.
 *
 * @throws ConfigError `app.sweep_record` where there is no sweep
 */
export function sweepRows(directory: string, prospect: Prospect): readonly SweepRow[] {
  const folder = sweepFolder(directory);
  return readManifest(folder).jobs.flatMap((job) => {
    const state = recordLeft(folder, job.number);
    if (job.left_out === true && state?.status !== "completed") return [];
    return [rowOf(job, state, prospect)];
  });
}

function rowOf(job: ManifestJob, state: JobState | undefined, prospect: Prospect): SweepRow {
  const last = state?.attempts.at(-1);
  const { error, status } = standing(job.number, state, prospect);
  return {
    number: job.number,
    swept: Object.fromEntries(job.task_overrides.map(keyAndValue)),
    status,
    attempts: state?.attempts.length ?? 0,
    seconds: last === undefined ? null : secondsOf(last, status),
    exit_code: last?.exit_code ?? null,
    error: error ?? last?.error ?? null,
    result: state?.return_value ?? null,
    output_dir: job.output_dir,
  };
}

const secondsOf = (attempt: Attempt, status: JobStanding): number | null =>
  attempt.ended === null && status !== "running" ? null : tookMs(attempt) / 1000;

function keyAndValue(override: string): readonly [string, string] {
  const [key, value = ""] = splitAtEquals(override);
  return [key.replace(/^[+~]+/, ""), value];
}
