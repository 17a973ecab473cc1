/** The status of a job, from its record and from what may still happen. */
import { toPlain } from "../../engine/compose/index.ts";
import { overrideNode, parseOverride } from "../../engine/overrides/index.ts";
import { type Dialect, dialectNamed } from "../../engine/values/dialect.ts";
import { isConfigError } from "../../engine/values/errors.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { isRunning } from "../../foundation/system/process-identity.ts";
import { splitAtEquals } from "../../foundation/text/shell-words.ts";
import { withoutResumption } from "../job/checkpoint.ts";
import { isSettled } from "../job/ender.ts";
import type { SweepJobStatus } from "../job/job.ts";
import type { SweepRow } from "../job/options.ts";
import type { ScheduledJob } from "../launch/launcher.ts";
import {
  type Attempt,
  type DamagedState,
  type JobState,
  recordedEnder,
  storedValue,
  tookMs,
} from "../record/job-state.ts";
import { sweepFolder } from "../record/layout.ts";
import { type ManifestJob, readManifest } from "../record/manifest.ts";
import { recordOrphan } from "../record/orphans.ts";

/** What may still happen to jobs, in addition to their records. */
export interface SweepActivity {
  /** Whether a process drives the sweep, and will start the jobs that have not ended. */
  readonly isDriven: boolean;
  /** The scheduler's jobs of the sweep, by number. */
  readonly scheduled: ReadonlyMap<number, ScheduledJob>;
  /** Jobs submitted to a scheduler that does not answer: they may still be there. */
  readonly unanswered: ReadonlySet<number>;
}

/** The activity of a sweep without a driver and without jobs in a scheduler. */
export const NO_ACTIVITY: SweepActivity = {
  isDriven: false,
  scheduled: new Map(),
  unanswered: new Set(),
};

/** The status of a job; every command shows the same word. */
export function sweepJobStatus(
  number: number,
  state: JobState | DamagedState | undefined,
  { isDriven, scheduled, unanswered }: SweepActivity,
): { readonly status: SweepJobStatus; readonly error?: string } {
  if (state?.status === "damaged")
    return { status: "damaged", error: `${state.file}: ${state.problem}` };
  const job = scheduled.get(number);
  const waits = isDriven || unanswered.has(number) || (job !== undefined && job.phase !== "over");
  if (state === undefined || state.status === "queued")
    return { status: waits ? "queued" : "missing" };
  // A stopped job that its scheduler still has may start again, or is being cancelled and has not ended yet.
  if (state.status === "stopped" && job !== undefined && job.phase !== "over")
    return { status: job.phase === "waiting" ? "queued" : "running" };
  if (state.status !== "running") return { status: state.status };
  const last = state.attempts.at(-1);
  // A job whose node was lost could not record its end, and waits for another node.
  if (job?.phase === "waiting")
    return { status: last !== undefined && isRunning(last) === true ? "running" : "queued" };
  if (waits || (last !== undefined && isRunning(last) !== false)) return { status: "running" };
  return { status: "missing", error: `process ${last?.pid ?? "?"} is gone` };
}

/**
 * A row for each job; among the jobs that the sweep no longer has, only for completed and pruned ones.
 *
 * @throws ConfigError `app.sweep_record` if there is no sweep
 */
export function sweepRows(directory: string, prospect: SweepActivity): readonly SweepRow[] {
  const folder = sweepFolder(directory);
  const { dialect, jobs } = readManifest(folder);
  const read = createValueReader(dialectNamed(dialect));
  return jobs.flatMap((job) => {
    const state = recordOrphan(folder, job.number);
    if (job.left_out === true && !isSettled(state?.status)) return [];
    return [rowOf(job, state, prospect, read)];
  });
}

function rowOf(
  job: ManifestJob,
  found: JobState | DamagedState | undefined,
  prospect: SweepActivity,
  read: ValueReader,
): SweepRow {
  const { error, status } = sweepJobStatus(job.number, found, prospect);
  const state = found?.status === "damaged" ? undefined : found;
  const begun = found?.status === "damaged" ? found.started : found;
  const last = state?.attempts.at(-1);
  return {
    number: job.number,
    swept: Object.fromEntries(withoutResumption(job.task_overrides, job.continues).map(read)),
    status,
    attempts: begun?.attempts.length ?? 0,
    started: (begun?.attempts.at(-1) ?? last)?.started ?? null,
    seconds: last === undefined ? null : secondsOf(last, status),
    exit_code: last?.exit_code ?? null,
    ended_by: (state && recordedEnder(state)) ?? null,
    error: error ?? last?.error ?? null,
    result: state?.return_value ?? null,
    output_dir: job.output_dir,
    continues: job.continues?.job ?? null,
    left_out: job.left_out === true,
  };
}

const secondsOf = (attempt: Attempt, status: SweepJobStatus): number | null =>
  attempt.ended === null && status !== "running" ? null : tookMs(attempt) / 1000;

type ValueReader = (override: string) => readonly [key: string, value: unknown];

/**
 * Reads the key and the value of an override, in the form in which records hold results. A text that is no override, such
 * as one with a masked secret, has its text as value. Jobs share most overrides, so each is read once.
 */
function createValueReader(dialect: Dialect): ValueReader {
  const cache = new Map<string, readonly [string, unknown]>();
  return (override) =>
    getOrCreate(cache, override, () => {
      const [key, text = ""] = splitAtEquals(override);
      return [key.replace(/^[+~]+/, ""), readValue(override, text, dialect)];
    });
}

function readValue(override: string, text: string, dialect: Dialect): unknown {
  if (text === "") return "";
  try {
    const node = overrideNode(parseOverride(override, { dialect }), dialect);
    return node === null ? text : storedValue(toPlain(node));
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return text;
  }
}
