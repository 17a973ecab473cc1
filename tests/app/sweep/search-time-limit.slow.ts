import { optunaOrSkip } from "../../optuna.ts";
import { searchTimeLimitCases } from "./search-time-limit.case.ts";

searchTimeLimitCases("successive_halving", [
  "hydra/sweeper=successive_halving",
  ...["budget_key=steps", "min_budget=1", "max_budget=4", "eta=2", "n_trials=6", "seed=1"].map(
    (setting) => `hydra.sweeper.${setting}`,
  ),
]);

const python = optunaOrSkip("searches of Optuna with time limits");

if (python !== null)
  searchTimeLimitCases(
    "optuna",
    [
      "hydra/sweeper=optuna",
      "hydra/sweeper/sampler=random",
      "hydra.sweeper.sampler.seed=1",
      "hydra.sweeper.n_trials=6",
    ],
    { python },
  );
