import { searchTimeLimitCases } from "./search-time-limit.case.ts";

searchTimeLimitCases("successive_halving", [
  "hydra/sweeper=successive_halving",
  ...["budget_key=steps", "min_budget=1", "max_budget=4", "eta=2", "n_trials=6", "seed=1"].map(
    (setting) => `hydra.sweeper.${setting}`,
  ),
]);
