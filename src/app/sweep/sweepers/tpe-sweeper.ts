/** The sweeper of `hydra/sweeper=tpe`. */
import { optimizingSweeper } from "./optimizing-sweeper.ts";
import { earlierPoints, pruningOf, readSpace, searchRequest, seedOf } from "./search-request.ts";
import { readSweeper, TPE_SETTINGS } from "./search-settings.ts";
import { randomSource } from "./search-space.ts";
import type { SweeperDefinition } from "./sweeper.ts";
import { tpeSearch } from "./tpe.ts";

/** `hydra/sweeper=tpe`: trials drawn where good ones are dense, as a Parzen estimator over all dimensions says. */
export const tpeSweeper: SweeperDefinition = {
  targets: ["hydraconf.sweepers.Tpe"],
  open(request) {
    const settings = readSweeper(TPE_SETTINGS, request);
    const space = readSpace(request);
    return optimizingSweeper({
      name: "tpe",
      search: tpeSearch(space, randomSource(seedOf(settings.seed, request)), {
        earlier: earlierPoints(space, request),
        trials: settings.n_trials,
        batch: settings.n_jobs,
        startup: settings.n_startup_trials,
        directions: settings.direction,
        isUnique: settings.unique,
      }),
      ...searchRequest(settings, request),
      ...pruningOf(settings, request),
      unforeseeable: "The jobs after these depend on results.",
    });
  },
};
