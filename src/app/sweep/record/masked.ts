import type { ManifestJob, SweepFacts } from "./manifest.ts";

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/** A job without secrets, which do not stay in files; the very same one where it has none. */
export function maskedJob(job: ManifestJob, redact: Redact | undefined): ManifestJob {
  const overrides = maskedTexts(job.overrides, redact);
  const task_overrides = maskedTexts(job.task_overrides, redact);
  return overrides === job.overrides && task_overrides === job.task_overrides
    ? job
    : { ...job, overrides, task_overrides };
}

/** The same of a sweep: without its secrets nothing of it can be started again. */
export function maskedFacts(facts: SweepFacts, redact: Redact | undefined): SweepFacts {
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
