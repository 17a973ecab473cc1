import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import type { JobStatus } from "../job/job.ts";
import {
  aboutFile,
  overwriteFileSync,
  writeFileAtomicSync,
  writeFileDurableSync,
} from "../system/atomic-write.ts";
import { errorCode, isSystemError } from "../system/files.ts";
import { isOfThisBoot, type ProcessIdentity, thisProcess } from "../system/process-identity.ts";
import {
  amount,
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
} from "../system/shape.ts";
import { MAX_TREE_DEPTH } from "../values/node.ts";
import { jobFile, jobsFolder } from "./layout.ts";

/** Lists and objects within each other beyond this are kept as a text. */
export const MAX_STORED_DEPTH = MAX_TREE_DEPTH;

/**
 * A value as JSON can hold it: integers beyond JSON's, `inf` and `nan` as texts, what has no form at
 * all or is nested too deeply as its text, nothing as null; without secrets.
 */
export function storedValue(value: unknown, redact: (text: string) => string = same): unknown {
  if (value === undefined) return null;
  try {
    const text = redact(JSON.stringify(value, replace) ?? JSON.stringify(String(value)));
    const stored = parsed(text);
    return isShallow(stored) ? stored : text;
  } catch {
    return redact(textOfStoredValue(value));
  }
}

const isShallow = nestedUpTo(MAX_STORED_DEPTH);

/** Of lists that hold each other thousands of times there is none. */
function textOfStoredValue(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "a value that cannot be shown";
  }
}

const same = (text: string): string => text;

function replace(_: string, value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** A masked number is no JSON any more: then the whole is a text. */
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
  readonly status: JobStatus;
  /** One for each time it was started; the last one is what `status` is about. */
  readonly attempts: readonly Attempt[];
  /** What the task returned, as JSON; null before, and where there is nothing. */
  readonly return_value: unknown;
}

export interface Attempt extends ProcessIdentity {
  /** Names the start, where another process notes it than the one that runs the job. */
  readonly id?: string;
  /** ISO 8601. */
  readonly started: string;
  readonly ended: string | null;
  /** When it started, in milliseconds since its machine did. Not there in records of early versions. */
  readonly uptime_ms?: number;
  /**
   * How long it took, whatever became of the time of day; while its machine is suspended this clock stands still. Not there before its
   * end, and in records of early versions.
   */
  readonly took_ms?: number;
  /** Null before its end, and for a process that a signal killed. */
  readonly exit_code: number | null;
  /** The first line of what went wrong; null where nothing did. */
  readonly error: string | null;
  /** The launcher's own notes: a scheduler's name of the job, the slots it took. */
  readonly details?: Readonly<Record<string, string>>;
}

const ATTEMPT: Shape<Attempt> = {
  id: maybe(text),
  started: time,
  ended: orNull(time),
  uptime_ms: maybe(amount),
  took_ms: maybe(amount),
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
  status: oneOf("queued", "running", "completed", "failed", "stopped", "timed_out"),
  attempts: listOf(objectOf(ATTEMPT)),
  return_value: nestedUpTo(MAX_STORED_DEPTH),
};

/** How an attempt ended. */
export interface AttemptEnd {
  readonly status: Exclude<JobStatus, "queued" | "running">;
  readonly exitCode: number | null;
  readonly error?: string;
  readonly returnValue?: unknown;
  /** When; now, where nothing else is known. */
  readonly at?: Date | undefined;
}

/**
 * Undefined for a job that was not started, and for a file that a dying machine left half written.
 *
 * @throws the system's error where there is a file that cannot be read: taken for none, a completed job would run again
 */
export function readJobState(folder: string, number: number): JobState | undefined {
  const text = textOf(jobFile(folder, number));
  if (text === undefined) return undefined;
  try {
    const state: unknown = JSON.parse(text);
    return fits<JobState>(state, STATE) && state.number === number ? state : undefined;
  } catch {
    return undefined;
  }
}

function textOf(file: string): string | undefined {
  // Most often there is none, and asking costs a tenth of an error that is thrown and caught.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw aboutFile(error, file, file);
  }
}

/**
 * Tells who waits for many jobs whether to look at their records, by one look at the folder that has them all: each new state comes
 * as a new file there. Not told is only what is written over an old one on a full disk (`writeJobEnd`).
 *
 * @returns the numbers of the jobs that have files there, where any may have changed since the look before; undefined where none has
 */
export function createRecordLook(folder: string): () => ReadonlySet<number> | undefined {
  const jobs = jobsFolder(folder);
  let before: bigint | undefined;
  let looksLeft = 1;
  return () => {
    const now = statSync(jobs, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n;
    // Once more after a change: of two within one tick of the file system's clock, it tells only one.
    looksLeft = now === before ? looksLeft - 1 : 1;
    before = now;
    return looksLeft < 0 ? undefined : recordedJobs(jobs);
  };
}

function recordedJobs(jobs: string): ReadonlySet<number> {
  try {
    return new Set(
      readdirSync(jobs).flatMap((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? [])),
    );
  } catch {
    // There is none before the first job has begun.
    return new Set();
  }
}

interface WriteOptions {
  /** Whether it is to survive the machine, not only the process: a slower write. */
  readonly durable?: boolean;
}

export const writeJobState = (
  folder: string,
  state: JobState,
  { durable = false }: WriteOptions = {},
): void =>
  (durable ? writeFileDurableSync : writeFileAtomicSync)(
    jobFile(folder, state.number),
    stateText(state),
  );

/**
 * The same for a job that has just ended, whose state stands there as it began: where no new file can be put in its place, as on a disk
 * that has become full, it is written over that, for else the job, hours of work, would run again.
 *
 * @throws the system's error where that fails, too
 */
export function writeJobEnd(folder: string, state: JobState, options: WriteOptions): void {
  try {
    writeJobState(folder, state, options);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    overwriteFileSync(jobFile(folder, state.number), stateText(state));
  }
}

/** Takes back a start that was noted, and that came to nothing. @param before what was there; undefined for nothing */
export const restoreJobState = (
  folder: string,
  number: number,
  before: JobState | undefined,
): void => {
  if (before === undefined) rmSync(jobFile(folder, number), { force: true });
  else writeJobState(folder, before);
};

const stateText = (state: JobState): string => `${JSON.stringify(state)}\n`;

/** A job's state as it starts (again) in this process. */
export const begun = (
  number: number,
  before: JobState | undefined,
  { details, id }: Pick<Attempt, "details" | "id"> = {},
): JobState => ({
  number,
  status: "running",
  attempts: [
    ...(before?.attempts ?? []),
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
  const ended = (end.at ?? new Date()).toISOString();
  const attempts =
    last === undefined
      ? []
      : [
          ...state.attempts.slice(0, -1),
          {
            ...last,
            ended,
            took_ms: tookMs(end.at === undefined ? last : { ...last, ended }),
            exit_code: end.exitCode,
            error: end.error ?? null,
          },
        ];
  return { ...state, status: end.status, attempts, return_value: end.returnValue ?? null };
}

/** Whether a job came to an end that counts: it is not missing. */
export const hasEnded = (state: JobState | undefined): state is JobState =>
  state?.status === "completed" || hasFailed(state);

export const hasFailed = (state: JobState | undefined): state is JobState =>
  state?.status === "failed" || state?.status === "timed_out";

/** How many attempts came to an end of their own, and not to that of their launcher. */
export const timesEnded = ({ attempts }: JobState): number =>
  attempts.filter((attempt) => attempt.ended !== null).length;

/**
 * Milliseconds since this machine began, on a monotonic clock that all its processes share. While the machine is suspended it
 * stands still: a job does nothing then, and its time is to be compared with that of others.
 */
const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/**
 * Milliseconds that an attempt took, or has taken so far. Setting the machine's time meanwhile does not change it; only what another
 * machine began, or an early version recorded, is told by the times of day.
 */
export function tookMs(attempt: Attempt): number {
  const { ended, started, took_ms, uptime_ms } = attempt;
  if (took_ms !== undefined) return took_ms;
  if (ended === null && uptime_ms !== undefined && isOfThisBoot(attempt))
    return Math.max(0, uptimeMs() - uptime_ms);
  const end = ended === null ? Date.now() : Date.parse(ended);
  // The clock that said when it started may be another machine's, and ahead of ours.
  return Math.max(0, end - Date.parse(started));
}
