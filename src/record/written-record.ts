import { removeUnlistedFiles } from "./cleanup.ts";
import { createJobList, type JobList } from "./job-list.ts";
import { type ManifestJob, type SweepFacts, writeManifest } from "./manifest.ts";

/** The manifest of a sweep and the list of its jobs, as the process writes them that has claimed the sweep: without secrets. */
export interface WrittenRecord {
  /** Whether there are secrets is known once jobs are admitted. */
  facts(): SweepFacts;
  /** The jobs as they are written, in the order in which they were asked for. */
  admitted(): readonly ManifestJob[];
  /**
   * Writes the jobs of a batch.
   * @param mayFollow whether the sweep may have other jobs after them
   */
  admit(jobs: readonly ManifestJob[], mayFollow: boolean): void;
  /**
   * Masks what has turned out to be a secret since it was written, and, once the sweeper was asked for all its jobs, notes
   * that there are no more and which of the earlier ones are none of the sweep any more.
   */
  conclude(isWhole: boolean): void;
  tolerateFailures(): void;
}

export interface WritingRequest {
  readonly folder: string;
  readonly sweep: Omit<SweepFacts, "holds_secrets">;
  /** Jobs of an earlier record that have not been requested so far: a sweep that stops early must not forget them. */
  readonly leftOver: () => readonly ManifestJob[];
  readonly redact?: Redact;
  /** Of how many secrets `redact` knows. */
  readonly secretsKnown?: () => number;
}

/** Nothing is written before jobs are admitted. */
export function createWrittenRecord(request: WritingRequest): WrittenRecord {
  const { folder, leftOver, redact, secretsKnown = () => 0, sweep } = request;
  let facts: SweepFacts = { ...sweep, holds_secrets: false };
  let admitted: ManifestJob[] = [];
  let list: JobList | undefined;
  /** The facts as they were written. */
  let shown: SweepFacts = facts;
  /** Secrets that were known when what is written was last looked at. */
  let known = 0;

  const mask = (job: ManifestJob): ManifestJob => maskedJob(job, redact);
  // What was no secret when it was written may have become one.
  const hides = (jobs: readonly ManifestJob[]): boolean => jobs.some((job) => mask(job) !== job);

  const hidesWritten = (): boolean => hides(admitted) || maskedFacts(shown, redact) !== shown;

  /** Not for each batch: that would be all jobs for each of them. */
  const hasLearned = (): boolean => {
    const before = known;
    known = secretsKnown();
    return known !== before && hidesWritten();
  };

  const writeFacts = (into: JobList): void => {
    shown = maskedFacts(facts, redact);
    writeManifest(folder, shown, into.name);
  };

  /** After the jobs: who is killed in between has recorded too little of the sweep, and not that there is no more. */
  const noteMore = (into: JobList, mayFollow: boolean): void => {
    if (facts.more_to_come === mayFollow) return;
    facts = { ...facts, more_to_come: mayFollow };
    writeFacts(into);
  };

  /** Writes all anew, into a list that is this process's to add to. */
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
      // To one that a full disk has left without them nothing is added.
      list = undefined;
      if (open === undefined) return writeAll(mayFollow);
      open.add(more);
      list = open;
      noteMore(open, mayFollow);
    },
    conclude(isWhole) {
      if (list === undefined) return;
      if (hidesWritten()) writeAll(facts.more_to_come === true);
      const left = isWhole ? leftOver() : [];
      if (left.length > 0) list.add(left.map((job) => ({ ...mask(job), left_out: true })));
      if (isWhole) noteMore(list, false);
    },
    tolerateFailures() {
      facts = { ...facts, tolerates_failures: true };
      if (list !== undefined) writeFacts(list);
    },
  };
}

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/** A job without secrets, which do not stay in files; the very same one where it has none. */
function maskedJob(job: ManifestJob, redact: Redact | undefined): ManifestJob {
  const overrides = maskedTexts(job.overrides, redact);
  const task_overrides = maskedTexts(job.task_overrides, redact);
  return overrides === job.overrides && task_overrides === job.task_overrides
    ? job
    : { ...job, overrides, task_overrides };
}

/** The same of a sweep: without its secrets nothing of it can be started again. */
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
  return shown.every((text, at) => text === texts[at]) ? texts : shown;
}
