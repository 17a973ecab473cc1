/** Plans job arrays and submits them. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, isConfigError } from "../../../engine/values/errors.ts";
import { writeFileAtomicSync } from "../../../foundation/system/atomic-write.ts";
import { shellQuote } from "../../../foundation/text/shell-words.ts";
import { WORKER_VARIABLE } from "../../job/process/invocation.ts";
import { readJobState } from "../../record/job-state.ts";
import type { SweepFacts } from "../../record/manifest.ts";
import { makeInnerFolder } from "../../record/rights.ts";
import { batchScript, keyGiven, MEMORY_OPTIONS, sbatchOptions } from "./batch-script.ts";
import type { SlurmClient } from "./client.ts";
import { busy, busyForNow } from "./slurm-errors.ts";
import type { SlurmSettings } from "./slurm-settings.ts";
import { adoptSubmissions } from "./slurm-sweep.ts";
import {
  noteSubmissions,
  readSubmissions,
  slurmFolder,
  taskName,
  timeoutFolder,
} from "./submissions.ts";
import { phaseOf } from "./task-state.ts";

export interface SubmitRequest {
  readonly client: SlurmClient;
  /** The settings of the sweep, which limit how many of its jobs run at a time. */
  readonly settings: SlurmSettings;
  readonly facts: SweepFacts;
  /** The absolute path of the sweep's `.sweep` folder. */
  readonly folder: string;
  /** The jobs to submit. */
  readonly groups: readonly JobGroup[];
  readonly retry: RetryPolicy;
  /** What the workers trust (`Invocation`). */
  readonly trust?: string;
}

/** Jobs with the same resource request. */
export interface JobGroup {
  readonly settings: SlurmSettings;
  /** Their numbers. */
  readonly numbers: readonly number[];
}

/**
 * Submits jobs to Slurm: for each group an array, or several if it has more jobs than `MaxArraySize`. The arrays run in
 * parallel and share `array_parallelism`, so that no more jobs run at a time (`planArrays`). Each array is recorded
 * before and after it is submitted: whatever happens in between, it is found again by its script. If Slurm accepts
 * nothing for now, this retries.
 *
 * @returns Slurm's numbers of the arrays
 * @throws ConfigError `slurm/missing`, `slurm/rejected`, `slurm/full`, `slurm/no_answer`, `slurm/busy`; all arrays
 * known by then are cancelled, unless Slurm does not accept that either
 */
export async function submitJobs(request: SubmitRequest): Promise<readonly string[]> {
  const { client, folder, facts, groups, retry, settings } = request;
  const command = restartable(facts);
  for (const inner of [slurmFolder(folder), timeoutFolder(folder)]) makeInnerFolder(folder, inner);
  const size = await withRetry(() => client.maxArraySize(), retry);
  const arrays: string[] = [];
  for (const planned of planArrays(groups, size, settings.array_parallelism))
    try {
      await submitArray(request, { command, planned, arrays });
    } catch (error) {
      // A Slurm that accepts nothing now may not cancel either: then the arrays continue, and --resume follows them.
      await client.cancel(arrays).catch((other: unknown) => {
        if (!isBusy(error)) throw other;
      });
      throw error;
    }
  return arrays;
}

/** An array to submit. */
export interface PlannedArray extends JobGroup {
  /** How many of its jobs run at a time. */
  readonly parallelism: number;
  /** The index, among all arrays, of the one that has to end before it; undefined for none. */
  readonly after: number | undefined;
}

/**
 * The arrays of a sweep. If there are no more arrays than jobs may run at a time, all run in parallel: each gets a
 * share of that number, in proportion to its jobs, so that a slow job delays no other. Further arrays each wait for
 * another one to end.
 *
 * @param size the most jobs of an array
 * @param limit how many jobs may run at a time
 */
export function planArrays(
  groups: readonly JobGroup[],
  size: number,
  limit: number,
): readonly PlannedArray[] {
  const parts = groups.flatMap(({ numbers, settings }) => {
    const count = Math.ceil(numbers.length / size);
    return Array.from({ length: count }, (_, index) => ({
      settings,
      numbers: numbers.slice(
        Math.floor((index * numbers.length) / count),
        Math.floor(((index + 1) * numbers.length) / count),
      ),
    }));
  });
  const all = parts.reduce((sum, { numbers }) => sum + numbers.length, 0);
  if (all <= limit || parts.length === 1)
    return parts.map((part) => ({ ...part, parallelism: limit, after: undefined }));
  if (parts.length > limit)
    return parts.map((part, index) => ({
      ...part,
      parallelism: 1,
      after: index < limit ? undefined : index - limit,
    }));
  // One for each array; the rest in proportion to the cumulative number of jobs, so that the sum is the limit.
  const others = limit - parts.length;
  let jobsBefore = 0;
  return parts.map((part) => {
    const upTo = jobsBefore + part.numbers.length;
    const share = Math.floor((others * upTo) / all) - Math.floor((others * jobsBefore) / all);
    jobsBefore = upTo;
    return { ...part, parallelism: 1 + share, after: undefined };
  });
}

/** An array with jobs that are not over. */
export interface RunningArray {
  readonly array: string;
  /** The number of its unfinished jobs. */
  readonly left: number;
  /** How many of them may run at a time. */
  readonly parallelism: number;
}

/**
 * Redistributes the part of the limit that arrays do not need, because they are over or have fewer jobs left than may
 * run, to the arrays with the most waiting jobs.
 *
 * @param limit how many jobs of all arrays may run at a time
 * @returns the arrays that get more
 */
export function passOnShares(
  arrays: readonly RunningArray[],
  limit: number,
): readonly RunningArray[] {
  const shares = arrays.map((array) => ({ array, share: Math.min(array.parallelism, array.left) }));
  let free = shares.reduce((rest, { share }) => rest - share, limit);
  for (; free > 0; free--) {
    const [neediest] = shares.toSorted((a, b) => b.array.left - b.share - (a.array.left - a.share));
    if (neediest === undefined || neediest.share >= neediest.array.left) break;
    neediest.share++;
  }
  return shares.flatMap(({ array, share }) =>
    share > array.parallelism ? [{ ...array, parallelism: share }] : [],
  );
}

/** The input for submitting an array. */
interface ArrayRequest {
  /** The command that starts the program. */
  readonly command: readonly string[];
  readonly planned: PlannedArray;
  /** Slurm's job numbers of the arrays submitted so far; this array's is appended once Slurm has given it. */
  readonly arrays: string[];
}

/** If Slurm may have accepted an attempt, the array is searched for before the next one. */
async function submitArray(request: SubmitRequest, array: ArrayRequest): Promise<void> {
  const { client, folder, retry } = request;
  let script: string | undefined;
  let isLastTry = false;
  return withRetry(async () => {
    const found = script === undefined ? undefined : await foundAfterAll(folder, client, script);
    if (found !== undefined) {
      array.arrays.push(found);
      return;
    }
    script = join(slurmFolder(folder), `${randomUUID()}.sh`);
    try {
      await tryToSubmit(request, array, script);
    } catch (error) {
      if (!isFull(error) || isLastTry) throw error;
      const ended = endedTasks(folder);
      if (ended.size === 0) throw error;
      // Jobs that left between the two answers have made room.
      isLastTry = !(await areLeaving(ended, client));
      throw busyForNow(error);
    }
  }, retry);
}

const isFull = (error: unknown): error is ConfigError =>
  isConfigError(error) && error.code === "slurm/full";

/** The tasks of the sweep whose jobs have recorded their end, with their arrays: their scripts may still be running. */
function endedTasks(folder: string): ReadonlyMap<string, string> {
  const ended = new Map<string, string>();
  for (const { array, jobs } of readSubmissions(folder)) {
    if (array === null) continue;
    for (const [index, { attempts, number }] of jobs.entries()) {
      const last = readJobState(folder, number)?.attempts.slice(attempts).at(-1);
      if (last !== undefined && last.ended !== null) ended.set(taskName({ array, index }), array);
    }
  }
  return ended;
}

/** Whether any of them still counts as a submitted job; while Slurm does not answer, they may. */
async function areLeaving(
  ended: ReadonlyMap<string, string>,
  client: SlurmClient,
): Promise<boolean> {
  const queue = await client.tasks([...new Set(ended.values())]);
  return queue?.some((task) => phaseOf(task) === "running" && ended.has(taskName(task))) ?? true;
}

/**
 * The array that a script was submitted as; undefined if there is none and there will be none.
 *
 * @throws ConfigError `slurm/busy` if that cannot be decided yet
 */
async function foundAfterAll(
  folder: string,
  client: SlurmClient,
  script: string,
): Promise<string | undefined> {
  try {
    await adoptSubmissions(folder, client);
  } catch (error) {
    throw isConfigError(error) && error.code === "slurm/no_answer" ? busy(error.message) : error;
  }
  return (
    readSubmissions(folder).find((submission) => submission.script === script)?.array ?? undefined
  );
}

async function tryToSubmit(
  { client, facts, folder, trust }: SubmitRequest,
  { arrays, command, planned }: ArrayRequest,
  script: string,
): Promise<void> {
  const { numbers, parallelism, settings } = planned;
  const dependency = planned.after === undefined ? undefined : arrays[planned.after];
  const options = sbatchOptions(settings, {
    size: numbers.length,
    parallelism,
    cwd: facts.cwd,
    log: { folder: slurmFolder(folder), name: "%A_%a.log" },
    ...(dependency !== undefined && { after: dependency }),
  });
  const text = batchScript(settings, {
    jobs: numbers,
    command: [...command, ...facts.program.argv],
    variable: { name: WORKER_VARIABLE, rest: folder },
    path: script,
    timeoutFolder: timeoutFolder(folder),
    slurmLog: `${shellQuote(slurmFolder(folder))}/"$id".log`,
    ...(trust !== undefined && { trust }),
  });
  writeFileAtomicSync(script, text, { mode: 0o700 });
  const jobs = numbers.map((number) => ({
    number,
    attempts: readJobState(folder, number)?.attempts.length ?? 0,
  }));
  const memory_key = keyGiven(options, MEMORY_OPTIONS);
  const made = { script, array: null, jobs, logs: settings.submitit_folder, parallelism };
  noteSubmissions(folder, [{ ...made, ...(memory_key !== undefined && { memory_key }) }]);
  try {
    const array = await client.submit(options, script);
    arrays.push(array);
    noteSubmissions(folder, [{ script, array }]);
  } catch (error) {
    // An array that exists or may exist is searched for by its script.
    const isRefused = isConfigError(error) && !MAY_BE_THERE.has(error.code);
    if (isRefused) noteSubmissions(folder, [{ script, given_up: true }]);
    throw error;
  }
}

/** Errors after which Slurm may still have accepted the array. */
const MAY_BE_THERE: ReadonlySet<string> = new Set(["slurm/no_answer", "slurm/busy"]);

/** @throws ConfigError `app.launcher` for a program that a cluster cannot start */
function restartable({ holds_secrets, program }: SweepFacts): readonly string[] {
  if (program.command === null)
    throw new ConfigError({
      code: "app.launcher",
      message: `The Slurm launcher cannot start '${program.name}' on other nodes: it was not started as a script`,
      key: "hydra/launcher",
      hint: "use hydra/launcher=basic",
    });
  if (holds_secrets)
    throw new ConfigError({
      code: "app.launcher",
      message: "The command line contains a secret, which a batch script would show",
      key: "hydra/launcher",
      hint: "pass it through the environment: password=${oc.env:PASSWORD}",
    });
  return program.command;
}

/** How to wait for a Slurm that accepts no jobs for now. */
interface RetryPolicy {
  /** Called with a line about each wait. */
  readonly say: (line: string) => void;
  /** Ends the wait: no further attempt follows. */
  readonly signal?: AbortSignal;
  /** Waits for milliseconds, or until the signal aborts. */
  readonly pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

/** Five minutes in all: the time of a controller's restart with a long queue. */
const PAUSES_S = [1, 2, 4, 8, 15, 30, 60, 60, 60, 60];

/**
 * Retries until Slurm accepts, or the pauses are used up.
 *
 * @throws any error of an attempt except `slurm/busy`; that one after the last retry, or when the signal aborts
 */
export async function withRetry<T>(attempt: () => Promise<T>, retry: RetryPolicy): Promise<T> {
  const { pause = pauseFor, say, signal } = retry;
  const isStopped = () => signal?.aborted === true;
  for (let tries = 0; ; tries++)
    try {
      return await attempt();
    } catch (error) {
      const seconds = PAUSES_S[tries];
      if (seconds === undefined || !isBusy(error) || isStopped()) throw error;
      say(`${error.message}; trying again in ${seconds} s`);
      await pause(seconds * 1000, signal);
      if (isStopped()) throw error;
    }
}

const isBusy = (error: unknown): error is Error =>
  isConfigError(error) && error.code === "slurm/busy";

const pauseFor = (milliseconds: number, signal?: AbortSignal): Promise<unknown> =>
  sleep(milliseconds, undefined, signal && { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
