import { searchTimeLimitCases } from "./search-time-limit.case.ts";

searchTimeLimitCases("random", [
  "hydra/sweeper=random",
  "hydra.sweeper.n_trials=6",
  "hydra.sweeper.seed=1",
]);
