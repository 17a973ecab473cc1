/** The jobs of a line that sweeps. */
import { basicSweeper, batchesOf, dimensionsOf } from "../../app/sweep/sweepers/basic-sweeper.ts";
import type { Composition } from "../../engine/compose/compose.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";
import { grouped, plural } from "../../foundation/text/plural.ts";

/** The overrides of one job, as they would be typed. */
export type JobOverrides = readonly string[];

/** A page waits for no more. */
const MOST_JOBS = 10_000;

/**
 * The jobs of a sweep in their order, as Hydra's own sweeper makes them; at least one.
 *
 * @param master the composition of the sweep itself
 * @param overrides of the line, without aliases
 * @throws ConfigError `override.sweep_not_allowed` for no jobs, for too many, and for jobs that another sweeper chooses
 */
export function sweepJobs(
  master: Composition,
  overrides: readonly string[],
  context: ResolveContext,
): readonly JobOverrides[] {
  const target = selectNode(master.root, "hydra.sweeper._target_", context);
  const name = target === undefined ? "" : pyStr(target);
  if (!basicSweeper.targets.includes(name))
    throw refusal(
      `The jobs of this sweep are chosen by ${name} while it runs`,
      "add hydra/sweeper=basic to see all combinations",
    );
  const request = { context, groups: master.repository, master, overrides };
  const most = dimensionsOf(request).reduce((jobs, { length }) => jobs * length, 1);
  if (most > MOST_JOBS)
    throw refusal(
      `The sweep has ${grouped(String(most))} jobs; the page shows sweeps of up to ${plural(MOST_JOBS, "job")}`,
      "sweep over fewer values here",
    );
  const jobs = batchesOf(request).flat();
  if (jobs.length === 0)
    throw refusal("The sweep has no jobs", "look at what each of its overrides selects");
  return jobs;
}

const refusal = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "override.sweep_not_allowed", message, hint });
