/** Jobs whose record is damaged: what else shows whether they have ended, and how a user goes on. */
import { readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { isRunning } from "../../foundation/system/process-identity.ts";
import { andOthers, plural } from "../../foundation/text/plural.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type { ManifestJob } from "./job-list.ts";
import {
  begun,
  type DamagedState,
  ended,
  type JobState,
  lookAtJob,
  writeJobState,
} from "./job-state.ts";
import { jobLog } from "./layout.ts";

/** A job with a damaged record. */
interface DamagedJob {
  readonly job: ManifestJob;
  readonly state: DamagedState;
}

/**
 * Refuses to run jobs of a sweep while records of it are damaged: a job might run twice.
 *
 * @throws ConfigError `app.sweep_damaged`
 */
export function refuseDamaged(folder: string, jobs: readonly ManifestJob[]): void {
  const [first, ...others] = damagedJobs(folder, jobs);
  if (first === undefined) return;
  const numbers = [first, ...others].map(({ job }) => job.number).join(",");
  const { job, state } = first;
  throw new ConfigError({
    code: "app.sweep_damaged",
    message: `The record of job #${job.number}${andOthers(others.length)} of the sweep in '${dirname(folder)}' is damaged: ${state.file}: ${state.problem}`,
    hint: `${proofOf(folder, first)}: if it has to run again, add --accept-damaged ${numbers}${others.length === 0 ? "" : ", or the numbers of those that have to"}; otherwise restore the file from a copy`,
  });
}

/**
 * Records jobs with a damaged record as stopped, so that they run again. Only for the process that has claimed the
 * sweep.
 *
 * @throws ConfigError `app.usage` for a job whose record is not damaged, `app.sweep_damaged` while its process runs
 */
export function acceptDamaged(
  folder: string,
  jobs: readonly ManifestJob[],
  numbers: readonly number[],
): void {
  for (const number of numbers) {
    const job = jobs.find((entry) => entry.number === number);
    const state = job && lookAtJob(folder, number);
    if (state?.status !== "damaged")
      throw new ConfigError({
        code: "app.usage",
        message: `argument --accept-damaged: the record of job #${number} is not damaged`,
        hint: `hydraconf sweep status ${shellQuote(dirname(folder))} --only damaged`,
      });
    refuseRunning(state);
    const started = state.started ?? begun(number, undefined);
    const error = `its record was damaged: ${state.file}: ${state.problem}`;
    const stopped = ended(started, { endedBy: { by: "unknown" }, exitCode: null, error });
    writeJobState(folder, stopped, { durable: true });
  }
}

/**
 * The process of the last attempt, if the trace of its start names one that may still run. A job in the process of its
 * launcher ends with the launcher's claim, however long that process lives.
 */
export function lastProcessOf({ started }: DamagedState) {
  const last = started?.attempts.at(-1);
  const isOwn = last?.id !== undefined || last?.details !== undefined;
  const alive = last !== undefined && isOwn && isRunning(last);
  return last === undefined || alive === false ? undefined : { last, alive };
}

function refuseRunning(state: DamagedState): void {
  const process = lastProcessOf(state);
  if (process === undefined) return;
  const { alive, last } = process;
  throw new ConfigError({
    code: "app.sweep_damaged",
    message: `Job #${state.number}, whose record is damaged, ${alive === true ? "still runs" : "was running"} as process ${last.pid} on ${last.host}: ${state.file}: ${state.problem}`,
    hint:
      alive === true
        ? "wait for its end: then it writes its record anew"
        : `on ${last.host} its process can be checked: accept it there`,
  });
}

const damagedJobs = (folder: string, jobs: readonly ManifestJob[]): readonly DamagedJob[] =>
  jobs.flatMap((job) => {
    const state = lookAtJob(folder, job.number);
    return state?.status === "damaged" ? [{ job, state }] : [];
  });

/** What a user can look at to find out whether a job has ended. */
function proofOf(folder: string, { job, state }: DamagedJob): string {
  const last = state.started?.attempts.at(-1);
  const began = last === undefined ? "it has started" : `it began at ${last.started}`;
  const log = jobLog(folder, job.number);
  const places = [
    contentOf(job.output_dir),
    ...(statSync(log, { throwIfNoEntry: false }) === undefined ? [] : [`its log is ${log}`]),
  ];
  return `job #${job.number} may have ended: ${[began, ...places].join(", ")}`;
}

/** At most this many names of files are shown. */
const MOST_NAMES = 5;

function contentOf(directory: string): string {
  const names = namesIn(directory).filter((name) => !name.startsWith("."));
  if (names.length === 0) return `its directory ${directory} holds no result`;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  const more = names.length - MOST_NAMES;
  return `its directory ${directory} holds ${shown}${more > 0 ? ` and ${plural(more, "other")}` : ""}`;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** A job's record in the eyes of those that only follow or end processes: of a damaged one, the trace of its start. */
export function startedState(folder: string, number: number): JobState | undefined {
  const state = lookAtJob(folder, number);
  return state?.status === "damaged" ? state.started : state;
}

/** The state of a job, for whoever must not act on a damaged record but goes on with others. */
export function undamagedState(folder: string, number: number): JobState | undefined {
  const state = lookAtJob(folder, number);
  return state?.status === "damaged" ? undefined : state;
}
