/** Writes the manifest and the job list, without secrets. */
import { removeUnlistedFiles } from "./cleanup.ts";
import { createJobList, type JobList } from "./job-list.ts";
import { type ManifestJob, type SweepFacts, writeManifest } from "./manifest.ts";

/** The manifest of a sweep and its job list, as the process that has claimed the sweep writes them, without secrets. */
export interface WrittenRecord {
  /** The facts. Whether there are secrets is known once jobs are admitted. */
  facts(): SweepFacts;
  /** The jobs as written, in the order of requests. */
  admitted(): readonly ManifestJob[];
  /**
   * Writes the jobs of a batch.
   * @param mayFollow whether the sweep may have other jobs after them
   */
  admit(jobs: readonly ManifestJob[], mayFollow: boolean): void;
  /**
   * Masks texts that have become secrets. Once the sweeper has been asked for all its jobs, records that there are no
   * more, and which of the earlier jobs no longer belong to the sweep.
   *
   * @returns those jobs
   */
  conclude(isWhole: boolean): readonly ManifestJob[];
  tolerateFailures(): void;
}

export interface WritingRequest {
  readonly folder: string;
  readonly sweep: Omit<SweepFacts, "holds_secrets">;
  /** Jobs of an earlier record that have not been requested yet: a sweep that stops early must not lose them. */
  readonly leftOver: () => readonly ManifestJob[];
  readonly redact?: Redact;
  /** How many secrets `redact` knows. */
  readonly secretsKnown?: () => number;
}

/** Writes nothing before jobs are admitted. */
export function createWrittenRecord(request: WritingRequest): WrittenRecord {
  const { folder, leftOver, redact, secretsKnown = () => 0, sweep } = request;
  let facts: SweepFacts = { ...sweep, holds_secrets: false };
  let admitted: ManifestJob[] = [];
  let list: JobList | undefined;
  /** The facts as written. */
  let shown: SweepFacts = facts;
  /** The number of secrets at the last check of the written texts. */
  let secretsBefore = 0;

  const mask = (job: ManifestJob): ManifestJob => maskedJob(job, redact);
  // A text may have become a secret after it was written.
  const hides = (jobs: readonly ManifestJob[]): boolean => jobs.some((job) => mask(job) !== job);

  const hidesWritten = (): boolean => hides(admitted) || maskedFacts(shown, redact) !== shown;

  /** Avoids a check of all jobs for each batch. */
  const hasLearned = (): boolean => {
    const previous = secretsBefore;
    secretsBefore = secretsKnown();
    return secretsBefore !== previous && hidesWritten();
  };

  const writeFacts = (into: JobList): void => {
    shown = maskedFacts(facts, redact);
    writeManifest(folder, shown, into.name);
  };

  /** Written after the jobs: a process killed in between has recorded too few jobs, but not that they are all. */
  const noteMore = (into: JobList, mayFollow: boolean): void => {
    if (facts.more_to_come === mayFollow) return;
    facts = { ...facts, more_to_come: mayFollow };
    writeFacts(into);
  };

  /** Rewrites everything, into a new list that this process may append to. */
  const writeAll = (mayFollow: boolean): void => {
    const later = leftOver();
    const isHiding = maskedFacts(facts, redact) !== facts || hides(admitted) || hides(later);
    const holds_secrets = facts.holds_secrets || isHiding;
    facts = { ...facts, holds_secrets, more_to_come: mayFollow };
    admitted = admitted.map(mask);
    list = createJobList(folder, admitted, later.map(mask));
    writeFacts(list);
    removeUnlistedFiles(folder, list.name);
  };

  return {
    facts: () => facts,
    admitted: () => admitted,
    admit(jobs, mayFollow) {
      const isHiding = hides(jobs);
      const isNewlyHiding = (isHiding && !facts.holds_secrets) || hasLearned();
      if (isHiding) facts = { ...facts, holds_secrets: true };
      const more = jobs.map(mask);
      for (const job of more) admitted.push(job);
      const open = isNewlyHiding ? undefined : list;
      // If a full disk makes this fail, the list lacks these jobs, and nothing more is added to it.
      list = undefined;
      if (open === undefined) return writeAll(mayFollow);
      open.add(more);
      list = open;
      noteMore(open, mayFollow);
    },
    conclude(isWhole) {
      if (list === undefined) return [];
      if (hidesWritten()) writeAll(facts.more_to_come === true);
      const left = isWhole ? leftOver() : [];
      if (left.length > 0) list.add(left.map((job) => ({ ...mask(job), left_out: true })));
      if (isWhole) noteMore(list, false);
      return left;
    },
    tolerateFailures() {
      facts = { ...facts, tolerates_failures: true };
      if (list !== undefined) writeFacts(list);
    },
  };
}

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/** A job without secrets, which must not stay in files; the same object if it has none. */
function maskedJob(job: ManifestJob, redact: Redact | undefined): ManifestJob {
  const overrides = maskedTexts(job.overrides, redact);
  const task_overrides = maskedTexts(job.task_overrides, redact);
  return overrides === job.overrides && task_overrides === job.task_overrides
    ? job
    : { ...job, overrides, task_overrides };
}

/** The facts without secrets; a sweep with secrets cannot be started again from its record. */
function maskedFacts(facts: SweepFacts, redact: Redact | undefined): SweepFacts {
  const argv = maskedTexts(facts.program.argv, redact);
  const overrides = maskedTexts(facts.overrides, redact);
  return argv === facts.program.argv && overrides === facts.overrides
    ? facts
    : { ...facts, program: { ...facts.program, argv }, overrides };
}

function maskedTexts(texts: readonly string[], redact: Redact | undefined): readonly string[] {
  if (redact === undefined) return texts;
  const shown = texts.map(redact);
  return shown.every((text, index) => text === texts[index]) ? texts : shown;
}
