/** The sweeper of `hydra/sweeper=optuna`. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { optimizingSweeper } from "../../sweep/sweepers/optimizing-sweeper.ts";
import { randomSearch } from "../../sweep/sweepers/random-sweeper.ts";
import { randomSource } from "../../sweep/sweepers/search-space.ts";
import { readCommon, readSettings, readSpace, seedOf } from "../../sweep/sweepers/settings.ts";
import type { SweeperDefinition } from "../../sweep/sweepers/sweeper.ts";

/** Alternatives to samplers that do not exist here. */
const INSTEAD: Readonly<Record<string, string>> = {
  "optuna.samplers.GridSampler": "hydra/sweeper=basic runs every combination",
};

const RANDOM = "optuna.samplers.RandomSampler";

/** Settings of Hydra's optuna sweeper that only optuna itself supports: the reason, and the alternative. */
const ONLY_OPTUNA: Readonly<Record<string, { readonly problem: string; readonly hint: string }>> = {
  storage: {
    problem: "is only for Optuna: hydraconf resumes a sweep from its own directory",
    hint: "set it to null; --resume DIR continues a sweep",
  },
  search_space: {
    problem: "is deprecated: write the sweeps in hydra.sweeper.params",
    hint: "instead of {type: float, low: 0, high: 1} write interval(0,1); for int with step range(0,9,2), for log: true tag(log,interval(1e-5,1e-1)), for categorical choice(a,b)",
  },
  custom_search_space: {
    problem:
      "names a Python function, which hydraconf cannot run: write the search space as sweeps",
    hint: "set it to null; for trial.suggest_float('lr', 1e-5, 1e-1, log=True) write 'lr=tag(log,interval(1e-5,1e-1))', for suggest_int 'n=range(2,9)', for suggest_categorical 'opt=choice(sgd,adam)', and hydra.sweeper.exclude for combinations to leave out",
  },
};

/** `hydra/sweeper=optuna` for the samplers that exist here: with `hydra/sweeper/sampler=random`. */
export const optunaSweeper: SweeperDefinition = {
  targets: ["hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper"],
  open(request) {
    const settings = readSettings(request);
    refuseSampler(settings.text("sampler._target_") ?? "null");
    for (const [name, { problem, hint }] of Object.entries(ONLY_OPTUNA))
      if (settings.text(name) !== undefined) settings.refuse(name, problem, hint);
    const random = randomSource(seedOf(settings.int("sampler.seed", -Infinity), request));
    const trials = settings.int("n_trials", 1) ?? settings.refuse("n_trials", "is missing");
    return optimizingSweeper({
      name: "optuna",
      search: randomSearch(readSpace(request), random, trials),
      ...readCommon(settings, request),
    });
  },
};

function refuseSampler(target: string): void {
  if (target === RANDOM) return;
  const instead =
    INSTEAD[target] ??
    "use hydra/sweeper/sampler=random to draw at random, or hydra/sweeper=successive_halving to spend less on bad trials";
  throw new ConfigError({
    code: "app.unsupported",
    message: `hydra.sweeper.sampler: '${target}' cannot be used here`,
    key: "hydra.sweeper.sampler._target_",
    available: [RANDOM],
    hint: instead,
  });
}
