import { existsSync, rmSync } from "node:fs";
import type { Composition } from "../compose/index.ts";
import type { JobResult } from "../job/job.ts";
import type { PlannedJob, SweepJob } from "../job/plan-job.ts";
import type { Resumption } from "../job/process/invocation.ts";
import type { Claim } from "../system/process-claim.ts";
import { ConfigError } from "../values/errors.ts";
import { configFingerprint } from "../values/fingerprint.ts";
import { removeDraftsOfSweep } from "./cleanup.ts";
import {
  hasEnded,
  hasFailed,
  type JobState,
  readJobState,
  timesEnded,
  writeJobState,
} from "./job-state.ts";
import { claimSweep, clearCancellation } from "./launcher-claim.ts";
import { jobLog, jobsFolder, launcherFolders, manifestFile, sweepFolder } from "./layout.ts";
import { type ManifestJob, readManifest, type SweepFacts } from "./manifest.ts";
import { resultOf } from "./recorded-job.ts";
import { createWrittenRecord, type Redact } from "./written-record.ts";

/** The record of a sweep while it runs. */
export interface SweepRecord {
  /** The absolute path of the `.sweep` folder. */
  readonly folder: string;
  /** Whether the sweep was begun by an earlier call. */
  readonly isResumed: boolean;
  /** What the sweep is. Whether it holds secrets is known once its jobs are admitted. */
  facts(): SweepFacts;
  /**
   * The number of the job that is planned next: its place in a new sweep; in one that goes on the number that it was
   * recorded with, or a new one.
   * @throws ConfigError `app.sweep_changed` for a job that has come in place of another one, `app.sweep_record`
   * while another process runs the sweep
   */
  numberOf(place: number, overrides: readonly string[]): number;
  /**
   * Those of a batch that have to run: all of a new sweep. What a resumed one still has to do is only
   * known while no other process runs it, so that it is claimed by then.
   * @throws ConfigError `app.sweep_changed` for jobs that are not what they were, `app.sweep_record`
   * while another process runs the sweep
   */
  due(jobs: readonly SweepJob[]): readonly SweepJob[];
  /**
   * Writes the jobs of a batch into the manifest, before the first of them starts.
   * @param mayFollow whether the sweep may have other jobs after them
   * @throws ConfigError `app.sweep_record` while another process runs the sweep
   */
  admit(jobs: readonly SweepJob[], mayFollow: boolean): void;
  /**
   * The end of a job that ran when this sweep was resumed, in a worker that another launcher left, and has
   * come to it since: it is due no more. Undefined for all others.
   */
  endedSince(job: SweepJob): JobResult | undefined;
  /** The outcome of a job, from its record; undefined before its end. */
  resultOf(job: SweepJob): JobResult | undefined;
  /**
   * Notes, once no other job is admitted, which of those that were recorded are none of the sweep any more, and masks what has
   * turned out to be a secret since it was written.
   * @param isWhole whether the sweeper was asked for all its jobs
   */
  conclude(isWhole: boolean): void;
  /** Notes, at the end, that the sweeper counts failed jobs as no failure of the sweep. */
  tolerateFailures(): void;
  /** Lets another process drive the sweep, which takes the record up itself. */
  handOver(pid: number): void;
  release(): void;
}

export interface RecordRequest {
  /** What the sweep is, but for its jobs. */
  readonly sweep: Omit<SweepFacts, "holds_secrets">;
  readonly resumption?: Resumption;
  /** Whether its jobs depend on results: they may then be others than at first. */
  readonly isSearch: boolean;
  /** Why a job has failed that is completed, as the sweeper sees it; undefined for others. */
  readonly problemOf?: (result: JobResult) => string | undefined;
  /** How often a job that failed starts again. */
  readonly retries: number;
  readonly redact?: Redact;
  /** Of how many secrets `redact` knows. */
  readonly secretsKnown?: () => number;
  /** Called once the sweep is this process's, and its first jobs are in the manifest. */
  readonly onAdmitted?: () => void;
}

/** Opens the record of a sweep, new or resumed. Nothing is written before jobs are admitted. */
export function openRecord(request: RecordRequest): SweepRecord {
  const { isSearch, onAdmitted, problemOf, redact, resumption, retries, secretsKnown, sweep } =
    request;
  const folder = sweepFolder(sweep.directory);
  let isAdmitted = false;
  let claim: Claim | undefined;
  let earlier: Earlier | undefined;
  const ran = new Set<number>();
  const written = createWrittenRecord({
    folder,
    sweep,
    leftOver: () => earlier?.numbering.leftOver() ?? [],
    ...(redact && { redact }),
    ...(secretsKnown && { secretsKnown }),
  });

  const enter = (): void => {
    if (claim !== undefined) return;
    claim = claimSweep(folder);
    removeDraftsOfSweep(folder);
    clearCancellation(folder);
    // What an earlier sweep left in this directory is no part of this one.
    if (resumption === undefined)
      for (const old of [jobsFolder(folder), ...launcherFolders(folder)])
        rmSync(old, { recursive: true, force: true });
  };

  /** What there was is only known while no other process adds to it. */
  const earlierSweep = (): Earlier => {
    enter();
    if (earlier === undefined) {
      const { jobs } = readManifest(folder);
      const known = new Map(jobs.map((job) => [job.number, job]));
      earlier = { jobs: known, numbering: createNumbering(jobs), fresh: new Set() };
    }
    return earlier;
  };

  /** Undefined for a new sweep, whose jobs all run. */
  const again =
    resumption &&
    selectJobs({ folder, resumption, isSearch, retries, ...(problemOf && { problemOf }) });

  return {
    folder,
    isResumed: resumption !== undefined,
    facts: written.facts,
    numberOf(place, overrides) {
      if (again === undefined) return place;
      const { fresh, numbering } = earlierSweep();
      const { number, recorded } = numbering.numberOf(place, overrides);
      if (recorded !== undefined) return number;
      fresh.add(number);
      const displaced = numbering.displacedAt(place);
      if (displaced === undefined || again.acceptChanges) return number;
      if (!again.mayAskForOthers(written.admitted())) throw changed(displaced);
      return number;
    },
    due(jobs) {
      if (again === undefined) return jobs;
      const { fresh, jobs: known } = earlierSweep();
      for (const job of jobs) refuseChanged(job, known.get(job.number), again);
      return jobs.filter((job) => {
        // What a search asks for since it was told other results was never recorded as missing or failed.
        if (isSearch && fresh.has(job.number)) return true;
        const state = readJobState(folder, job.number);
        if (state?.status === "running") ran.add(job.number);
        return again.isDue(job, state);
      });
    },
    admit(jobs, mayFollow) {
      enter();
      written.admit(jobs.map(manifestJob), mayFollow);
      for (const job of jobs) again?.markUseless(job);
      if (!isAdmitted) onAdmitted?.();
      isAdmitted = true;
    },
    endedSince: (job) =>
      ran.has(job.number) && hasEnded(readJobState(folder, job.number))
        ? recordedResult(folder, job)
        : undefined,
    resultOf: (job) => recordedResult(folder, job),
    conclude: written.conclude,
    tolerateFailures: written.tolerateFailures,
    handOver: (pid) => claim?.handOver(pid, { awaited: true }),
    release: () => claim?.release(),
  };
}

/** A sweep as it was recorded. */
interface Earlier {
  readonly jobs: ReadonlyMap<number, ManifestJob>;
  readonly numbering: Numbering;
  /** Numbers of jobs that it has never had. */
  readonly fresh: Set<number>;
}

const manifestJob = (job: SweepJob): ManifestJob => ({
  number: job.number,
  ...(job.id !== undefined && job.id !== String(job.number) && { id: job.id }),
  overrides: job.typed ?? job.composition.overrides.map(({ origin }) => origin.text),
  task_overrides: job.overrides,
  output_dir: job.outputDir,
  fingerprint: jobFingerprint(job),
});

function refuseChanged(
  job: SweepJob,
  recorded: ManifestJob | undefined,
  { acceptChanges }: Pick<Resumption, "acceptChanges">,
): void {
  if (acceptChanges || recorded === undefined || recorded.fingerprint === jobFingerprint(job))
    return;
  throw changed(recorded);
}

const changed = ({ number, task_overrides }: ManifestJob): ConfigError =>
  new ConfigError({
    code: "app.sweep_changed",
    message: `The config of job #${number} (${task_overrides.join(" ")}) differs from the one that the sweep started with`,
    hint: "restore the config, or resume with --accept-changes: finished jobs are kept",
  });

/** Whether a directory holds a recorded sweep. */
export const isRecorded = (directory: string): boolean =>
  existsSync(manifestFile(sweepFolder(directory)));

/** What number a job of a sweep that goes on has. */
export interface JobNumber {
  readonly number: number;
  /** Not there for a job that the sweep has never had. */
  readonly recorded?: ManifestJob;
}

/** Gives the jobs of a sweep that goes on the numbers that they had when it was recorded. */
interface Numbering {
  /**
   * A job goes by its overrides: the one that stood at the same place, else another one with the same overrides,
   * else it is new and gets a number that none has had. So a job stays itself, with its directory and its result, when
   * a search asks for others than it did at first.
   *
   * @param place of the job in the sweep, from 0
   * @param overrides of the task
   */
  numberOf(place: number, overrides: readonly string[]): JobNumber;
  /** The recorded job at a place, unless it has its number again. */
  displacedAt(place: number): ManifestJob | undefined;
  /** The jobs that have not been requested again so far. */
  leftOver(): readonly ManifestJob[];
}

function createNumbering(before: readonly ManifestJob[]): Numbering {
  const given = new Set<number>();
  const byOverrides = new Map<string, ManifestJob[]>();
  for (const job of before) {
    const key = keyOf(job.task_overrides);
    byOverrides.set(key, [...(byOverrides.get(key) ?? []), job]);
  }
  let next = before.reduce((most, { number }) => Math.max(most, number), -1) + 1;
  return {
    numberOf(place, overrides) {
      const key = keyOf(overrides);
      const same = (byOverrides.get(key) ?? []).filter(({ number }) => !given.has(number));
      const recorded = same.find((job) => job === before[place]) ?? same[0];
      const number = recorded?.number ?? next++;
      given.add(number);
      return recorded === undefined ? { number } : { number, recorded };
    },
    displacedAt: (place) => {
      const job = before[place];
      return job !== undefined && !given.has(job.number) ? job : undefined;
    },
    leftOver: () => before.filter(({ number }) => !given.has(number)),
  };
}

const keyOf = (overrides: readonly string[]): string => JSON.stringify(overrides);

/**
 * Names the config of a job as it was composed, interpolations as written: what files and overrides
 * decide. What the machine decides (`${oc.env:...}`) may differ where the job runs.
 */
export const jobFingerprint = (job: PlannedJob & Partial<Pick<SweepJob, "fingerprint">>): string =>
  job.fingerprint ?? configFingerprint(job.tree, job.outputDir);

/** The same of a sweep's own composition. */
export const sweepFingerprint = ({ config }: Composition, directory: string): string =>
  configFingerprint(config, directory);

// Which jobs of a recorded sweep run again when it goes on.

interface JobSelection {
  /** Whether a job may have another config than it was recorded with. */
  readonly acceptChanges: boolean;
  /** Whether a job that was recorded, with the state given, is to run. */
  isDue(job: SweepJob, state: JobState | undefined): boolean;
  /**
   * Whether results that a search was told at first are others now, or mean another thing: then its jobs may be others, too.
   * @param admitted the jobs of this call so far
   */
  mayAskForOthers(admitted: readonly { readonly number: number }[]): boolean;
  /** Records a job as failed that is completed, where the sweeper takes it for that: what is completed never runs. */
  markUseless(job: SweepJob): void;
}

interface JobSelectionRequest {
  /** The absolute path of the `.sweep` folder. */
  readonly folder: string;
  readonly resumption: Resumption;
  readonly isSearch: boolean;
  /** Why a job has failed that is completed, as the sweeper sees it; undefined for others. */
  readonly problemOf?: (result: JobResult) => string | undefined;
  /** How often a job that failed starts again. */
  readonly retries: number;
}

function selectJobs(request: JobSelectionRequest): JobSelection {
  const { folder, isSearch, problemOf, resumption, retries } = request;

  /** Of a job that is to run again although it is completed: why. */
  const uselessOf = (job: SweepJob): string | undefined => {
    if (!resumption.failed || problemOf === undefined) return undefined;
    const result = recordedResult(folder, job);
    return result && problemOf(result);
  };

  return {
    acceptChanges: resumption.acceptChanges,
    isDue(job, state) {
      if (!hasEnded(state)) return resumption.missing;
      if (!hasFailed(state)) return uselessOf(job) !== undefined;
      // An earlier launcher came to its own end before it could start the job again.
      const mayStartAgain = timesEnded(state) <= retries;
      return resumption.failed || (resumption.missing && mayStartAgain);
    },
    mayAskForOthers(admitted) {
      if (!isSearch) return false;
      if (resumption.failed || resumption.judgesAnew === true) return true;
      return admitted.some(
        ({ number }) => (readJobState(folder, number)?.attempts.length ?? 0) > 1,
      );
    },
    markUseless(job) {
      const error = uselessOf(job);
      const state = error === undefined ? undefined : readJobState(folder, job.number);
      const last = state?.attempts.at(-1);
      if (error === undefined || state === undefined || last === undefined) return;
      const attempts = [...state.attempts.slice(0, -1), { ...last, error }];
      writeJobState(folder, { ...state, status: "failed", attempts }, { durable: true });
    },
  };
}

/** The outcome of a job, from its record; undefined before its end. */
function recordedResult(folder: string, job: SweepJob): JobResult | undefined {
  const log = jobLog(folder, job.number);
  const result = resultOf(folder, job, (message) => new ConfigError({ code: "app.job", message }));
  return result && existsSync(log) ? { ...result, log } : result;
}
