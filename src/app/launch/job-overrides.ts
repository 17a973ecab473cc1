/** Overrides of a job as launchers show them. */
import type { SweepJob } from "../job/plan-job.ts";

/** Another way to write overrides. */
export type OverridesForm = (overrides: readonly string[]) => readonly string[];

/** A job's overrides in one line, without those that configure Hydra itself. */
export const shownOverrides = (
  { overrides }: Pick<SweepJob, "overrides">,
  form?: OverridesForm,
): string => inLine(overrides, form);

/** The line that Hydra's launchers log. */
export const loggedOverrides = ({ swept }: Pick<SweepJob, "swept">): string => inLine(swept);

const inLine = (overrides: readonly string[], form: OverridesForm = asWritten): string =>
  form(overrides.filter((override) => !override.startsWith("hydra."))).join(" ");

export const asWritten: OverridesForm = (overrides) => overrides;

/**
 * The same overrides with the last names of their keys alone, where these tell the keys apart: `lr=0.1` for
 * `model.optimizer.lr=0.1`. Where there is little room, the values matter more than where the keys are.
 */
export const briefOverrides: OverridesForm = (overrides) => {
  const brief = overrides.map((override) => override.replace(PARENTS, "$1"));
  const keys = brief.map((override) => override.split("=", 1)[0]);
  return new Set(keys).size === keys.length ? brief : overrides;
};

const PARENTS = /^([+~]*)(?:[\w-]+[./])+(?=[\w-]+(?:=|$))/;
