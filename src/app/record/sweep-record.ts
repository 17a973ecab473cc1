/** The record of a sweep while it runs: new or resumed. */
import { existsSync, rmSync } from "node:fs";
import type { Composition } from "../../engine/compose/index.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { configFingerprint } from "../../engine/values/fingerprint.ts";
import type { Claim } from "../../foundation/system/process-claim.ts";
import { type Continuation, withoutResumption } from "../job/checkpoint.ts";
import { isSettled } from "../job/ender.ts";
import type { JobResult } from "../job/job.ts";
import type { PlannedJob, SweepJob } from "../job/plan-job.ts";
import type { Resumption } from "../job/process/invocation.ts";
import { removeDraftsOfSweep } from "./cleanup.ts";
import { acceptDamaged, refuseDamaged } from "./damage.ts";
import {
  hasEnded,
  hasFailed,
  type JobState,
  readJobState,
  timesFailed,
  writeJobState,
} from "./job-state.ts";
import { claimSweep, clearCancellation, refuseIfLost } from "./launcher-claim.ts";
import {
  jobLog,
  jobsFolder,
  launcherFolders,
  manifestFile,
  startedFolder,
  sweepFolder,
} from "./layout.ts";
import { type ManifestJob, readManifest, type SweepFacts } from "./manifest.ts";
import { resultOf } from "./recorded-job.ts";
import { makeRecordFolder } from "./rights.ts";
import { createWrittenRecord, type Redact } from "./written-record.ts";

/** The record of a sweep while it runs. */
export interface SweepRecord {
  /** The absolute path of the `.sweep` folder. */
  readonly folder: string;
  /** Whether an earlier call began the sweep. */
  readonly isResumed: boolean;
  /** The mode bits of `hydra.sweep.mode`. */
  readonly mode?: number;
  /** The facts about the sweep. Whether it holds secrets is known once its jobs are admitted. */
  facts(): SweepFacts;
  /**
   * The number of the next planned job: its place in a new sweep; in a resumed one its recorded number, or a new one.
   * @param continuation the earlier job that it continues
   * @throws ConfigError `app.sweep_changed` if another job takes the place of a recorded one, `app.sweep_record` while
   * another process runs the sweep
   */
  numberOf(place: number, overrides: readonly string[], continuation?: Continuation): number;
  /**
   * The jobs of a batch that have to run; all of them in a new sweep. In a resumed sweep this is known only while no
   * other process runs it, so the sweep is claimed by then.
   * @throws ConfigError `app.sweep_changed` for jobs that differ from their record, `app.sweep_record` while another
   * process runs the sweep
   */
  due(jobs: readonly SweepJob[]): readonly SweepJob[];
  /**
   * Writes the jobs of a batch into the manifest, before the first of them starts.
   * @param mayFollow whether the sweep may have other jobs after them
   * @throws ConfigError `app.sweep_record` while another process runs the sweep
   */
  admit(jobs: readonly SweepJob[], mayFollow: boolean): void;
  /**
   * The result of a job that was still running, in a worker of another launcher, when this sweep was resumed, and that
   * has ended since: it is no longer due. Undefined for all others.
   */
  endedSince(job: SweepJob): JobResult | undefined;
  /** The result of a job, from its record; undefined before its end. */
  resultOf(job: SweepJob): JobResult | undefined;
  /**
   * Once no more jobs are admitted, marks the recorded jobs that no longer belong to the sweep, and masks texts that
   * have become secrets.
   * @param isWhole whether the sweeper has been asked for all its jobs
   * @returns the completed jobs among those that belonged to it before
   */
  conclude(isWhole: boolean): readonly ManifestJob[];
  /** Records, at the end, that failed jobs do not make the sweep fail. */
  tolerateFailures(): void;
  /** Lets another process drive the sweep, which takes the record up itself. */
  handOver(pid: number): void;
  /** @throws ConfigError `app.sweep_record` if this process has claimed the sweep, and lost the claim */
  refuseIfLost(): void;
  release(): void;
}

export interface RecordRequest {
  /** The facts about the sweep, except its jobs. */
  readonly sweep: Omit<SweepFacts, "holds_secrets">;
  readonly resumption?: Resumption;
  /** Whether the jobs of a resumed sweep are only shown: then nothing is claimed, and no job is admitted. */
  readonly isPlan?: boolean;
  /** Whether its jobs depend on results: a resumed sweep may then have other jobs. */
  readonly isSearch: boolean;
  /** Why the sweeper counts a completed job as failed; undefined if it does not. */
  readonly problemOf?: (result: JobResult) => string | undefined;
  /** How often a failed job is retried. */
  readonly retries: number;
  /** The mode bits of `hydra.sweep.mode`. */
  readonly mode?: number;
  readonly redact?: Redact;
  /** How many secrets `redact` knows. */
  readonly secretsKnown?: () => number;
  /** Called once this process has claimed the sweep, and its first jobs are in the manifest. */
  readonly onAdmitted?: () => void;
}

/** Opens the record of a new or resumed sweep. Writes nothing before jobs are admitted. */
export function openRecord(request: RecordRequest): SweepRecord {
  const {
    isPlan = false,
    isSearch,
    mode,
    onAdmitted,
    problemOf,
    redact,
    resumption,
    retries,
  } = request;
  const { secretsKnown, sweep } = request;
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
    if (claim !== undefined || isPlan) return;
    if (resumption === undefined) makeRecordFolder(folder, mode);
    claim = claimSweep(folder);
    removeDraftsOfSweep(folder);
    clearCancellation(folder);
    // The remains of an earlier sweep in this directory are not part of this one.
    if (resumption === undefined)
      for (const old of [startedFolder(folder), jobsFolder(folder), ...launcherFolders(folder)])
        rmSync(old, { recursive: true, force: true });
  };

  /** The recorded jobs, which are reliable only once the sweep is claimed. */
  const earlierSweep = (): Earlier => {
    enter();
    if (earlier === undefined) {
      const { jobs } = readManifest(folder);
      if (!isPlan) acceptDamaged(folder, jobs, resumption?.acceptDamaged ?? []);
      refuseDamaged(folder, jobs);
      const jobsByNumber = new Map(jobs.map((job) => [job.number, job]));
      earlier = { jobs: jobsByNumber, numbering: createNumbering(jobs), fresh: new Set() };
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
    ...(mode !== undefined && { mode }),
    facts: written.facts,
    numberOf(place, overrides, continuation) {
      if (again === undefined) return place;
      const { fresh, numbering } = earlierSweep();
      const anew = withoutResumption(overrides, continuation);
      const { number, recorded } = numbering.numberOf(place, anew);
      if (recorded !== undefined) return number;
      fresh.add(number);
      const displaced = numbering.displacedAt(place);
      if (displaced === undefined || again.acceptChanges) return number;
      if (!again.mayAskForOthers(written.admitted())) throw changed(displaced);
      return number;
    },
    due(jobs) {
      if (again === undefined) return jobs;
      const { fresh, jobs: earlierJobs } = earlierSweep();
      for (const job of jobs) refuseChanged(job, earlierJobs.get(job.number), again);
      return jobs.filter((job) => {
        // Jobs that a search asks for after changed results were never recorded as missing or failed.
        if ((isSearch || resumption?.changesSpace) && fresh.has(job.number)) return true;
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
    conclude: (isWhole) =>
      written
        .conclude(isWhole)
        .filter(
          ({ left_out, number }) =>
            left_out !== true && isSettled(readJobState(folder, number)?.status),
        ),
    tolerateFailures: written.tolerateFailures,
    handOver: (pid) => claim?.handOver(pid, { awaited: true }),
    refuseIfLost() {
      if (claim !== undefined) refuseIfLost(folder, claim);
    },
    release: () => claim?.release(),
  };
}

/** The recorded sweep. */
interface Earlier {
  readonly jobs: ReadonlyMap<number, ManifestJob>;
  readonly numbering: Numbering;
  /** Numbers of jobs that it did not have. */
  readonly fresh: Set<number>;
}

const manifestJob = (job: SweepJob): ManifestJob => ({
  number: job.number,
  ...(job.id !== undefined && job.id !== String(job.number) && { id: job.id }),
  overrides: job.typed ?? job.composition.overrides.map(({ origin }) => origin.text),
  task_overrides: job.overrides,
  output_dir: job.outputDir,
  fingerprint: jobFingerprint(job),
  ...(job.continuation !== undefined && { continues: job.continuation }),
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

/** The number of a job in a resumed sweep. */
interface JobNumber {
  readonly number: number;
  /** Absent for a job that the sweep did not have. */
  readonly recorded?: ManifestJob;
}

/** Gives the jobs of a resumed sweep their recorded numbers. */
interface Numbering {
  /**
   * Identifies a job by its overrides: the recorded job at the same place, else another one with the same overrides,
   * else a new job with an unused number. So a job keeps its directory and its result when a search asks for other jobs
   * than at first.
   *
   * @param place place of the job in the sweep, from 0
   * @param overrides overrides of the task, without where it continues: the sweep may have moved
   */
  numberOf(place: number, overrides: readonly string[]): JobNumber;
  /** The recorded job at a place, unless it has been given its number again. */
  displacedAt(place: number): ManifestJob | undefined;
  /** The jobs that have not been requested again so far. */
  leftOver(): readonly ManifestJob[];
}

function createNumbering(earlier: readonly ManifestJob[]): Numbering {
  const taken = new Set<number>();
  const byOverrides = new Map<string, ManifestJob[]>();
  for (const job of earlier) {
    const key = keyOf(withoutResumption(job.task_overrides, job.continues));
    byOverrides.set(key, [...(byOverrides.get(key) ?? []), job]);
  }
  let next = earlier.reduce((most, { number }) => Math.max(most, number), -1) + 1;
  return {
    numberOf(place, overrides) {
      const key = keyOf(overrides);
      const same = (byOverrides.get(key) ?? []).filter(({ number }) => !taken.has(number));
      const recorded = same.find((job) => job === earlier[place]) ?? same[0];
      const number = recorded?.number ?? next++;
      taken.add(number);
      return recorded === undefined ? { number } : { number, recorded };
    },
    displacedAt: (place) => {
      const job = earlier[place];
      return job !== undefined && !taken.has(job.number) ? job : undefined;
    },
    leftOver: () => earlier.filter(({ number }) => !taken.has(number)),
  };
}

const keyOf = (overrides: readonly string[]): string => JSON.stringify(overrides);

/**
 * Fingerprint of a job's composed config, interpolations as written: it covers files and overrides. Values of the
 * machine (`${oc.env:...}`) may differ where the job runs.
 */
export const jobFingerprint = (job: PlannedJob & Partial<Pick<SweepJob, "fingerprint">>): string =>
  job.fingerprint ?? configFingerprint(job.tree, job.outputDir, job.continuation?.checkpoint);

/** Fingerprint of a sweep's own composition. */
export const sweepFingerprint = ({ config }: Composition, directory: string): string =>
  configFingerprint(config, directory);

// Which jobs of a recorded sweep run again when it is resumed.

interface JobSelection {
  /** Whether a job's config may differ from the recorded one. */
  readonly acceptChanges: boolean;
  /** Whether a recorded job with the given state is to run. */
  isDue(job: SweepJob, state: JobState | undefined): boolean;
  /**
   * Whether a search may ask for other jobs: results that it used have changed, or are evaluated differently.
   * @param admitted the jobs of this call so far
   */
  mayAskForOthers(admitted: readonly { readonly number: number }[]): boolean;
  /** Records a completed job as failed if the sweeper counts it as such: a completed job never runs again. */
  markUseless(job: SweepJob): void;
}

interface JobSelectionRequest {
  /** The absolute path of the `.sweep` folder. */
  readonly folder: string;
  readonly resumption: Resumption;
  readonly isSearch: boolean;
  /** Why the sweeper counts a completed job as failed; undefined if it does not. */
  readonly problemOf?: (result: JobResult) => string | undefined;
  /** How often a failed job is retried. */
  readonly retries: number;
}

function selectJobs(request: JobSelectionRequest): JobSelection {
  const { folder, isSearch, problemOf, resumption, retries } = request;

  /** Why a completed job is to run again. */
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
      // An earlier launcher ended before it could retry the job.
      const mayStartAgain = timesFailed(state) <= retries;
      return resumption.failed || (resumption.missing && mayStartAgain);
    },
    mayAskForOthers(admitted) {
      if (resumption.changesSpace === true || resumption.changedSpaceInPart === true) return true;
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

/** The result of a job, from its record; undefined before its end. */
function recordedResult(folder: string, job: SweepJob): JobResult | undefined {
  const log = jobLog(folder, job.number);
  const result = resultOf(folder, job, (message) => new ConfigError({ code: "app.job", message }));
  return result && existsSync(log) ? { ...result, log } : result;
}
