/** The settings of Hydra's optuna sweeper. */
import { ANY, field, mapOf, optional } from "../../../engine/compose/hydra/hydra-schema.ts";
import type { Refuse, Setting } from "../../job/settings.ts";
import {
  PRUNING_SETTINGS,
  requiredInt,
  SEARCH_SETTINGS,
  text,
} from "../../sweep/sweepers/search-settings.ts";

/** The class that `hydra.sweeper._target_` names. */
export const OPTUNA_SWEEPER = "hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper";

/** A setting that the study reads as the config has it. */
const forStudy = (declared: Setting["field"], help: string): Setting<void> => ({
  field: declared,
  help,
  read: () => undefined,
});

export const OPTUNA_SETTINGS = {
  direction: SEARCH_SETTINGS.direction,
  storage: forStudy(
    field(ANY, null),
    "where the study is kept: the URL of a database, or a storage",
  ),
  study_name: text("the name of the study in the storage; one that is there is continued"),
  n_trials: requiredInt(20n, 1, "how many jobs there are at most"),
  n_jobs: requiredInt(2n, 1, "jobs that are asked for before any of them is told"),
  max_failure_rate: SEARCH_SETTINGS.max_failure_rate,
  custom_search_space: text("a Python function that extends the space, by its dotted path"),
  objective: SEARCH_SETTINGS.objective,
  pruner: {
    field: field(ANY, null),
    help: "one of `optuna.pruners`, as `_target_` with its arguments, which ends jobs that are not worth going on; null: none",
    read: (value: unknown, refuse: Refuse): boolean =>
      value === undefined || value === null
        ? false
        : isNamed(value) ||
          refuse(`must name one of Optuna's pruners, not '${String(value)}'`, {
            hint: "+hydra.sweeper.pruner._target_=optuna.pruners.MedianPruner",
          }),
  },
  pruner_metric: PRUNING_SETTINGS.pruner_metric,
};

const isNamed = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "_target_" in value;

/** A setting before Hydra 1.4. */
export const SPACE = {
  search_space: forStudy(
    field(optional(mapOf(ANY)), null),
    "deprecated: an older form of `params`",
  ),
};
