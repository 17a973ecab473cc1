/** Overrides of a job as launchers show them. */
import type { SweepJob } from "../job/plan-job.ts";

/** A job's overrides in one line, without those that configure Hydra itself. */
export const shownOverrides = ({ overrides }: Pick<SweepJob, "overrides">): string =>
  inLine(overrides);

/** The line that Hydra's launchers log. */
export const loggedOverrides = ({ swept }: Pick<SweepJob, "swept">): string => inLine(swept);

const inLine = (overrides: readonly string[]): string =>
  overrides.filter((override) => !override.startsWith("hydra.")).join(" ");
