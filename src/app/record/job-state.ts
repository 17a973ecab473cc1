/** The record of one job: its attempts and their ends. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { MAX_TREE_DEPTH } from "../../engine/values/node.ts";
import {
  aboutFile,
  draftBeside,
  overwriteFileSync,
  writeFileAtomicSync,
  writeFileDurableSync,
} from "../../foundation/system/atomic-write.ts";
import { errorCode, isSystemError } from "../../foundation/system/files.ts";
import { pause } from "../../foundation/system/process-claim.ts";
import {
  isOfThisBoot,
  type ProcessIdentity,
  thisProcess,
} from "../../foundation/system/process-identity.ts";
import { INTERRUPTS, signalCode } from "../../foundation/system/process-signals.ts";
import { sealedText, type Unsealed, unsealed } from "../../foundation/system/sealed-json.ts";
import {
  amount,
  type Check,
  count,
  fits,
  listOf,
  maybe,
  nestedUpTo,
  objectOf,
  oneOf,
  orNull,
  type Shape,
  text,
  textsByName,
  time,
} from "../../foundation/system/shape.ts";
import { withTexts } from "../../foundation/text/python-json.ts";
import { type Ender, enderText, endStatus, ITSELF, isFailure, isSettled } from "../job/ender.ts";
import type { JobStatus } from "../job/job.ts";
import { redactValue } from "../job/redaction.ts";
import { jobFile, jobsFolder, startedFile } from "./layout.ts";
import { makeInnerFolder, recordRights, shareFile } from "./rights.ts";

/** Lists and objects nested deeper than this are stored as text. */
export const MAX_STORED_DEPTH = MAX_TREE_DEPTH;

/**
 * A value as JSON can hold it, without secrets: integers beyond JSON's, `inf` and `nan` as texts; a value without a
 * JSON form or nested too deeply as its text; undefined as null.
 */
export function storedValue(value: unknown, redact: (text: string) => string = same): unknown {
  if (value === undefined) return null;
  try {
    const text = JSON.stringify(value, replace) ?? JSON.stringify(String(value));
    const data: unknown = JSON.parse(text);
    if (!isShallow(data)) return redact(text);
    const masked = redactValue(data, redact);
    // A secret may be the text of a whole list or map.
    const written = JSON.stringify(masked);
    const shown = redact(written);
    return shown === written ? masked : parsed(shown);
  } catch {
    return redact(textOfStoredValue(value));
  }
}

const isShallow = nestedUpTo(MAX_STORED_DEPTH);

/** `String` fails for lists that hold each other thousands of times. */
function textOfStoredValue(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "a value that cannot be shown";
  }
}

const same = (text: string): string => text;

function replace(key: string, value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return withTexts(key, value);
}

/** Masking a part that is not a text makes the JSON invalid: then the whole is a text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The outcome of a job: the file `.sweep/jobs/<number>.json`. Keys are those of the file. */
export interface JobState {
  readonly number: number;
  /** Of the last attempt. It follows from the attempt (`endStatus`), and is stored for readers of the file. */
  readonly status: JobStatus;
  /** One for each start. */
  readonly attempts: readonly Attempt[];
  /** What the task returned, as JSON; null before its end, and for no value. */
  readonly return_value: unknown;
}

export interface Attempt extends ProcessIdentity {
  /** Identifies the start, if a process other than the job's own records it. */
  readonly id?: string;
  /** ISO 8601. */
  readonly started: string;
  readonly ended: string | null;
  /** When it started, in milliseconds of the machine's uptime. Absent in records of early versions. */
  readonly uptime_ms?: number;
  /**
   * How long it took, on a clock that ignores changes of the time of day and stands still while the machine is
   * suspended. Absent before the end, and in records of early versions.
   */
  readonly took_ms?: number;
  /** Who ended it. Absent before the end, and in records of early versions. */
  readonly ended_by?: Ender;
  /** Null before its end, and if a signal killed the process. It says nothing about who ended the job. */
  readonly exit_code: number | null;
  /** The first line of the error; null without an error. */
  readonly error: string | null;
  /** The launcher's notes: a scheduler's id of the job, its slots. */
  readonly details?: Readonly<Record<string, string>>;
}

const SIGNAL = oneOf(...Object.keys(constants.signals));

/** The fields of each ender in addition to `by`. */
const ENDERS: Readonly<Record<Ender["by"], Readonly<Record<string, Check>>>> = {
  itself: {},
  time_limit: { limit_ms: amount },
  pruner: { step: Number.isFinite },
  cancel: {},
  launcher: { signal: SIGNAL },
  signal: { signal: SIGNAL },
  scheduler: {
    cause: oneOf("time_limit", "preempted", "node_lost", "cancelled", "requeued", "unknown"),
  },
  out_of_memory: {},
  unknown: {},
};

const ender: Check = (value) =>
  Object.entries(ENDERS).some(([by, more]) => fits(value, { by: oneOf(by), ...more }));

const ATTEMPT: Shape<Attempt> = {
  id: maybe(text),
  started: time,
  ended: orNull(time),
  uptime_ms: maybe(amount),
  took_ms: maybe(amount),
  ended_by: maybe(ender),
  exit_code: orNull(Number.isSafeInteger),
  error: orNull(text),
  details: maybe(textsByName),
  host: text,
  pid: count,
  birth: orNull(text),
  pid_namespace: maybe(orNull(text)),
  container: maybe(text),
};

const STATE: Shape<JobState> = {
  number: count,
  status: oneOf("queued", "running", "completed", "pruned", "failed", "stopped", "timed_out"),
  attempts: listOf(objectOf(ATTEMPT)),
  return_value: nestedUpTo(MAX_STORED_DEPTH),
};

/** How an attempt ended. */
export interface AttemptEnd {
  readonly endedBy: Ender;
  readonly exitCode: number | null;
  /** Why, in one line; of a job that did not end by itself by default what its ender says. */
  readonly error?: string;
  readonly returnValue?: unknown;
  /** The time of the end; now by default. */
  readonly time?: Date | undefined;
}

/** The record of a job that has started, and that cannot be read as it was written: it may have ended or not. */
export interface DamagedState {
  readonly status: "damaged";
  readonly number: number;
  /** The absolute path of the file. */
  readonly file: string;
  /** What is wrong with it; follows its name. */
  readonly problem: string;
  /** The state with which the last attempt began; undefined if that trace of it is lost, too. */
  readonly started: JobState | undefined;
}

/**
 * Undefined for a job that was not started.
 *
 * @throws ConfigError `app.sweep_damaged` for a record that is not as it was written, and the system's error for an
 * existing file that cannot be read: if these counted as absent, a completed job would run again
 */
export function readJobState(folder: string, number: number): JobState | undefined {
  const state = lookAtJob(folder, number);
  if (state?.status === "damaged") throw damagedState(state);
  return state;
}

const damagedState = ({ file, number, problem }: DamagedState): ConfigError =>
  new ConfigError({
    code: "app.sweep_damaged",
    message: `The record of job #${number} is damaged: ${file}: ${problem}`,
    hint: "the job may have ended: see its directory and its log; --resume DIR says how to go on",
  });

/**
 * As `readJobState`, for readers that show damage.
 *
 * @throws the system's error for an existing file that cannot be read
 */
export function lookAtJob(folder: string, number: number): JobState | DamagedState | undefined {
  const file = jobFile(folder, number);
  const found = sealedState(file, number);
  if (found?.kind === "whole") return found.state;
  if (found === undefined && !isThere(startedFile(folder, number))) return undefined;
  // A full disk lets a job overwrite its record in place, and NFS may hide a new file: look again.
  const settled = found === undefined ? lookedAnew(folder, number) : settledState(file, number);
  if (settled?.kind === "whole") return settled.state;
  const trace = sealedState(startedFile(folder, number), number);
  return {
    status: "damaged",
    number,
    file,
    problem: settled?.problem ?? "it is missing although the job has started",
    started: trace?.kind === "whole" ? trace.state : undefined,
  };
}

type SealedState =
  | { readonly kind: "whole"; readonly state: JobState }
  | Extract<Unsealed, { kind: "damaged" }>;

/** Undefined without a file. */
function sealedState(file: string, number: number): SealedState | undefined {
  const bytes = bytesOf(file);
  if (bytes === undefined) return undefined;
  const found = unsealed(file, bytes);
  if (found.kind === "damaged") return found;
  const state = found.value;
  if (!fits<JobState>(state, STATE)) return { kind: "damaged", problem: "it is no state of a job" };
  return state.number === number
    ? { kind: "whole", state }
    : { kind: "damaged", problem: `it is that of job #${state.number}` };
}

function bytesOf(file: string): Buffer | undefined {
  // Usually there is no file, and `statSync` costs a tenth of an error that is thrown and caught.
  if (!isThere(file)) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw aboutFile(error, file, file);
  }
}

const isThere = (file: string): boolean => statSync(file, { throwIfNoEntry: false }) !== undefined;

/** How often, a millisecond apart, a record that does not fit is read again: its writer needs less for all of it. */
const LOOKS = 5;

function settledState(file: string, number: number): SealedState | undefined {
  for (let looks = 1; ; looks++) {
    const found = sealedState(file, number);
    if (found?.kind === "whole" || looks === LOOKS) return found;
    pause();
  }
}

function lookedAnew(folder: string, number: number): SealedState | undefined {
  forgetMissingFiles(jobsFolder(folder));
  return sealedState(jobFile(folder, number), number);
}

/**
 * Invalidates an NFS client's cache of the files that a folder does not have: it may hide a record of another machine
 * for a minute. A change of its own to the folder does this.
 */
export function forgetMissingFiles(folder: string): void {
  const change = draftBeside(join(folder, "change"));
  try {
    mkdirSync(change);
    rmdirSync(change);
  } catch {
    // If the folder is absent or not writable, nothing can be recorded either; that is reported elsewhere.
  }
}

/**
 * Detects whether records of jobs may have changed, with one `stat` of their folder: each new state is a new file
 * there. The exception is a state that overwrites the old one on a full disk (`writeJobEnd`).
 *
 * @returns the numbers of the jobs with a record if any record may have changed since the last call; else undefined
 */
export function createRecordLook(folder: string): () => ReadonlySet<number> | undefined {
  const jobs = jobsFolder(folder);
  let previous: bigint | undefined;
  let looksLeft = 1;
  return () => {
    const now = statSync(jobs, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n;
    // Report a change twice: two changes within one tick of the file system's clock have the same time.
    looksLeft = now === previous ? looksLeft - 1 : 1;
    previous = now;
    return looksLeft < 0 ? undefined : recordedJobs(jobs);
  };
}

function recordedJobs(jobs: string): ReadonlySet<number> {
  try {
    return new Set(
      readdirSync(jobs).flatMap((name) => {
        const number = /^(\d+)\.json$/.exec(name)?.[1];
        return number === undefined ? [] : [Number(number)];
      }),
    );
  } catch {
    // There is no folder before the first job starts.
    return new Set();
  }
}

interface WriteOptions {
  /** Whether to survive a crash of the machine, not only of the process: a slower write. */
  readonly durable?: boolean;
}

export function writeJobState(
  folder: string,
  state: JobState,
  { durable = false }: WriteOptions = {},
): void {
  const file = jobFile(folder, state.number);
  makeInnerFolder(folder, dirname(file));
  const options = { mode: recordRights(folder).file };
  const content = sealedText(file, state);
  if (durable) writeFileDurableSync(file, content, options);
  else writeFileAtomicSync(file, content, options);
}

/**
 * Records that the process of a job begins with it: first its state, then a trace of that elsewhere, without which a lost state
 * would be that of a job that has not started. The trace is not written atomically: its name alone is proof enough.
 */
export function writeJobStart(folder: string, state: JobState, options: WriteOptions): void {
  writeJobState(folder, state, options);
  const file = startedFile(folder, state.number);
  makeInnerFolder(folder, dirname(file));
  try {
    writeFileSync(file, sealedText(file, state), { mode: recordRights(folder).file });
    shareFile(folder, file);
  } catch (error) {
    throw aboutFile(error, file, file);
  }
}

/**
 * Writes the state of a job that has just ended. If no new file can replace the old one, as on a full disk, it
 * overwrites the old state; otherwise the job would run again.
 *
 * @throws the system's error if that fails, too
 */
export function writeJobEnd(folder: string, state: JobState, options: WriteOptions): void {
  try {
    writeJobState(folder, state, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const file = jobFile(folder, state.number);
    overwriteFileSync(file, sealedText(file, state));
  }
}

/** Undoes a recorded start that failed. @param previous the state before it; undefined for none */
export function restoreJobState(
  folder: string,
  number: number,
  previous: JobState | undefined,
): void {
  if (previous !== undefined) writeJobState(folder, previous);
  else
    for (const file of [startedFile(folder, number), jobFile(folder, number)])
      rmSync(file, { force: true });
}

/** A job's state as it starts (again) in this process. */
export const begun = (
  number: number,
  previous: JobState | undefined,
  { details, id }: Pick<Attempt, "details" | "id"> = {},
): JobState => ({
  number,
  status: "running",
  attempts: [
    ...(previous?.attempts ?? []),
    {
      ...(id !== undefined && { id }),
      started: new Date().toISOString(),
      ended: null,
      uptime_ms: uptimeMs(),
      ...thisProcess(),
      exit_code: null,
      error: null,
      ...(details !== undefined && { details }),
    },
  ],
  return_value: null,
});

/** A job's state after its last attempt. */
export function ended(state: JobState, end: AttemptEnd): JobState {
  const last = state.attempts.at(-1);
  const { endedBy, exitCode } = end;
  const error = end.error ?? enderText(endedBy) ?? null;
  const status = endStatus(endedBy, exitCode === 0 && error === null);
  const ended = (end.time ?? new Date()).toISOString();
  const attempts =
    last === undefined
      ? []
      : [
          ...state.attempts.slice(0, -1),
          {
            ...last,
            ended,
            took_ms: tookMs(end.time === undefined ? last : { ...last, ended }),
            ended_by: endedBy,
            exit_code: exitCode,
            error,
          },
        ];
  return { ...state, status, attempts, return_value: end.returnValue ?? null };
}

/** Whether a scheduler runs an attempt; the scheduler itself reports its end. */
export const isScheduled = ({ details }: Attempt): boolean => details?.["scheduler"] !== undefined;

/** The notes of an attempt that a scheduler started. */
export const scheduledBy = ({ id }: { readonly id: string }): NonNullable<Attempt["details"]> => ({
  scheduler: id,
});

/** Who ended a job; undefined before its end. */
export function recordedEnder({ attempts, status }: JobState): Ender | undefined {
  if (status === "queued" || status === "running") return undefined;
  const last = attempts.at(-1);
  return last?.ended_by ?? earlyEnder(status, last);
}

/** Early versions recorded only the status, and 128 plus the number of a signal as exit code of what it stopped. */
function earlyEnder(status: JobStatus, last: Attempt | undefined): Ender {
  const isOfScheduler = last !== undefined && isScheduled(last);
  if (status === "timed_out")
    return isOfScheduler
      ? { by: "scheduler", cause: "time_limit" }
      : { by: "time_limit", limit_ms: last === undefined ? 0 : tookMs(last) };
  if (status !== "stopped") return { by: "itself" };
  if (isOfScheduler) return { by: "scheduler", cause: "unknown" };
  const code = last?.exit_code ?? null;
  const signal = INTERRUPTS.find((name) => signalCode(name) === code);
  return signal === undefined ? { by: "unknown" } : { by: "launcher", signal };
}

/** Whether a job has a final end: it is not missing. */
export const hasEnded = (state: JobState | DamagedState | undefined): state is JobState =>
  (state?.status !== "damaged" && isSettled(state?.status)) || hasFailed(state);

export const hasFailed = (state: JobState | DamagedState | undefined): state is JobState =>
  state?.status !== "damaged" && isFailure(state?.status);

/** How many attempts failed or took too long, rather than being stopped or ending with their launcher. */
export const timesFailed = ({ attempts }: JobState): number =>
  attempts.filter(
    ({ ended, ended_by = ITSELF }) => ended !== null && isFailure(endStatus(ended_by, false)),
  ).length;

/**
 * Milliseconds of the machine's uptime, on a monotonic clock that all its processes share. It stands still while the
 * machine is suspended: a job does nothing then, and durations should be comparable.
 */
export const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/**
 * Milliseconds that an attempt took, or has taken so far. A change of the machine's time does not affect it; only
 * attempts of other machines or early versions are measured by the time of day.
 */
export function tookMs(attempt: Attempt): number {
  const { ended, started, took_ms, uptime_ms } = attempt;
  if (took_ms !== undefined) return took_ms;
  if (ended === null && uptime_ms !== undefined && isOfThisBoot(attempt))
    return Math.max(0, uptimeMs() - uptime_ms);
  const end = ended === null ? Date.now() : Date.parse(ended);
  // The start time may come from another machine, whose clock is ahead of ours.
  return Math.max(0, end - Date.parse(started));
}
