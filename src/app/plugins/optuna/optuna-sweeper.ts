/** The sweeper of `hydra/sweeper=optuna`. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { optimizingSweeper } from "../../sweep/sweepers/optimizing-sweeper.ts";
import { randomSearch } from "../../sweep/sweepers/random-sweeper.ts";
import { readSpace, searchRequest, seedOf } from "../../sweep/sweepers/search-request.ts";
import { randomSource } from "../../sweep/sweepers/search-space.ts";
import { int, readSweeper, text } from "../../sweep/sweepers/settings.ts";
import type { SweeperDefinition } from "../../sweep/sweepers/sweeper.ts";
import { OPTUNA_SETTINGS, SPACE } from "./settings.ts";

/** The settings of the sampler that are read. */
const SAMPLER_CHOICE = { "sampler._target_": text("the sampler") };
const SAMPLER = { "sampler.seed": int(-Infinity, "the seed") };

/** Alternatives to samplers that do not exist here. */
const INSTEAD: Readonly<Record<string, string>> = {
  "optuna.samplers.GridSampler": "hydra/sweeper=basic runs every combination",
};

const RANDOM = "optuna.samplers.RandomSampler";

/** `hydra/sweeper=optuna` for the samplers that exist here: with `hydra/sweeper/sampler=random`. */
export const optunaSweeper: SweeperDefinition = {
  targets: ["hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper"],
  open(request) {
    const { "sampler._target_": sampler } = readSweeper(SAMPLER_CHOICE, request);
    refuseSampler(sampler ?? "null");
    const settings = readSweeper({ ...OPTUNA_SETTINGS, ...SPACE, ...SAMPLER }, request);
    const random = randomSource(seedOf(settings["sampler.seed"], request));
    return optimizingSweeper({
      name: "optuna",
      search: randomSearch(readSpace(request), random, settings.n_trials),
      ...searchRequest(settings, request),
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
