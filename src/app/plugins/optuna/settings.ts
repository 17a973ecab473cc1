/** The settings of Hydra's optuna sweeper. */
import {
  ANY,
  type Field,
  field,
  INT,
  mapOf,
  optional,
  STR,
} from "../../../engine/compose/hydra/schema.ts";
import type { Setting } from "../../job/settings.ts";
import { requiredInt, SEARCH_SETTINGS } from "../../sweep/sweepers/settings.ts";

/** A setting that only optuna itself supports. */
const refused = (declared: Field, problem: string, hint: string): Setting<void> => ({
  field: declared,
  help: "refused",
  read(value, refuse) {
    if (value !== undefined && value !== null) refuse(problem, { hint });
  },
});

export const OPTUNA_SETTINGS = {
  direction: SEARCH_SETTINGS.direction,
  storage: refused(
    field(ANY, null),
    "is only for Optuna: hydraconf resumes a sweep from its own directory",
    "set it to null; --resume DIR continues a sweep",
  ),
  study_name: {
    field: field(optional(STR), null),
    help: "for optuna only",
    read: () => undefined,
  },
  n_trials: requiredInt(20n, 1, "how many jobs are drawn"),
  n_jobs: { ...SEARCH_SETTINGS.n_jobs, field: field(INT, 2n) },
  max_failure_rate: SEARCH_SETTINGS.max_failure_rate,
  custom_search_space: refused(
    field(optional(STR), null),
    "names a Python function, which hydraconf cannot run: write the search space as sweeps",
    "set it to null; for trial.suggest_float('lr', 1e-5, 1e-1, log=True) write 'lr=tag(log,interval(1e-5,1e-1))', for suggest_int 'n=range(2,9)', for suggest_categorical 'opt=choice(sgd,adam)', and hydra.sweeper.exclude for combinations to leave out",
  ),
  objective: SEARCH_SETTINGS.objective,
};

/** A setting before Hydra 1.4. */
export const SPACE = {
  search_space: refused(
    field(optional(mapOf(ANY)), null),
    "is deprecated: write the sweeps in hydra.sweeper.params",
    "instead of {type: float, low: 0, high: 1} write interval(0,1); for int with step range(0,9,2), for log: true tag(log,interval(1e-5,1e-1)), for categorical choice(a,b)",
  ),
};
