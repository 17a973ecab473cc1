/** What a sweeper that searches a space takes from its request. */
import { parseOverrides } from "../../../engine/overrides/index.ts";
import type { SettingValues } from "../../job/settings.ts";
import { globOptions, sweepParams } from "./basic-sweeper.ts";
import { readConditions, readExclusion } from "./exclusion.ts";
import type { OptimizingRequest } from "./optimizing-sweeper.ts";
import type { PruningRule } from "./pruner.ts";
import { type PRUNING_SETTINGS, refuseSetting, type SEARCH_SETTINGS } from "./search-settings.ts";
import { type Draw, type SearchSpace, searchSpace } from "./search-space.ts";
import type { SweeperRequest } from "./sweeper.ts";

/** The overrides that span the space: those of `hydra.sweeper.params`, then those of the command line. */
export const readOverrides = ({ context, master, overrides }: SweeperRequest) =>
  parseOverrides([...sweepParams(master.root, context), ...overrides], {
    dialect: context.dialect,
  });

/** The space that all overrides span, with `hydra.sweeper.exclude` and `hydra.sweeper.when`. */
export function readSpace(
  request: SweeperRequest,
  overrides: ReturnType<typeof readOverrides> = readOverrides(request),
): SearchSpace {
  const { context, groups, master } = request;
  return searchSpace(overrides, globOptions(groups), {
    isExcluded: readExclusion(master.root, context, overrides),
    conditions: readConditions(master.root, context, overrides),
  });
}

/** What all searches do with their common settings. */
export const searchRequest = (
  settings: Omit<SettingValues<typeof SEARCH_SETTINGS>, "seed" | "when">,
  { context, directory }: SweeperRequest,
): Omit<OptimizingRequest, "name" | "search"> => ({
  directions: settings.direction,
  batchSize: settings.n_jobs,
  maxFailureRate: settings.max_failure_rate,
  objective: settings.objective,
  directory,
  dialect: context.dialect,
});

/** The trials from before the space changed that lie in the space of a search. */
export const earlierPoints = (
  { pointOf }: SearchSpace,
  { earlier = [] }: SweeperRequest,
): readonly Draw[] => earlier.flatMap((job) => pointOf(job) ?? []);

/**
 * Which jobs a search ends early.
 *
 * @throws ConfigError `value.wrong_type` where nothing says which number is compared
 */
export function pruningOf(
  settings: SettingValues<typeof PRUNING_SETTINGS> &
    Pick<SettingValues<typeof SEARCH_SETTINGS>, "direction" | "objective">,
  request: SweeperRequest,
): Pick<OptimizingRequest, "pruning"> {
  const { pruner: kind } = settings;
  if (kind === undefined) return {};
  return {
    pruning: {
      ...{ kind, ...prunedMetric(settings, request), minStep: settings.pruner_min_step },
      ...{ startupJobs: settings.pruner_startup_jobs, eta: settings.pruner_eta },
    },
  };
}

/**
 * The number by which a search judges jobs that run.
 *
 * @throws ConfigError `value.wrong_type` where nothing says which one that is
 */
export function prunedMetric(
  settings: Pick<SettingValues<typeof PRUNING_SETTINGS>, "pruner_metric"> &
    Pick<SettingValues<typeof SEARCH_SETTINGS>, "direction" | "objective">,
  request: SweeperRequest,
): Pick<PruningRule, "direction" | "metric"> {
  const { direction: directions, objective } = settings;
  const [direction = "minimize", ...others] = directions;
  if (others.length > 0)
    refuseSetting(request, "pruner")("compares one number, and the search has several directions");
  const metric =
    settings.pruner_metric ??
    (typeof objective === "string"
      ? objective
      : refuseSetting(request, "pruner_metric")("is missing", {
          hint: "name the key of a number in the metrics that jobs report: loss",
        }));
  return { direction, metric };
}

/**
 * The seed as text. By default it is the directory of the sweep, so that another sweep draws other numbers, and the
 * same sweep, resumed, the same ones. A search whose space has changed draws others than before: the same ones could be
 * jobs that it has had.
 */
export function seedOf(seed: number | undefined, { directory, earlier }: SweeperRequest): string {
  const text = seed === undefined ? directory : String(seed);
  return earlier === undefined ? text : `${text}\n${JSON.stringify(earlier)}`;
}
